import { randomUUID } from "node:crypto"
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname } from "node:path"
import { ConfigError } from "./config-error.ts"

/** Atomically writes a file that only its owner can read, in a folder that only its owner can read. */
export function writePrivateFile(file: string, text: string): void {
  writeWhole(file, text, (whole) => renameSync(whole, file))
}

/** The same for a file that must not exist yet. Returns false if it exists, also if another process was faster. */
export function createPrivateFile(file: string, text: string): boolean {
  return writeWhole(file, text, (whole) => {
    try {
      linkSync(whole, file)
      return true
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false
      throw error
    }
  })
}

/** Reads a private file; undefined if there is none. A file that other users can read is refused. */
export function readPrivateFile(file: string): string | undefined {
  let descriptor: number | undefined
  try {
    // Non-blocking, so that a pipe in its place cannot make us wait.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    const problem = problemWith(descriptor, file)
    if (problem !== undefined) throw refused(file, problem)
    return readFileSync(descriptor, "utf8")
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    if (code === "ELOOP") throw refused(file, "This is a link and must be a regular file. Delete it.")
    throw refused(file, `This file cannot be read (${code}). Correct its permissions, or delete it.`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const maxBytes = 4096

function problemWith(descriptor: number, file: string): string | undefined {
  const { uid, mode, size, isFile } = statOf(descriptor)
  if (!isFile) return "This is not a file. Delete it."
  if (size > maxBytes)
    return `This file is larger than ${maxBytes} bytes, so Quartermaster did not write it. Delete it.`
  if (process.getuid === undefined) return undefined
  if (uid !== process.getuid()) return "This file belongs to another user, so it proves nothing. Delete it."
  if ((mode & 0o077) !== 0) return `Other users can read this file. Run: chmod 600 ${file}`
  return undefined
}

function statOf(descriptor: number): { uid: number; mode: number; size: number; isFile: boolean } {
  const found = fstatSync(descriptor)
  return { uid: found.uid, mode: found.mode, size: found.size, isFile: found.isFile() }
}

function writeWhole<T>(file: string, text: string, put: (whole: string) => T): T {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  chmodSync(dirname(file), 0o700)
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true })
    return put(temporary)
  } finally {
    rmSync(temporary, { force: true })
  }
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
