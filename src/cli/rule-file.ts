import { resolve } from "node:path"
import type { CliContext } from "./context.ts"
import { UsageError } from "./usage.ts"

/** The rules in a file: the file is a list of rules, or a configuration with the key `rules`. */
export async function readRules(context: CliContext, file: string): Promise<readonly unknown[]> {
  const content = await readRule(context, file)
  const list = typeof content === "object" && content !== null && "rules" in content ? content.rules : content
  if (Array.isArray(list)) return list
  throw new UsageError(`${file} is not a list of rules. Write one rule per entry: - { deny: …, because: … }`)
}

/** The content of a YAML or JSON file with one rule, not yet checked. */
export async function readRule({ io }: CliContext, file: string): Promise<unknown> {
  const { readDataFile } = await import("../config/read-data-file.ts")
  return readDataFile(resolve(io.cwd, file))
}
