import type { Readable, Writable } from "node:stream"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server"
import { serveStdio as serve, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { PerClientServer } from "./per-client-server.ts"
import { mcpEndpoint, type McpEndpointOptions } from "./endpoint.ts"
import type { ClientIdentity } from "./client-identity.ts"

export interface StdioOptions extends McpEndpointOptions {
  stdin: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  signal?: AbortSignal
}

/** Serves one client over stdio, in the era it begins with, until it disconnects or the signal aborts. */
export async function serveStdio(app: Quartermaster, identity: ClientIdentity, options: StdioOptions): Promise<void> {
  const { stdin, stdout, signal } = options
  const endpoint = mcpEndpoint(app, options)
  let server: PerClientServer | undefined
  let onGone!: () => void
  const closed = new Promise<void>((resolve) => (onGone = resolve))
  const wire = new StdioServerTransport(stdin as Readable, stdout as Writable)
  const transport = observed(wire, {
    onListen: (id, uris) => void server?.setListenedResources(id, uris),
    onCancel: (id) => void server?.setListenedResources(id, []),
    onGone: () => onGone(),
  })
  const handle = serve(
    ({ era }) => {
      const created = endpoint.server(identity, { era, isPersistent: true })
      if (created instanceof PerClientServer) server = created
      return created
    },
    { transport },
  )
  const stop = () => void handle.close()
  if (signal?.aborted === true) stop()
  signal?.addEventListener("abort", stop, { once: true })
  await closed
  signal?.removeEventListener("abort", stop)
  await endpoint.close()
}

interface WireListener {
  onListen(id: unknown, uris: readonly string[]): void
  onCancel(id: unknown): void
  onGone(): void
}

/** Observes the messages that the SDK handles by itself: which resources a client listens to. */
function observed(wire: StdioServerTransport, listener: WireListener): Transport {
  const transport: Transport = {
    start() {
      Object.assign(wire, {
        onmessage(message: JSONRPCMessage) {
          reportSubscriptions(message, listener)
          transport.onmessage?.(message)
        },
        onerror: (error: Error) => transport.onerror?.(error),
        onclose() {
          transport.onclose?.()
          listener.onGone()
        },
      })
      return wire.start()
    },
    send: (message) => wire.send(message),
    close: () => wire.close(),
  }
  return transport
}

function reportSubscriptions(message: JSONRPCMessage, { onListen, onCancel }: WireListener): void {
  if (!("method" in message)) return
  const params = message.params as Record<string, unknown> | undefined
  if (message.method === "notifications/cancelled") onCancel(params?.["requestId"])
  if (message.method !== "subscriptions/listen" || !("id" in message)) return
  const { resourceSubscriptions } = (params?.["notifications"] ?? {}) as { resourceSubscriptions?: unknown }
  if (!Array.isArray(resourceSubscriptions)) return
  onListen(
    message.id,
    resourceSubscriptions.filter((uri) => typeof uri === "string"),
  )
}
