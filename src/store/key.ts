import { createHmac, createSecretKey, randomBytes, type KeyObject } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { StoreUnavailable } from "../model/ending.ts"

/** The key of the record's links. It lies beside the store, never in it, readable by its owner alone. */
export function recordKey(dataDir: string): KeyObject {
  const file = join(dataDir, "record.key")
  const text = read(file) ?? create(file)
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new StoreUnavailable(`The key file ${file} is damaged. Restore it from a backup; without it the record cannot be verified.`)
  }
  return createSecretKey(Buffer.from(text, "hex"))
}

export function hmac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url")
}

function read(file: string): string | undefined {
  try {
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
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
