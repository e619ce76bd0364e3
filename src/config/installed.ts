import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { userConfigFolder } from "./find.ts"
import { isObject } from "../lib/is-object.ts"

/** The former text of a client's file, from before the first of our changes, and a digest of it after the last. */
interface Installed {
  before: string | null
  after: string
}

/** Remembers a change that was written, so that it can be taken back byte for byte. */
export function rememberInstalled(file: string, before: string | undefined, after: string, home: string): void {
  const known = readInstalled(file, home)
  const first = known?.after === digest(before ?? "") ? known.before : (before ?? null)
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 })
  const record: Installed = { before: first, after: digest(after) }
  writeFileSync(recordOf(file, home), JSON.stringify(record), { mode: 0o600 })
}

/** The text before our changes; null where there was no file. Undefined when somebody changed it since. */
export function beforeInstalled(file: string, now: string | undefined, home: string): string | null | undefined {
  const known = readInstalled(file, home)
  return known !== undefined && known.after === digest(now ?? "") ? known.before : undefined
}

export function forgetInstalled(file: string, home: string): void {
  rmSync(recordOf(file, home), { force: true })
}

function readInstalled(file: string, home: string): Installed | undefined {
  const record = recordOf(file, home)
  if (!existsSync(record)) return undefined
  try {
    const found = JSON.parse(readFileSync(record, "utf8")) as unknown
    return isObject(found) && typeof found["after"] === "string" ? (found as unknown as Installed) : undefined
  } catch {
    return undefined
  }
}

const folderOf = (home: string) => join(userConfigFolder(home), "installed")
const recordOf = (file: string, home: string) => join(folderOf(home), `${digest(file)}.json`)

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
