import { resolve } from "node:path"
import type { Session } from "./house.ts"
import { UsageError } from "./usage.ts"

/** A file that is a list of rules, or a configuration that has one. */
export async function readRules({ house, io }: Session, file: string): Promise<readonly unknown[]> {
  const held = await house.readDataFile(resolve(io.cwd, file))
  const list = typeof held === "object" && held !== null && "rules" in held ? held.rules : held
  if (Array.isArray(list)) return list
  throw new UsageError(`${file} is not a list of rules. Write one rule an entry: - { deny: …, because: … }`)
}
