import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { anthropicAnswer, anthropicEvents } from "./anthropic-wire.ts"
import { googleAnswer, googleEvents } from "./google-wire.ts"
import { openAIAnswer, openAIEvents } from "./openai-wire.ts"

/** The answer of the server to one request. Without `raw` it is written in the format of the request. */
export interface Reply {
  text?: string
  reasoning?: string
  calls?: readonly ReplyCall[]
  /** The finish reason of the format; by default the one that fits. */
  finish?: string
  /** null reports none. */
  usage?: { input: number; output: number; cached?: number; written?: number } | null
  /** Sends texts and arguments in pieces of that many characters. */
  pieces?: number
  /** An HTTP status and what goes with it. */
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** The events of the stream instead of all the above: objects are written as JSON, texts as they are. */
  raw?: readonly unknown[]
  /** Milliseconds before each event. */
  delay?: number
  /** After the events: end as the format demands, close the connection, or say nothing more. */
  then?: "end" | "cut" | "hang"
  /** The number of events sent before `then`; all by default. */
  after?: number
  /** Repeats the last event until so many bytes were sent. */
  flood?: number
}

export interface ReplyCall {
  /** Left out: the server gives none. */
  id?: string
  name: string
  /** An object is written as JSON; a text as it is. */
  arguments: unknown
}

export interface ReceivedRequest {
  path: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: Record<string, unknown>
  /** Resolves when the client has closed the connection or has the whole answer. */
  closed: Promise<void>
}

export interface ModelServer {
  /** Base addresses for the three providers. */
  openai: string
  anthropic: string
  google: string
  /** Every request so far. */
  requests: ReceivedRequest[]
  /** Answers the next requests, in this order. */
  reply(...replies: readonly Reply[]): void
  /** Answers every request for which no reply is left. */
  answer(answer: (request: ReceivedRequest) => Reply): void
  close(): Promise<void>
}

/** A model server on this machine that speaks OpenAI's chat completions, Anthropic's messages and Gemini. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ReceivedRequest[] = []
  const waiting: Reply[] = []
  let answer: (request: ReceivedRequest) => Reply = () => ({
    status: 500,
    body: { error: { message: "No reply is left." } },
  })
  const server = createServer((request, response) => {
    void (async () => {
      const received = await receive(request, response)
      requests.push(received)
      await send(waiting.shift() ?? answer(received), received, response)
    })().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    openai: `${origin}/v1`,
    anthropic: `${origin}/anthropic`,
    google: `${origin}/google`,
    requests,
    reply: (...replies) => void waiting.push(...replies),
    answer: (given) => {
      answer = given
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const closed = new Promise<void>((resolve) => response.on("close", resolve))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>
  return { path: request.url ?? "", headers: request.headers, body, closed }
}

async function send(reply: Reply, { path, body }: ReceivedRequest, response: ServerResponse): Promise<void> {
  const { status = 200, headers = {}, raw, delay, then = "end", flood = 0 } = reply
  const format = formatOf(path)
  const isStream = body["stream"] === true || path.includes("streamGenerateContent")
  if (status >= 400 || reply.body !== undefined || !isStream) {
    if (then === "hang") return
    const content = reply.body ?? (status >= 400 ? { error: { message: `HTTP ${status}` } } : format.answer(reply))
    const isText = typeof content === "string"
    response.writeHead(status, { "content-type": isText ? "text/html" : "application/json", ...headers })
    response.end(isText ? content : JSON.stringify(content))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...headers })
  response.flushHeaders()
  const all = (raw ?? format.events(reply)).map((event) => format.frame(event))
  const events = all.slice(0, reply.after)
  for (const event of events) {
    if (delay !== undefined) await new Promise((resolve) => setTimeout(resolve, delay))
    await written(response, event)
  }
  const last = events.at(-1) ?? ""
  for (let sent = 0; sent < flood && !response.destroyed; sent += last.length) await written(response, last)
  if (then === "cut") response.destroy()
  if (then === "end") response.end(raw === undefined && reply.after === undefined ? format.end : "")
}

/** Waits until the client has room, or is gone. */
async function written(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done)
      resolve()
    }
    response.on("drain", done).on("close", done)
  })
}

interface Format {
  answer(reply: Reply): unknown
  events(reply: Reply): unknown[]
  frame(event: unknown): string
  end: string
}

function formatOf(path: string): Format {
  const data = (event: unknown) => (typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`)
  if (path.startsWith("/google")) return { answer: googleAnswer, events: googleEvents, frame: data, end: "" }
  if (path.startsWith("/v1"))
    return { answer: openAIAnswer, events: openAIEvents, frame: data, end: "data: [DONE]\n\n" }
  const named = (event: unknown) =>
    typeof event === "string" ? event : `event: ${(event as { type: string }).type}\n${data(event)}`
  return { answer: anthropicAnswer, events: anthropicEvents, frame: named, end: "" }
}
