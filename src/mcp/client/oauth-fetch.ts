import type { FetchLike } from "@modelcontextprotocol/client"

/** The most an authorization server may say at once. */
const largest = 1024 * 1024
const patienceMs = 15_000

/**
 * `fetch` for what is said to authorization servers. A server names them, so they are not trusted: nothing of the
 * server's own headers goes there, only https is spoken, and on this machine's own addresses only if the server is
 * there too.
 */
export function authorizationFetch(server: URL): FetchLike {
  return async (given, init) => {
    const url = new URL(given)
    const problem = addressProblem(url, server)
    if (problem !== undefined) throw new Error(problem)
    const answer = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(patienceMs) }).catch(
      (error: unknown) => {
        throw new Error(`${url.host}, where one signs in, was not reached`, { cause: error })
      },
    )
    const { status, statusText, headers } = answer
    const body = status === 204 || status === 304 ? null : await boundedText(answer)
    const read = new Response(body, { status, statusText, headers: new Headers(headers) })
    // A redirect is told by the address it is seen from.
    Object.defineProperty(read, "url", { value: url.href })
    return read
  }
}

/** Why nothing is sent to that address, or nobody is sent there; undefined when it may be used. */
export function addressProblem(url: URL, server: URL): string | undefined {
  if (url.protocol === "https:" && (!isHere(url) || isHere(server))) return undefined
  if (url.protocol === "http:" && (url.origin === server.origin || (isHere(url) && isHere(server)))) return undefined
  return `${url.protocol}//${url.host} is named as the place to sign in, and only https addresses elsewhere are used`
}

function isHere({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

async function boundedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > largest) throw new Error("the authorization server says more than 1 MB at once")
    parts.push(part)
  }
  return Buffer.concat(parts).toString("utf8")
}
