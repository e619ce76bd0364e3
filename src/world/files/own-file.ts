import { randomBytes } from "node:crypto"
import { closeSync, constants, openSync, renameSync, unlinkSync, writeSync } from "node:fs"
import { readPlain } from "../../policy/plain-file.ts"
import type { Folder } from "./folder.ts"

/** Larger than anything that is kept so. */
const most = 256 * 1024
const noFollow = constants.O_NOFOLLOW ?? 0

/**
 * The text of a small file in a folder of ours. Undefined when there is none, and when it is not what we write: a link, a
 * pipe, a folder, or a large file.
 */
export function readOwn(folder: Folder, name: string): string | undefined {
  try {
    return readPlain(folder.at(name), { most })
  } catch {
    return undefined
  }
}

/** Writes a small file for its owner alone, whole or not at all; whatever had the name is replaced and never followed. */
export function replaceOwn(folder: Folder, name: string, text: string): void {
  const temporary = `.${name}.${randomBytes(6).toString("hex")}.tmp`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow
  const descriptor = openSync(folder.at(temporary), flags, 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done)
    renameSync(folder.at(temporary), folder.at(name))
  } catch (error) {
    unlinkSync(folder.at(temporary))
    throw error
  } finally {
    closeSync(descriptor)
  }
}
