import type { Problem } from "../http/routes/schemas.ts"

/**
 * A refusal by the server. `message` is a sentence that says what to do next, `code` is for programs.
 * `status` is 0 when the server could not be reached.
 */
export class QuartermasterProblem extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly problem: Problem

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options)
    this.name = "QuartermasterProblem"
    this.problem = problem
    this.status = problem.status
    this.code = problem.code
  }
}

/** The problem of an answer that is none of the good ones, whoever gave it: a proxy may not send problem+json. */
export async function problemOf(response: Response): Promise<QuartermasterProblem> {
  const { status, statusText } = response
  const text = await response.text().catch(() => "")
  const plain: Problem = {
    type: "about:blank",
    title: statusText || "Error",
    status,
    detail: text.slice(0, 300) || `The server answered with status ${status}.`,
  }
  return new QuartermasterProblem({ ...plain, ...parsed(response, text) })
}

export function unreachable(cause: unknown): QuartermasterProblem {
  const detail = "The server did not answer. Check that 'qm serve' runs and that the address is right."
  return new QuartermasterProblem(
    { type: "about:blank", title: "No connection", status: 0, detail, code: "no_connection" },
    { cause },
  )
}

function parsed(response: Response, text: string): Partial<Problem> {
  if (!(response.headers.get("content-type") ?? "").includes("json")) return {}
  try {
    return JSON.parse(text) as Partial<Problem>
  } catch {
    return {}
  }
}
