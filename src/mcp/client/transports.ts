import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { Agent } from "undici"
import type { McpServerSpec } from "../../model/mcp.ts"
import { FloodGate } from "./flood.ts"
import { boundedFetch, WatchedTransport } from "./http.ts"
import type { Access } from "./oauth.ts"
import type { TransportKind } from "./spec.ts"
import { StdioTransport } from "./stdio.ts"

/** A way to a server that is not yet used. */
export interface Way {
  readonly kind: TransportKind
  readonly transport: Transport
  readonly child?: StdioTransport | undefined
  /** Says goodbye where the protocol has a word for it, and lets go of everything. */
  close(): Promise<void>
}

/** Makes the way; nothing is started yet. */
export function wayTo(
  spec: McpServerSpec,
  kind: TransportKind,
  cwd: string,
  onFlood: () => void,
  access?: Access,
): Way {
  return kind === "stdio" ? wayToChild(spec, cwd, onFlood) : wayToUrl(spec, kind, onFlood, access)
}

function wayToChild(spec: McpServerSpec, workspace: string, onFlood: () => void): Way {
  const child = new StdioTransport(spec, spec.cwd ?? workspace, onFlood)
  return { kind: "stdio", transport: child, child, close: () => child.close() }
}

function wayToUrl(spec: McpServerSpec, kind: "http" | "sse", onFlood: () => void, access: Access | undefined): Way {
  // Most servers close what is idle for 5 s; a call that meets that moment could not be made again.
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: 0, keepAliveTimeout: 4000, connect: { timeout: 10_000 } })
  const gate = new FloodGate(onFlood)
  const fetch = boundedFetch(agent, gate)
  const options = {
    fetch: access?.watch(fetch) ?? fetch,
    requestInit: { headers: { ...spec.headers } },
    ...(access === undefined ? {} : { authProvider: access.provider }),
  }
  const url = new URL(spec.url!)
  if (kind === "sse") {
    const inner = new SSEClientTransport(url, options)
    const transport = new WatchedTransport(inner, gate)
    return { kind, transport, close: () => letGo(transport, agent) }
  }
  const inner = new StreamableHTTPClientTransport(url, {
    ...options,
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 4,
    },
  })
  const transport = new WatchedTransport(inner, gate)
  return {
    kind,
    transport,
    async close() {
      if (inner.sessionId !== undefined) await Promise.race([inner.terminateSession().catch(() => {}), brief()])
      await letGo(transport, agent)
    },
  }
}

async function letGo(transport: Transport, agent: Agent): Promise<void> {
  await transport.close().catch(() => {})
  await agent.destroy().catch(() => {})
}

function brief(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500).unref())
}
