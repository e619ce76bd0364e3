import { timingSafeEqual } from "node:crypto"
import { hashToken } from "../lib/person-token.ts"

/** The holder of this token. It compares with every holder, so that the time it takes reveals nothing. */
export function findTokenHolder<T extends { tokenHash?: string }>(token: string, holders: readonly T[]): T | undefined {
  const wanted = Buffer.from(hashToken(token), "hex")
  let found: T | undefined
  for (const holder of holders) {
    const hash = Buffer.from(holder.tokenHash ?? "", "hex")
    if (hash.length === wanted.length && timingSafeEqual(hash, wanted)) found = holder
  }
  return found
}
