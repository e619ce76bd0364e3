import { Client, InMemoryTransport, type ClientOptions } from "@modelcontextprotocol/client"
import type { Transport } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { onTestFinished } from "vitest"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { mcpEndpoint, type McpEndpointOptions, type McpEndpoint } from "./endpoint.ts"
import type { ClientIdentity } from "./client-identity.ts"

export const eras = ["legacy", "modern"] as const
export type Era = (typeof eras)[number]

/** An endpoint that is closed after the test. Its clients answer everything, as fast as programs do. */
export function openEndpoint(app: Quartermaster, options: Partial<McpEndpointOptions> = {}): McpEndpoint {
  const endpoint = mcpEndpoint(app, { version: "1.2.3", inClient: "all", fastestAnswerMs: 0, ...options })
  onTestFinished(() => endpoint.close())
  return endpoint
}

export interface Connected {
  client: Client
  /** The notifications it received. */
  notifications: { method: string; params?: Record<string, unknown> }[]
}

/** Connects the SDK's client of that era to an endpoint. */
export async function connectClient(
  endpoint: McpEndpoint,
  era: Era,
  identity: Partial<ClientIdentity> = {},
  options: ClientOptions & { prepare?: (client: Client) => void } = {},
): Promise<Connected> {
  const [there, here] = InMemoryTransport.createLinkedPair()
  const fullIdentity: ClientIdentity = { agentId: "operator", ...identity }
  serveStdio(({ era: served }) => endpoint.server(fullIdentity, { era: served, isPersistent: true }), {
    transport: here as Transport,
  })
  const { prepare, ...clientOptions } = options
  const client = new Client(
    { name: "test", version: "1" },
    {
      ...clientOptions,
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  )
  const notifications: Connected["notifications"] = []
  client.fallbackNotificationHandler = async (notification) => void notifications.push(notification as never)
  prepare?.(client)
  await client.connect(there)
  onTestFinished(() => client.close())
  return { client, notifications }
}

/** A client whose person answers forms as the test says. */
export function answeringClient(
  answer: (params: Record<string, unknown>) => Record<string, unknown> | Promise<Record<string, unknown>>,
): ClientOptions & { prepare: (client: Client) => void } {
  return {
    capabilities: { elicitation: { form: {}, url: {} } },
    prepare: (client) =>
      client.setRequestHandler("elicitation/create", async ({ params }) => (await answer(params as never)) as never),
  }
}

export function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text?: string }[] }
  return content.map(({ text }) => text ?? "").join("\n")
}
