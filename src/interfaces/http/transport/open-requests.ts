import type { IncomingMessage, ServerResponse } from "node:http"
import { sessionHeader } from "../routes/caller.ts"

/**
 * Counts the open requests of each token and session, so that one of them cannot take all connections. Returns a function
 * that says whether there is room for one more. Requests without either are answered at once, so they are not counted.
 */
export function openRequests(most: number): (request: IncomingMessage, response: ServerResponse) => boolean {
  const open = new Map<string, number>()
  return ({ headers }, response) => {
    const { authorization } = headers
    // The word behind "Bearer", however much space is around it.
    const secret = authorization === undefined ? headers[sessionHeader] : authorization.trim().split(/\s+/, 2)[1]
    if (typeof secret !== "string") return true
    const count = open.get(secret) ?? 0
    if (count >= most) return false
    open.set(secret, count + 1)
    response.once("close", () => {
      const left = open.get(secret)! - 1
      if (left === 0) open.delete(secret)
      else open.set(secret, left)
    })
    return true
  }
}
