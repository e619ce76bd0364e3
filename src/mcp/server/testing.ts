import { Client, InMemoryTransport, type ClientOptions } from "@modelcontextprotocol/client"
import type { Transport } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { onTestFinished } from "vitest"
import type { App } from "../../model/app.ts"
import { mcpDoor, type DoorOptions, type McpDoor, type Speaker } from "./door.ts"

export const eras = ["legacy", "modern"] as const
export type Era = (typeof eras)[number]

/** A door that is closed after the test. */
export function doorOf(app: App, options: Partial<DoorOptions> = {}): McpDoor {
  const door = mcpDoor(app, { version: "1.2.3", ...options })
  onTestFinished(() => door.close())
  return door
}

export interface Connected {
  client: Client
  /** What it was told without asking, by method. */
  told: { method: string; params?: Record<string, unknown> | undefined }[]
}

/** A stock client of that era at a door, as somebody. */
export async function connect(
  door: McpDoor,
  era: Era,
  speaker: Partial<Speaker> = {},
  options: ClientOptions & { prepare?: (client: Client) => void } = {},
): Promise<Connected> {
  const [there, here] = InMemoryTransport.createLinkedPair()
  const whole: Speaker = { agentId: "operator", ...speaker }
  serveStdio(({ era: served }) => door.server(whole, { era: served, lasts: true }), { transport: here as Transport })
  const { prepare, ...given } = options
  const client = new Client(
    { name: "test", version: "1" },
    {
      ...given,
      versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
    },
  )
  const told: Connected["told"] = []
  client.fallbackNotificationHandler = async (notification) => void told.push(notification as never)
  prepare?.(client)
  await client.connect(there)
  onTestFinished(() => client.close())
  return { client, told }
}

/** A client whose person answers forms as the test says. */
export function answering(
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
