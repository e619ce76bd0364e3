import { connect } from "../../../src/interfaces/client/connection.ts"
import { QuartermasterProblem, type Problem } from "../../../src/interfaces/client/client.ts"
import { pageSecret } from "./session.ts"

/** Sends the session's cookie and, in a header, the secret that only this page's address can read. */
const withSession: typeof fetch = (address, init) =>
  fetch(address, { ...init, headers: { ...(init?.headers as object), "x-quartermaster-session": pageSecret() } })

const connection = connect({ baseUrl: "", fetch: withSession })

/** Returns the server's refusal. `status` is 0 when it could not be reached. */
export const problemOf = (error: unknown): Problem =>
  error instanceof QuartermasterProblem
    ? error.problem
    : {
        type: "about:blank",
        title: "Error",
        status: -1,
        detail: error instanceof Error ? error.message : String(error),
      }

export const get = <T>(path: string) => connection.json<T>("GET", path)
export const post = <T>(path: string, body: unknown = {}) => connection.json<T>("POST", path, { body })
export const put = <T>(path: string, body: unknown) => connection.json<T>("PUT", path, { body })
export const patch = <T>(path: string, body: unknown) => connection.json<T>("PATCH", path, { body })
/** Sends a file as it is. */
export const upload = <T>(path: string, content: Blob) => connection.json<T>("POST", path, { body: content })
export const remove = <T = void>(path: string) => connection.json<T>("DELETE", path)

/** The bytes of a file. An address alone would not do: a browser opens it without the secret of the session. */
export const file = async (path: string, signal?: AbortSignal) =>
  (await connection.send("GET", path, { signal })).arrayBuffer()

/** The open event stream. */
export const events = async (path: string, signal: AbortSignal) =>
  (await connection.send("GET", path, { signal, headers: { accept: "text/event-stream" } })).body
