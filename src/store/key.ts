import { createHmac, hash, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { StoreUnavailable } from "../model/ending.ts"

/** The key of the record's seals, ready for use. Its text is the 64 characters of the key file. */
export interface RecordKey {
  readonly text: string
  readonly inner: string
  readonly outer: Buffer
}

/** Reads or makes the key. It lies beside the store, never in it, readable by its owner alone. */
export function recordKey(dataDir: string): RecordKey {
  const file = join(dataDir, "record.key")
  const text = read(file) ?? create(file)
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new StoreUnavailable(
      `The key file ${file} is damaged. Restore it from a backup; without it the record cannot be verified.`,
    )
  }
  return keyOf(text)
}

export function keyOf(text: string): RecordKey {
  const bytes = Buffer.from(text, "latin1")
  const inner = Buffer.from(bytes.map((byte) => byte ^ 0x36)).toString("latin1")
  const outer = Buffer.alloc(64 + 32)
  for (const [index, byte] of bytes.entries()) outer[index] = byte ^ 0x5c
  return { text, inner, outer }
}

/**
 * HMAC-SHA256 (`openssl dgst -sha256 -hmac <key text>`), out of two hashes because that costs half of what an Hmac
 * object does, and a record is sealed twice a call. The key text is one block long and stays ASCII under the pad.
 */
export function hmac({ inner, outer }: RecordKey, text: string): string {
  outer.write(hash("sha256", inner + text, "binary"), 64, "latin1")
  return hash("sha256", outer, "base64url")
}

/** 32 bytes for one purpose, the same in every process of this store. */
export function sealKey({ text }: RecordKey, purpose: string): Buffer {
  return createHmac("sha256", text).update(`seal:${purpose}`).digest()
}

function read(file: string): string | undefined {
  try {
    const found = statSync(file)
    if (!found.isFile()) throw new StoreUnavailable(`The key file ${file} is no plain file. Restore it from a backup.`)
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
      throw new StoreUnavailable(`The key file ${file} can be read by others. Run: chmod 600 ${file}`)
    }
    return readFileSync(file, "utf8").trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

/** Made whole under another name first, then linked: two processes that start at once end up with one key. */
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
