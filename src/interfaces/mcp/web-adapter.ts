import type { IncomingMessage, ServerResponse } from "node:http"

/** Converts a request for the SDK's handlers. They get the parsed body separately. */
export function webRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  const { rawHeaders } = request
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "")
  }
  // The handlers use only the path; the host was checked before.
  return new Request(new URL(request.url ?? "/", "http://localhost"), {
    method: request.method ?? "GET",
    headers,
    signal,
  })
}

/** A signal that aborts when the client disconnects before it has its response. */
export function abortOnDisconnect(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  onDisconnect(response, () => controller.abort())
  return controller.signal
}

export function onDisconnect(response: ServerResponse, then: () => void): void {
  if (response.destroyed) return then()
  response.once("close", () => {
    if (!response.writableFinished) then()
  })
}

/** Sends a response of the SDK: whole, or as an event stream. */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
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

/** Sends a JSON-RPC error for a message that could not be read, or for the request with that id. */
export function protocolError(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  id: unknown = null,
): void {
  const body = errorText(code, message, id)
  const length = Buffer.byteLength(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers })
  response.end(body)
}

/** The same as a web response. */
export function errorResponse(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(errorText(code, message), { status, headers: { "content-type": "application/json", ...headers } })
}

function errorText(code: number, message: string, id: unknown = null): string {
  return JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id })
}
