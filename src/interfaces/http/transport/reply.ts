import type { ServerResponse } from "node:http"

/** Sends an RFC 9457 problem. `detail` is a sentence that says what to do next. */
export function replyProblem(
  response: ServerResponse,
  status: keyof typeof titles,
  detail: string,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify({ type: "about:blank", title: titles[status], status, detail })
  reply(response, status, "application/problem+json", body, headers)
}

export function replyJson(response: ServerResponse, status: number, value: unknown): void {
  reply(response, status, "application/json", JSON.stringify(value), {})
}

export function replyText(response: ServerResponse, status: number, text: string): void {
  reply(response, status, "text/plain; charset=utf-8", text, { "x-content-type-options": "nosniff" })
}

function reply(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    ...headers,
  })
  response.end(body)
}

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const
