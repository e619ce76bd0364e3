import { createClient, QuartermasterProblem, type Problem } from "../../../src/client/client.ts"

/** Calls the API with the session's cookie. */
const client = createClient({ baseUrl: "" })

/** What the server said when it said no. `status` is 0 when it could not be reached. */
export const problemOf = (error: unknown): Problem =>
  error instanceof QuartermasterProblem
    ? error.problem
    : {
        type: "about:blank",
        title: "Error",
        status: -1,
        detail: error instanceof Error ? error.message : String(error),
      }

export const get = <T>(path: string) => client.request<T>("GET", path)
export const post = <T>(path: string, body: unknown = {}) => client.request<T>("POST", path, { body })
export const remove = <T = void>(path: string) => client.request<T>("DELETE", path)
