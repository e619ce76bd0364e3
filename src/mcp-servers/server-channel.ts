import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { Agent } from "undici"
import type { McpServerSpec } from "../core/mcp.ts"
import { MessageRateLimiter } from "./message-rate.ts"
import { boundedFetch, LimitedTransport } from "./http-transport.ts"
import type { OAuthAccess } from "./oauth.ts"
import type { TransportKind } from "./server-spec.ts"
import { StdioTransport } from "./stdio-transport.ts"

/** A transport to a server, with what is needed to close it. */
export interface ServerChannel {
  readonly kind: TransportKind
  readonly transport: Transport
  readonly child?: StdioTransport
  /** Ends the server's session, if there is one, and releases everything. */
  close(): Promise<void>
}

/** Creates the transport without starting it. */
export function createChannel(
  spec: McpServerSpec,
  kind: TransportKind,
  cwd: string,
  onFlood: () => void,
  access?: OAuthAccess,
): ServerChannel {
  return kind === "stdio" ? childChannel(spec, cwd, onFlood) : urlChannel(spec, kind, onFlood, access)
}

function childChannel(spec: McpServerSpec, workspace: string, onFlood: () => void): ServerChannel {
  const child = new StdioTransport(spec, spec.cwd ?? workspace, onFlood)
  return { kind: "stdio", transport: child, child, close: () => child.close() }
}

function urlChannel(
  spec: McpServerSpec,
  kind: "http" | "sse",
  onFlood: () => void,
  access: OAuthAccess | undefined,
): ServerChannel {
  // Most servers close connections that were idle for 5 s; a call sent at that moment would fail.
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: 0, keepAliveTimeout: 4000, connect: { timeout: 10_000 } })
  const limiter = new MessageRateLimiter(onFlood)
  const fetch = boundedFetch(agent, limiter)
  const options = {
    fetch: access?.wrapFetch(fetch) ?? fetch,
    requestInit: { headers: { ...spec.headers } },
    ...(access === undefined ? {} : { authProvider: access.provider }),
  }
  const url = new URL(spec.url!)
  if (kind === "sse") {
    const inner = new SSEClientTransport(url, options)
    const transport = new LimitedTransport(inner, limiter)
    return { kind, transport, close: () => closeTransport(transport, agent) }
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
  const transport = new LimitedTransport(inner, limiter)
  return {
    kind,
    transport,
    async close() {
      if (inner.sessionId !== undefined) await Promise.race([inner.terminateSession().catch(() => {}), shortDelay()])
      await closeTransport(transport, agent)
    },
  }
}

async function closeTransport(transport: Transport, agent: Agent): Promise<void> {
  await transport.close().catch(() => {})
  await agent.destroy().catch(() => {})
}

function shortDelay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500).unref())
}
