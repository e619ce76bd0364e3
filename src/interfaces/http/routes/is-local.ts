import { timingSafeEqual } from "node:crypto"

/** Reports whether a request has the server's local key: then it is of this machine's user. */
export function isLocal(localKey: string | undefined, given: string | null | undefined): boolean {
  if (localKey === undefined || localKey === "" || typeof given !== "string") return false
  const [one, other] = [Buffer.from(localKey), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
