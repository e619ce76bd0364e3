import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

const ivLength = 12
const tagLength = 16

/** Encrypts a value to text that only holders of the key can read or create. */
export function seal(key: Buffer, value: unknown): string {
  const iv = randomBytes(ivLength)
  const cipher = createCipheriv("aes-256-gcm", key, iv)
  const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")
}

/** Decrypts text from `seal`; undefined for anything else. */
export function unseal(key: Buffer, text: string): unknown {
  const bytes = Buffer.from(text, "base64url")
  // Decoding base64url skips invalid characters, so the text is compared with what we would write.
  if (bytes.length <= ivLength + tagLength || bytes.toString("base64url") !== text) return undefined
  const opener = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivLength), { authTagLength: tagLength })
  opener.setAuthTag(bytes.subarray(ivLength, ivLength + tagLength))
  try {
    const body = Buffer.concat([opener.update(bytes.subarray(ivLength + tagLength)), opener.final()])
    return JSON.parse(body.toString("utf8")) as unknown
  } catch {
    return undefined
  }
}
