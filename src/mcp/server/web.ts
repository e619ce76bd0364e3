import type { IncomingMessage, ServerResponse } from "node:http"

/** The request as the SDK's handlers take it. The body is handed over apart from it, already parsed. */
export function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  const { rawHeaders } = request
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "")
  }
  // Only the path counts for anybody who looks; the host was checked before.
  return new Request(new URL(request.url ?? "/", "http://localhost"), {
    method: request.method ?? "GET",
    headers,
    signal,
  })
}

/** Aborted when the client goes away before it has its answer. */
export function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  whenGone(response, () => controller.abort())
  return controller.signal
}

export function whenGone(response: ServerResponse, then: () => void): void {
  if (response.destroyed) return then()
  response.once("close", () => {
    if (!response.writableFinished) then()
  })
}

/** Writes what a handler of the SDK answered: in one piece, or as the stream it is. */
export async function sendWeb(answer: Response, response: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(answer.headers)
  const { body } = answer
  if (body === null || headers["content-type"] !== "text/event-stream") {
    const text = body === null ? "" : await answer.text()
    if (!response.destroyed) response.writeHead(answer.status, headers).end(text)
    return
  }
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  if (response.destroyed) return cancel()
  response.once("close", cancel)
  response.writeHead(answer.status, headers)
  response.flushHeaders()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return
      if (!response.write(read.value)) await drained(response)
    }
  } finally {
    response.off("close", cancel)
    response.end()
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done)
      response.off("close", done)
      resolve()
    }
    response.on("drain", done)
    response.on("close", done)
  })
}

/** An error of the protocol for what cannot be tied to a request that was understood. */
export function protocolError(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  const body = errorText(code, message)
  const length = Buffer.byteLength(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers })
  response.end(body)
}

/** The same for whoever hands over what the SDK answers. */
export function errorResponse(status: number, code: number, message: string, headers: Record<string, string> = {}) {
  return new Response(errorText(code, message), { status, headers: { "content-type": "application/json", ...headers } })
}

function errorText(code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null })
}
