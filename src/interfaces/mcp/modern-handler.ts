import { createMcpHandler, type McpHandlerRequestOptions, type McpHttpHandler } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { mcpName, mcpParts } from "../../core/mcp.ts"
import { identityFromAuth } from "./auth.ts"
import type { McpEndpoint } from "./endpoint.ts"
import type { SdkExchange } from "./http-exchange.ts"
import type { ListChange } from "./list-changes.ts"

export interface ModernHandler {
  post(exchange: SdkExchange): Promise<Response>
  fetch(agentId: string, web: Request, options: McpHandlerRequestOptions): Promise<Response>
  close(): Promise<void>
}

/**
 * Serves requests that carry their own envelope, each with a new server. Every agent has its own handler, so that
 * notifications for the clients of one agent do not reach those of another.
 */
export function modernHandler(app: Quartermaster, endpoint: McpEndpoint): ModernHandler {
  const handlers = new Map<string, McpHttpHandler>()
  const stop = endpoint.onListChanged((change) => {
    for (const [agentId, handler] of handlers) {
      if (change.what === "resource" && !app.isVisible(agentId, mcpName(change.server, mcpParts.read))) continue
      announce(handler, change)
    }
  })
  const fetch: ModernHandler["fetch"] = (agentId, web, options) => handlerOf(agentId).fetch(web, options)

  return {
    fetch,
    async post({ web, auth, body, response, identity }) {
      const answered = await fetch(identity.agentId, web, { authInfo: auth, parsedBody: body })
      const uris = listenedTo(body)
      if (uris.length > 0 && answered.status === 200) {
        const ended = endpoint.subscribe(identity, uris)
        response.once("close", () => void ended.then((end) => end()).catch(() => {}))
      }
      return answered
    },
    async close() {
      stop()
      await Promise.all([...handlers.values()].map((handler) => handler.close()))
    },
  }

  function handlerOf(agentId: string): McpHttpHandler {
    const known = handlers.get(agentId)
    if (known !== undefined) return known
    const created = createMcpHandler(({ authInfo }) => endpoint.server(identityFromAuth(authInfo), { era: "modern" }), {
      legacy: "reject",
    })
    handlers.set(agentId, created)
    return created
  }
}

function announce({ notify }: McpHttpHandler, change: ListChange): void {
  switch (change.what) {
    case "tools":
      return notify.toolsChanged()
    case "resources":
      return notify.resourcesChanged()
    case "prompts":
      return notify.promptsChanged()
    case "resource":
      // A resource can have two URIs here; a client is notified of the one it listens to.
      notify.resourceUpdated(change.uri)
      return notify.resourceUpdated(`${change.server}+${change.uri}`)
  }
}

/** The resources that a request subscribes to. */
function listenedTo(body: unknown): string[] {
  const { method, params } = body as {
    method?: unknown
    params?: { notifications?: { resourceSubscriptions?: unknown } }
  }
  if (method !== "subscriptions/listen") return []
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === "string") : []
}
