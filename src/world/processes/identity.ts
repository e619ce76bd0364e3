import { constants, lstatSync } from "node:fs"
import { onDisk } from "./byte-names.ts"

/** What a file, folder or link is known by, whatever its name becomes. Links are not followed. */
export function ownIdentity(path: string): string {
  const facts = lstatSync(onDisk(path), { bigint: true, throwIfNoEntry: false })
  // A number may be given again where nothing tells when it was; not by chance to another kind too.
  const kind = facts === undefined ? "" : facts.mode & fileKind
  return `${facts?.dev}:${facts?.ino}:${facts?.birthtimeNs}:${kind}`
}

const fileKind = BigInt(constants.S_IFMT)
