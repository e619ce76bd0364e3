import { STATUS_CODES, type IncomingMessage, type Server } from "node:http"
import type { Duplex } from "node:stream"
import { errorMessage } from "../../../lib/error-message.ts"
import { isLocal } from "../routes/is-local.ts"
import { localKeyHeader, localMcpPath, localMcpProtocol } from "../../../lib/local-key.ts"

/** Makes ready to serve one MCP client over a connection of its own. Throws when that agent cannot be served. */
export type LocalMcp = (wish: {
  agent: string | undefined
  builtin: string | undefined
}) => Promise<(wire: Duplex, signal: AbortSignal) => Promise<void>>

interface LocalMcpOptions {
  localKey: string | undefined
  localMcp: LocalMcp | undefined
  /** The reason to refuse a request by its headers. */
  refusal(headers: IncomingMessage["headers"]): string | undefined
}

/**
 * Serves every `qm mcp` of this machine's user over a connection that leaves HTTP: what it would write to stdout and
 * read from stdin is sent as it is. Returns a function that ends these connections.
 */
export function serveLocalMcp(server: Server, { localKey, localMcp, refusal }: LocalMcpOptions): () => Promise<void> {
  const closer = new AbortController()
  const serving = new Set<Promise<void>>()
  server.on("upgrade", (request, wire) => {
    wire.on("error", () => wire.destroy())
    const work = serve(request, wire).catch((error: unknown) => refuse(wire, 409, errorMessage(error)))
    serving.add(work)
    void work.finally(() => serving.delete(work))
  })
  return async () => {
    closer.abort()
    await Promise.all(serving)
  }

  async function serve({ url = "", headers }: IncomingMessage, wire: Duplex): Promise<void> {
    const because = refusal(headers)
    if (because !== undefined) return refuse(wire, 403, because)
    const { pathname, searchParams } = new URL(url, "http://localhost")
    if (pathname !== localMcpPath || headers.upgrade !== localMcpProtocol || localMcp === undefined)
      return refuse(wire, 404, "There is nothing here to change the protocol for.")
    if (!isLocal(localKey, headers[localKeyHeader] as string | undefined))
      return refuse(wire, 401, "Only 'qm mcp' on this machine connects here.")
    const serveClient = await localMcp({
      agent: searchParams.get("agent") ?? undefined,
      builtin: searchParams.get("builtin") ?? undefined,
    })
    wire.write(`HTTP/1.1 101 ${STATUS_CODES[101]}\r\nconnection: upgrade\r\nupgrade: ${localMcpProtocol}\r\n\r\n`)
    try {
      await serveClient(wire, closer.signal)
    } finally {
      wire.end(() => wire.destroy())
    }
  }
}

function refuse(wire: Duplex, status: number, sentence: string): void {
  const body = `${sentence}\n`
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8`
  wire.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () => wire.destroy())
}
