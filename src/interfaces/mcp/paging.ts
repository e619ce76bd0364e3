import { badParams } from "./errors.ts"
import type { UpstreamItem } from "./upstream-items.ts"

const pageSize = 500

/** One page of a sorted list. A cursor names the last item of the previous page, so that changes do not shift pages. */
export function pageOf<T>(
  all: readonly UpstreamItem<T>[],
  cursor: string | undefined,
  size = pageSize,
): { page: readonly UpstreamItem<T>[]; nextCursor?: string } {
  const after = cursor === undefined ? undefined : readCursor(cursor)
  const start = after === undefined ? 0 : all.findIndex(({ nameHere }) => nameHere > after)
  const page = start === -1 ? [] : all.slice(start, start + size)
  const last = page.at(-1)
  const isEnd = last === undefined || last === all.at(-1)
  return isEnd ? { page } : { page, nextCursor: Buffer.from(`after:${last.nameHere}`).toString("base64url") }
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString("utf8")
  if (!text.startsWith("after:"))
    throw badParams("This cursor was not issued by this server. Start again without a cursor.")
  return text.slice("after:".length)
}
