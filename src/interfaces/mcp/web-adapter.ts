import type { IncomingMessage, ServerResponse } from "node:http"
import { onDisconnect, sendReply } from "../../lib/http-reply.ts"

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

/** Sends a response of the SDK: whole, or as an event stream. */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(answer.headers)
  const isStream = answer.body !== null && headers["content-type"] === "text/event-stream"
  const body = isStream ? chunksOf(answer.body!, response) : await answer.text()
  await sendReply(response, { status: answer.status, headers, body })
}

/** The chunks of a stream. A client that disconnects cancels it, also while the next chunk is awaited. */
function chunksOf(stream: ReadableStream<Uint8Array>, response: ServerResponse): AsyncIterable<Uint8Array> {
  const reader = stream.getReader()
  onDisconnect(response, () => void reader.cancel().catch(() => {}))
  return (async function* () {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  })()
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
  void sendReply(response, { status, headers: { "content-type": "application/json", ...headers }, body })
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
