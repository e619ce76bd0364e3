import type { Readable, Writable } from "node:stream"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server"
import { serveStdio as serve, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { App } from "../../model/app.ts"
import { ClientServer } from "./client-server.ts"
import { mcpDoor, type DoorOptions } from "./door.ts"
import type { Speaker } from "./speaker.ts"

export interface StdioOptions extends DoorOptions {
  stdin: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  signal?: AbortSignal | undefined
}

/** Speaks with one client, in the era it begins with, until it is gone or the signal says so. */
export async function serveStdio(app: App, speaker: Speaker, options: StdioOptions): Promise<void> {
  const { stdin, stdout, signal } = options
  const door = mcpDoor(app, options)
  let server: ClientServer | undefined
  let gone!: () => void
  const over = new Promise<void>((resolve) => (gone = resolve))
  const wire = new StdioServerTransport(stdin as Readable, stdout as Writable)
  const transport = listening(wire, {
    onListen: (id, uris) => void server?.listens(id, uris),
    onCancel: (id) => void server?.listens(id, []),
    onGone: () => gone(),
  })
  const handle = serve(
    ({ era }) => {
      const made = door.server(speaker, { era, lasts: true })
      if (made instanceof ClientServer) server = made
      return made
    },
    { transport },
  )
  const stop = () => void handle.close()
  if (signal?.aborted === true) stop()
  signal?.addEventListener("abort", stop, { once: true })
  await over
  signal?.removeEventListener("abort", stop)
  await door.close()
}

interface Heard {
  onListen(id: unknown, uris: readonly string[]): void
  onCancel(id: unknown): void
  onGone(): void
}

/** The wire, with an ear for what the SDK answers by itself: which resources a client listens to. */
function listening(wire: StdioServerTransport, heard: Heard): Transport {
  const transport: Transport = {
    start() {
      Object.assign(wire, {
        onmessage(message: JSONRPCMessage) {
          hear(message, heard)
          transport.onmessage?.(message)
        },
        onerror: (error: Error) => transport.onerror?.(error),
        onclose() {
          transport.onclose?.()
          heard.onGone()
        },
      })
      return wire.start()
    },
    send: (message) => wire.send(message),
    close: () => wire.close(),
  }
  return transport
}

function hear(message: JSONRPCMessage, { onListen, onCancel }: Heard): void {
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
