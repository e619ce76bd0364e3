import { ProtocolError, type LoggingLevel, type Server, type ServerContext } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { PendingItem } from "../../core/approval.ts"
import { callTool, type ToolCallResponse } from "./call-tool.ts"
import { isAskedInClient, type InClient } from "./asked-in-client.ts"
import { noAbilities, capabilitiesOf, clientInfoOf } from "./capabilities.ts"
import { ClientPatience } from "./client-patience.ts"
import { ListChangeWatcher, type ListChange } from "./list-changes.ts"
import { PerClientServer } from "./per-client-server.ts"
import { serveCall, traceIdIn, type OneShotRequest, type EndpointParts, type InteractiveRequest } from "./serve-call.ts"
import { toolList } from "./tool-list.ts"
import { OpenCalls } from "./open-calls.ts"
import {
  complete,
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  readResource,
} from "./resources-and-prompts.ts"
import type { ClientIdentity } from "./client-identity.ts"
import { ClientSubscriptions } from "./client-subscriptions.ts"
import { Tickets } from "./tickets.ts"

export interface McpEndpointOptions {
  /** Our version, as reported to clients. */
  version: string
  /** After this time a call that waits for a person answers its caller with a ticket. */
  waitMs?: number
  /** A client that follows progress and has kept a request open for so long gets no tickets: its calls wait. */
  lastsMs?: number
  /** A waiting call reports progress this often. */
  progressMs?: number
  /** The most calls in memory whose callers are expected to come back. */
  maxOpenCalls?: number
  /** The result of an ended call stays in memory for its caller this long. */
  keepEndedMs?: number
  /** The items that the person at the client may answer there; without it, calls of medium risk at most. */
  inClient?: InClient
  /** The least milliseconds that a person needs to answer. */
  fastestAnswerMs?: number
}

export interface ServerKind {
  era: "legacy" | "modern"
  /** The client's session, for protocol revisions before 2026. */
  session?: { id: string }
  /** True for a lasting connection of either era: it gets notifications of changes. A session always does. */
  isPersistent?: boolean
}

/** Serves our tools to MCP clients, in both eras of the protocol. */
export interface McpEndpoint {
  /** Creates a server: one for each request with its own envelope, one for each session or connection. */
  server(identity: ClientIdentity, kind: ServerKind): Server
  /** True when the client asked for log messages, so that its calls cannot take the fast path. */
  wantsLogs(server: Server): boolean
  onListChanged(listener: (change: ListChange) => void): () => void
  /** Subscribes to these resources for a client, until the returned function is called. */
  subscribe(identity: ClientIdentity, uris: readonly string[]): Promise<() => Promise<void>>
  /** Handles a tools/call without the SDK; undefined when the client must be asked or notified first. */
  callTool(request: OneShotRequest): Promise<ToolCallResponse | undefined>
  /** Issued tickets. Repeating the same call redeems one. */
  readonly tickets: Tickets
  /** Calls whose callers are expected to come back. */
  readonly openCalls: OpenCalls
  close(): Promise<void>
}

const instructions =
  "Quartermaster provides tools under rules. You may use the tools that are listed. A call may have to wait for a " +
  "person's approval, or be denied; its result then says so, whether the tool was executed, and what to do next."

/** The first list of resources or prompts, and a call of an unknown tool, wait this long for other servers. */
const readyMs = 5000
/**
 * The first list of tools waits this long for servers that connect for the first time. Codex offers no tools at all when
 * the list takes a second; clients are notified of what comes later.
 */
const firstOfferMs = 700

export function mcpEndpoint(app: Quartermaster, options: McpEndpointOptions): McpEndpoint {
  const { version, waitMs = 45_000, lastsMs = 65_000, progressMs = 5000 } = options
  const { maxOpenCalls = 1000, keepEndedMs = 600_000, inClient = "medium", fastestAnswerMs = 500 } = options
  const tickets = new Tickets(app)
  const forms = { shows: (item: PendingItem) => isAskedInClient(item, inClient), fastestMs: fastestAnswerMs }
  const limits = { maxOpen: maxOpenCalls, keepEndedMs, fastestMs: fastestAnswerMs }
  const openCalls = new OpenCalls(app, limits, ({ identity, fingerprint }, ticket) =>
    tickets.addByFingerprint(identity.agentId, fingerprint, ticket),
  )
  const changes = new ListChangeWatcher(app)
  const ready = app.mcp.ready(readyMs).catch(() => {})
  const offered = app.mcp.ready(firstOfferMs, { unpinned: true }).catch(() => {})
  const servers = { ready, areReady: false }
  void ready.then(() => (servers.areReady = true))
  const patience = new ClientPatience({ waitMs, lastsMs })
  const parts: EndpointParts = { app, openCalls, tickets, waitMs, progressMs, patience, servers, forms }

  return {
    server(identity, kind) {
      const server = new PerClientServer(app, identity.agentId, { version, instructions })
      setHandlers(server, identity, kind)
      if (kind.era === "legacy" || kind.isPersistent === true)
        server.announceChanges((listener) => changes.listen(listener))
      return server
    },
    wantsLogs: (server) => server instanceof PerClientServer && server.logLevel !== undefined,
    onListChanged: (listener) => changes.listen(listener),
    async subscribe({ agentId }, uris) {
      const subscriptions = new ClientSubscriptions(app, agentId)
      await Promise.allSettled(uris.map((uri) => subscriptions.add(uri)))
      return () => subscriptions.close()
    },
    callTool: (request) => callTool(parts, request),
    tickets,
    openCalls,
    async close() {
      changes.close()
      openCalls.close()
    },
  }

  function setHandlers(server: PerClientServer, identity: ClientIdentity, { era, session }: ServerKind): void {
    const { agentId } = identity
    const toRequest = (context: ServerContext, tool: string, input: unknown, mayAsk = true): InteractiveRequest => {
      const abilities = mayAsk ? capabilitiesOf(era, context, server.getClientCapabilities()) : noAbilities
      const traceId = traceIdIn({ ...context.mcpReq._meta, ...context.mcpReq.envelope })
      return {
        identity,
        era,
        sessionId: session?.id,
        context,
        client: JSON.stringify([agentId, identity.tokenId, clientInfoOf(era, context, server.getClientVersion())]),
        abilities,
        logLevel: server.logLevel,
        tool,
        input,
        traceId,
      }
    }
    const callOf = (context: ServerContext, mayAsk?: boolean) => (tool: string, input: unknown) =>
      serveCall(parts, toRequest(context, tool, input, mayAsk))

    server.setRequestHandler("tools/list", async () => {
      await offered
      return { tools: [...toolList(app, agentId).tools] }
    })
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const { name, arguments: input = {} } = params
      const answer = await callTool(parts, toRequest(context, name, input))
      if ("required" in answer) return answer.required
      if ("result" in answer) return server.projectCallToolResult(answer.result, answer.outputSchema)
      const { code, message, data } = answer.fault
      throw new ProtocolError(code, message, data)
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
      server.logLevel = params.level satisfies LoggingLevel
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
