import { randomBytes } from "node:crypto"
import { closeSync, constants, openSync, renameSync, unlinkSync, writeSync } from "node:fs"
import { readRegularFile } from "../../guards/read-regular-file.ts"
import type { FolderHandle } from "./folder-handle.ts"

/** More than any of these files needs. */
const maxBytes = 256 * 1024
const noFollow = constants.O_NOFOLLOW ?? 0

/**
 * The text of a small file in the data folder. Undefined when it is missing or not a file we wrote: a link, a pipe, a
 * folder, or too large.
 */
export function readDataFile(folder: FolderHandle, name: string): string | undefined {
  try {
    return readRegularFile(folder.at(name), { maxBytes })
  } catch {
    return undefined
  }
}

/** Writes a small file for its owner alone, atomically. Replaces what had the name and never follows a link. */
export function replaceDataFile(folder: FolderHandle, name: string, text: string): void {
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
