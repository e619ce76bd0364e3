import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** A secret that proves who speaks. It is shown once; only its hash is kept. */
export function newToken(): { token: string; tokenHash: string } {
  const token = `qmp_${randomBytes(32).toString("base64url")}`
  return { token, tokenHash: hashOfToken(token) }
}

export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex")
}

/** Whose token it is. Looks at everyone, so that the time it takes tells nothing. */
export function holderOf<T extends { tokenHash?: string | undefined }>(
  token: string,
  holders: readonly T[],
): T | undefined {
  const given = Buffer.from(hashOfToken(token), "hex")
  let found: T | undefined
  for (const holder of holders) {
    const hash = Buffer.from(holder.tokenHash ?? "", "hex")
    if (hash.length === given.length && timingSafeEqual(hash, given)) found = holder
  }
  return found
}
