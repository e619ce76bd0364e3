import { createMcpHandler, type McpHandlerRequestOptions, type McpHttpHandler } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import { speakerOf } from "./auth.ts"
import type { ListChange, McpDoor } from "./door.ts"
import type { WebExchange } from "./http.ts"

export interface ModernLeg {
  post(exchange: WebExchange): Promise<Response>
  fetch(agentId: string, web: Request, options: McpHandlerRequestOptions): Promise<Response>
  close(): Promise<void>
}

/**
 * Serves requests that carry their own envelope, each by a server of its own. One handler an agent: what is announced
 * to the clients of one agent is not heard by those of another.
 */
export function modernLeg(app: App, door: McpDoor): ModernLeg {
  const handlers = new Map<string, McpHttpHandler>()
  const stop = door.onListChanged((change) => {
    for (const [agentId, handler] of handlers) {
      if (change.what === "resource" && !app.mayKnow(agentId, mcpName(change.server, mcpParts.read))) continue
      announce(handler, change)
    }
  })
  const fetch: ModernLeg["fetch"] = (agentId, web, options) => handlerOf(agentId).fetch(web, options)

  return {
    fetch,
    async post({ web, auth, body, response, speaker }) {
      const answered = await fetch(speaker.agentId, web, { authInfo: auth, parsedBody: body })
      const uris = listenedTo(body)
      if (uris.length > 0 && answered.status === 200) {
        const ended = door.subscribe(speaker, uris)
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
    const made = createMcpHandler(({ authInfo }) => door.server(speakerOf(authInfo), { era: "modern" }), {
      legacy: "reject",
    })
    handlers.set(agentId, made)
    return made
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
      // By both names it may have here; a client hears the one it listens to.
      notify.resourceUpdated(change.uri)
      return notify.resourceUpdated(`${change.server}+${change.uri}`)
  }
}

/** The resources whose changes a request asks to be told of. */
function listenedTo(body: unknown): string[] {
  const { method, params } = body as {
    method?: unknown
    params?: { notifications?: { resourceSubscriptions?: unknown } }
  }
  if (method !== "subscriptions/listen") return []
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri): uri is string => typeof uri === "string") : []
}
