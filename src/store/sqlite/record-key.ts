import { createHmac, hash, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { shellWord } from "../../lib/shell-word.ts"
import { StoreUnavailable } from "../../core/ending.ts"

/** The key of the audit log's seals, prepared for HMAC. `text` is the 64 characters of the key file. */
export interface RecordKey {
  readonly text: string
  readonly inner: string
  readonly outer: Buffer
}

/**
 * Reads the key. It is in a file beside the database that only its owner can read. It is created where nothing has been
 * sealed yet; a missing one is refused elsewhere, because a new key would make the whole log look tampered with.
 */
export function loadRecordKey(dataDir: string, hasLog: () => boolean): RecordKey {
  const file = join(dataDir, "record.key")
  const found = read(file)
  // Read again: another process may have created key and log in between.
  if (found === undefined && hasLog() && read(file) === undefined) throw missingKey(dataDir, file)
  const text = found ?? create(file)
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new StoreUnavailable(
      `The key file ${file} is damaged. Restore it from a backup; without it the audit log cannot be verified.`,
    )
  }
  return recordKeyFromText(text)
}

function missingKey(dataDir: string, file: string): StoreUnavailable {
  return new StoreUnavailable(
    `The key file ${file} is missing, and the folder has an audit log that was sealed with it. Without it nobody can tell whether the log was changed. Copy record.key back from a backup. If there is none, keep the folder as it is and begin a new one: mv ${shellWord(dataDir)} ${shellWord(`${dataDir}.old`)}`,
  )
}

export function recordKeyFromText(text: string): RecordKey {
  const bytes = Buffer.from(text, "latin1")
  const inner = Buffer.from(bytes.map((byte) => byte ^ 0x36)).toString("latin1")
  const outer = Buffer.alloc(64 + 32)
  for (const [index, byte] of bytes.entries()) outer[index] = byte ^ 0x5c
  return { text, inner, outer }
}

/**
 * HMAC-SHA256 (`openssl dgst -sha256 -hmac <key text>`), built from two hashes, because that takes half the time of an
 * Hmac object and every call is sealed twice. The key text is one block long and stays ASCII under the pad.
 */
export function hmac(key: RecordKey, text: string): string {
  return hmacOfPadded(key, key.inner + text)
}

/** The same for a text, or its bytes, that already begins with the key's inner block. */
export function hmacOfPadded({ outer }: RecordKey, padded: string | Buffer): string {
  outer.write(hash("sha256", padded, "binary"), 64, "latin1")
  return hash("sha256", outer, "base64url")
}

/** A key of 32 bytes for one purpose. Every process with this store gets the same one. */
export function sealKey({ text }: RecordKey, purpose: string): Buffer {
  return createHmac("sha256", text).update(`seal:${purpose}`).digest()
}

function read(file: string): string | undefined {
  try {
    const found = statSync(file)
    if (!found.isFile())
      throw new StoreUnavailable(`The key file ${file} is not a regular file. Restore it from a backup.`)
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
      throw new StoreUnavailable(`The key file ${file} can be read by others. Run: chmod 600 ${file}`)
    }
    return readFileSync(file, "utf8").trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Writes the key under another name, then links it, so that two processes that start at once get the same key. */
function create(file: string): string {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`
  const descriptor = openSync(temporary, "wx", 0o600)
  try {
    writeSync(descriptor, `${randomBytes(32).toString("hex")}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  try {
    linkSync(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    unlinkSync(temporary)
  }
  return readFileSync(file, "utf8").trim()
}
