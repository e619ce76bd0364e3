import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net"
import { expect, onTestFinished } from "vitest"
import { ToolFailure } from "../../core/ending.ts"
import { openWeb, type OpenWeb, type WebOptions } from "./web.ts"

export type Responder = (request: IncomingMessage, response: ServerResponse) => unknown

/** A `Web` with these lines in its list of allowed hosts. */
export function openTestWeb(allow: readonly string[], options: Partial<WebOptions> = {}): OpenWeb {
  const lines = allow.map((text, at) => ({ text, source: `tools.hosts.allow[${at}]` }))
  const web = openWeb({ allow: lines, deny: [], own: () => [], ...options })
  onTestFinished(() => web.close())
  return web
}

export async function listenOnFreePort(server: Server, host = "127.0.0.1"): Promise<number> {
  server.listen(0, host)
  await once(server, "listening")
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => sockets.add(socket))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export function respondingServer(respond: Responder): Server {
  return createServer((request, response) => void respond(request, response))
}

/** A server on this machine, and a `Web` that may reach only this server here. */
export async function serveToWeb(respond: Responder, options: Partial<WebOptions> = {}) {
  const port = await listenOnFreePort(respondingServer(respond))
  const web = openTestWeb([`127.0.0.1:${port}`], options)
  return { web, port, at: (path: string) => `http://127.0.0.1:${port}${path}` }
}

/** A server that writes raw bytes to the connection. */
export async function serveRawToWeb(respond: (socket: Socket) => void, options: Partial<WebOptions> = {}) {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined)
    socket.once("data", () => respond(socket))
  })
  const port = await listenOnFreePort(server)
  return { web: openTestWeb([`127.0.0.1:${port}`], options), url: `http://127.0.0.1:${port}/` }
}

/** Returns the failure of a request. */
export async function failureOf(sent: Promise<unknown>) {
  const error = await sent.then(
    () => expect.unreachable("It should have failed."),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolFailure)) throw error
  return { code: error.toolCode, sentence: error.message, transient: error.transient }
}

export async function requestBodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString()
}
