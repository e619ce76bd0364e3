import type { IncomingMessage, ServerResponse } from "node:http"
import { bearerToken, sessionHeader } from "../routes/caller.ts"

/**
 * Counts the open requests of each token and session, so that one of them cannot take all connections. Returns a function
 * that takes a place, and false when there is none. Requests without either are answered at once, so they are not counted.
 */
export function openRequests(most: number): (request: IncomingMessage, response: ServerResponse) => boolean {
  const open = new Map<string, number>()
  return ({ headers }, response) => {
    const { authorization } = headers
    const secret = authorization === undefined ? headers[sessionHeader] : bearerToken(authorization)
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
