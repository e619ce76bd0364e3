import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** A secret that proves who a person is. It is shown once; only its hash is stored. */
export function newPersonToken(): { token: string; tokenHash: string } {
  const token = `qmp_${randomBytes(32).toString("base64url")}`
  return { token, tokenHash: hashToken(token) }
}

export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex")
}

/** The holder of this token. It compares with every holder, so that the time it takes reveals nothing. */
export function findTokenHolder<T extends { tokenHash?: string | undefined }>(
  token: string,
  holders: readonly T[],
): T | undefined {
  const wanted = Buffer.from(hashToken(token), "hex")
  let found: T | undefined
  for (const holder of holders) {
    const hash = Buffer.from(holder.tokenHash ?? "", "hex")
    if (hash.length === wanted.length && timingSafeEqual(hash, wanted)) found = holder
  }
  return found
}
