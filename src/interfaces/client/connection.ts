import { problemOf, unreachable } from "./problem.ts"

export interface ClientOptions {
  /** The address of the server, for example `http://127.0.0.1:7420`. An empty text is the site of the page. */
  baseUrl: string
  /** The token of an agent or a person. */
  token?: string
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

export interface Sent {
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** A value, sent as JSON; or a `Blob`, sent as it is. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
}

/** Sends requests. Whatever is not a success is thrown as a `QuartermasterProblem`. */
export interface Connection {
  send(method: Method, path: string, sent?: Sent): Promise<Response>
  json<T>(method: Method, path: string, sent?: Sent): Promise<T>
}

export function connect({ baseUrl, token, fetch: given }: ClientOptions): Connection {
  const base = baseUrl.replace(/\/+$/, "")
  const send: Connection["send"] = async (method, path, { query = {}, body, headers, signal } = {}) => {
    const isBytes = body instanceof Blob
    const request = {
      method,
      headers: {
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": isBytes ? "application/octet-stream" : "application/json" }),
        // Tells the server that no form of another site sends this.
        ...(method === "GET" ? {} : { "x-quartermaster": "1" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }
    let response: Response
    try {
      response = await (given ?? fetch)(`${base}${path}${queryText(query)}`, request)
    } catch (error) {
      if (signal?.aborted === true) throw error
      throw unreachable(error)
    }
    if (!response.ok) throw await problemOf(response)
    return response
  }
  return {
    send,
    async json<T>(method: Method, path: string, sent?: Sent): Promise<T> {
      const text = await (await send(method, path, sent)).text()
      return (text === "" ? undefined : JSON.parse(text)) as T
    },
  }
}

function queryText(query: NonNullable<Sent["query"]>): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string | number | boolean] => pair[1] !== undefined,
  )
  if (given.length === 0) return ""
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`
}
