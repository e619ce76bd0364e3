import { ProtocolError, type LoggingLevel, type Server, type ServerContext } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { cannot, capabilitiesOf } from "./capabilities.ts"
import { Changes, type ListChange } from "./changes.ts"
import { ClientServer } from "./client-server.ts"
import { converse, type DoorParts, type Said } from "./conversation.ts"
import { faultOf } from "./errors.ts"
import { toolList } from "./lists.ts"
import { OpenCalls } from "./open-calls.ts"
import { complete, getPrompt, listPrompts, listResources, listTemplates, readResource } from "./parts.ts"
import { callResult, nameIn, ticketResult } from "./results.ts"
import type { Speaker } from "./speaker.ts"
import { Subscriptions } from "./subscriptions.ts"
import { sameCall, Tickets, type SameCall } from "./tickets.ts"

export type { Speaker } from "./speaker.ts"
export type { ListChange } from "./changes.ts"

export interface DoorOptions {
  /** What callers are told our version is. */
  version: string
  /** How long a call that cannot be held with progress waits for a person before its caller gets a ticket. */
  waitMs?: number | undefined
  /** How often a held call says that it waits. */
  progressMs?: number | undefined
  /** How many calls go on in memory while their callers are to come back. */
  mostOpen?: number | undefined
  /** How long one that ended is kept for its caller. */
  keptMs?: number | undefined
}

export interface ServerKind {
  era: "legacy" | "modern"
  /** The session of a client of before 2026, where it has one. */
  session?: { id: string } | undefined
  /** True for a connection that lasts, whatever its era: it is told of changes. A session always is. */
  lasts?: boolean | undefined
}

/** Our tools for others, in both eras of the protocol. */
export interface McpDoor {
  /** Cheap to make: one for each request that carries its own envelope, one for each session or connection. */
  server(speaker: Speaker, kind: ServerKind): Server
  /** Whether that client has asked for log messages, so that its calls must not take a way that has none. */
  wantsLogs(server: Server): boolean
  onListChanged(listener: (change: ListChange) => void): () => void
  /** Hears of changes of these resources for a client that listens to them, until the returned function is called. */
  subscribe(speaker: Speaker, uris: readonly string[]): Promise<() => Promise<void>>
  /** Tickets that were handed out: whoever gets one elsewhere keeps it here, and the same call redeems it. */
  readonly tickets: Tickets
  /** Calls whose callers were told to come back: whoever begins one elsewhere and cannot stay with it parks it here. */
  readonly open: OpenCalls
  /** Whether this very call goes on already, or has ended and its caller was not told: then it is not made anew. */
  isUnderWay(call: SameCall): boolean
  close(): Promise<void>
}

const instructions =
  "Quartermaster hands out tools under rules. What is listed here is what you may use. A call may have to wait for a " +
  "person, or be refused; the text of its result then says so, whether the tool was executed, and what to do next."

/** How long the first list waits for other people's servers to say what they offer. */
const readyMs = 5000

export function mcpDoor(app: App, options: DoorOptions): McpDoor {
  const { version, waitMs = 45_000, progressMs = 5000, mostOpen = 1000, keptMs = 600_000 } = options
  const tickets = new Tickets(app)
  const open = new OpenCalls(app, { most: mostOpen, keptMs }, ({ speaker, same }, ticket) =>
    tickets.keepFor(speaker.agentId, same, ticket),
  )
  const parts: DoorParts = { app, open, tickets, waitMs, progressMs }
  const changes = new Changes(app)
  const ready = app.mcp.ready(readyMs).catch(() => {})

  return {
    server(speaker, kind) {
      const server = new ClientServer(app, speaker.agentId, { version, instructions })
      answer(server, speaker, kind)
      if (kind.era === "legacy" || kind.lasts === true) server.follow((listener) => changes.listen(listener))
      return server
    },
    wantsLogs: (server) => server instanceof ClientServer && server.level !== undefined,
    onListChanged: (listener) => changes.listen(listener),
    async subscribe({ agentId }, uris) {
      const held = new Subscriptions(app, agentId)
      await Promise.allSettled(uris.map((uri) => held.add(uri)))
      return () => held.close()
    },
    tickets,
    open,
    isUnderWay(call) {
      if (tickets.isQuiet(call.speaker.agentId) && open.isEmpty) return false
      return tickets.has(call) || open.find(sameCall(app, call)) !== undefined
    },
    async close() {
      changes.close()
      open.close()
    },
  }

  function answer(server: ClientServer, speaker: Speaker, { era, session }: ServerKind): void {
    const { agentId } = speaker
    const talk = (context: ServerContext, tool: string, input: unknown, asks = true): Promise<Said> => {
      const can = asks ? capabilitiesOf(era, context, server.getClientCapabilities()) : cannot
      const { level } = server
      return converse(parts, { speaker, era, sessionId: session?.id, context, can, level, tool, input })
    }
    const callOf = (context: ServerContext, asks?: boolean) => (tool: string, input: unknown) =>
      talk(context, tool, input, asks)

    server.setRequestHandler("tools/list", async () => {
      await ready
      return { tools: [...toolList(app, agentId).tools] }
    })
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { name, arguments: input = {} } = params
      // A client that knows the tool from before may call it while its server is only just being connected.
      if (!app.mayKnow(agentId, name)) await ready
      const said = await talk(context, name, input)
      if ("required" in said) return said.required
      if ("ticket" in said) return ticketResult(said.ticket, name)
      const fault = faultOf(said.ended)
      if (fault !== undefined) throw new ProtocolError(fault.code, fault.message, fault.data)
      const announced = toolList(app, agentId).announced(nameIn(said.ended))
      return server.projectCallToolResult(callResult(said.ended, announced), announced?.outputSchema)
    })
    server.setRequestHandler("resources/list", async ({ params }) => {
      await ready
      return listResources(app, agentId, params?.cursor)
    })
    server.setRequestHandler("resources/templates/list", async ({ params }) => {
      await ready
      return listTemplates(app, agentId, params?.cursor)
    })
    server.setRequestHandler("resources/read", async ({ params }, context) => {
      await ready
      return readResource(app, agentId, params.uri, callOf(context))
    })
    server.setRequestHandler("prompts/list", async ({ params }) => {
      await ready
      return listPrompts(app, agentId, params?.cursor)
    })
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      await ready
      return getPrompt(app, agentId, params, callOf(context))
    })
    server.setRequestHandler("completion/complete", async ({ params }, context) => {
      await ready
      return complete(app, agentId, params, callOf(context, false))
    })
    if (era === "modern") return
    server.setRequestHandler("logging/setLevel", ({ params }) => {
      server.level = params.level satisfies LoggingLevel
      return {}
    })
    server.setRequestHandler("resources/subscribe", async ({ params }) => {
      await server.subscriptions.add(params.uri)
      return {}
    })
    server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
      await server.subscriptions.remove(params.uri)
      return {}
    })
  }
}
