import { createHash, randomBytes } from "node:crypto"

/** A secret that proves who a person is. It is shown once; only its hash is stored. */
export function newPersonToken(): { token: string; tokenHash: string } {
  const token = `qmp_${randomBytes(32).toString("base64url")}`
  return { token, tokenHash: hashToken(token) }
}

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex")
}
