import type { Problem } from "./schemas.ts"

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
}

/** Ends a request with a problem (RFC 9457). `detail` is a sentence that says what to do next. */
export class HttpProblem extends Error {
  readonly status: number
  readonly more: Omit<Partial<Problem>, "status" | "detail">
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    detail: string,
    more: Omit<Partial<Problem>, "status" | "detail"> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail)
    this.status = status
    this.more = more
    this.headers = headers
  }

  toJSON(): Problem {
    const title = titles[this.status] ?? "Error"
    return { type: "about:blank", title, status: this.status, detail: this.message, ...this.more }
  }
}

export function notFound(what: string, id: string): HttpProblem {
  const name = id.slice(0, 200)
  return new HttpProblem(404, `There is no ${what} '${name}'.`, { code: "not_found", params: { what, id: name } })
}

export function bodyTooLong(max: number): HttpProblem {
  const sentence = `The body is longer than ${max} bytes. Send less, or raise server.maxBodyBytes.`
  return new HttpProblem(413, sentence, { code: "body_too_long", params: { max } }, { connection: "close" })
}
