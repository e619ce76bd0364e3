import { badParams } from "./errors.ts"
import type { Offered } from "./offers.ts"

const pageSize = 500

/** One page of a sorted list. A cursor names the last thing of the page before, so that changes shift nothing. */
export function pageOf<T>(
  all: readonly Offered<T>[],
  cursor: string | undefined,
  size = pageSize,
): { page: readonly Offered<T>[]; nextCursor?: string } {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  const start = after === undefined ? 0 : all.findIndex(({ shown }) => shown > after)
  const page = start === -1 ? [] : all.slice(start, start + size)
  const last = page.at(-1)
  const isEnd = last === undefined || last === all.at(-1)
  return isEnd ? { page } : { page, nextCursor: Buffer.from(`after:${last.shown}`).toString("base64url") }
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString("utf8")
  if (!text.startsWith("after:")) throw badParams("This cursor is none of ours. Begin without one.")
  return text.slice("after:".length)
}
