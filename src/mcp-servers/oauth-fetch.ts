import type { FetchLike } from "@modelcontextprotocol/client"
import { isLoopback } from "../lib/url.ts"

/** The largest response of an authorization server. */
const maxBytes = 1024 * 1024
const timeoutMs = 15_000

/**
 * `fetch` for authorization servers. They are named by the MCP server and therefore not trusted: they get none of the
 * configured headers, must use https, and may only be on this machine if the MCP server is.
 */
export function authorizationFetch(server: URL): FetchLike {
  return async (address, init) => {
    const url = new URL(address)
    const problem = addressProblem(url, server)
    if (problem !== undefined) throw new Error(problem)
    const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) }).catch(
      (error: unknown) => {
        throw new Error(`the authorization server ${url.host} was not reached`, { cause: error })
      },
    )
    const { status, statusText, headers } = response
    const body = status === 204 || status === 304 ? null : await boundedText(response)
    const result = new Response(body, { status, statusText, headers: new Headers(headers) })
    // The SDK uses the URL to detect redirects.
    Object.defineProperty(result, "url", { value: url.href })
    return result
  }
}

/** Why the URL of an authorization server must not be used; undefined when it may. */
export function addressProblem(url: URL, server: URL): string | undefined {
  if (url.protocol === "https:" && (!isLoopback(url.hostname) || isLoopback(server.hostname))) return undefined
  if (
    url.protocol === "http:" &&
    (url.origin === server.origin || (isLoopback(url.hostname) && isLoopback(server.hostname)))
  )
    return undefined
  return `the server names ${url.protocol}//${url.host} as the place to sign in, but only https addresses on other machines are allowed`
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > maxBytes) throw new Error("the authorization server sent more than 1 MB at once")
    parts.push(part)
  }
  return Buffer.concat(parts).toString("utf8")
}
