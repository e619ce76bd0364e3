import type { Problem } from "../../../src/http/api/schemas.ts"

/** What the server said when it said no. `status` is 0 when it could not be reached. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = "ProblemError"
    this.problem = problem
  }
}

export const problemOf = (error: unknown): Problem =>
  error instanceof ProblemError
    ? error.problem
    : {
        type: "about:blank",
        title: "Error",
        status: -1,
        detail: error instanceof Error ? error.message : String(error),
      }

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Calls the API with the session's cookie. The header is what tells our requests from another site's form. */
export async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(method === "GET" ? {} : { "x-quartermaster": "1" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch {
    throw new ProblemError({
      type: "about:blank",
      title: "No connection",
      status: 0,
      detail: "The server did not answer.",
    })
  }
  const text = await response.text()
  if (!response.ok) throw new ProblemError(readProblem(response, text))
  return (text === "" ? undefined : JSON.parse(text)) as T
}

function readProblem(response: Response, text: string): Problem {
  const { status, statusText: title } = response
  const plain = { type: "about:blank", title, status, detail: text.slice(0, 300) || `The server answered ${status}.` }
  if (!(response.headers.get("content-type") ?? "").includes("json")) return plain
  try {
    return { ...plain, ...(JSON.parse(text) as Partial<Problem>) }
  } catch {
    return plain
  }
}

export const get = <T>(path: string) => request<T>("GET", path)
export const post = <T>(path: string, body: unknown = {}) => request<T>("POST", path, body)
export const remove = <T = void>(path: string) => request<T>("DELETE", path)
