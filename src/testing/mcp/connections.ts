import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import type { McpServerSpec } from "../../core/mcp.ts"
import { Connection } from "../../mcp-servers/connection.ts"
import type { RequestContext, ConnectionHost, Offer } from "../../mcp-servers/connection-types.ts"

export const stubServer = fileURLToPath(new URL("./stub-server.mjs", import.meta.url))

/** The configuration of a stub server with that behaviour. */
export function stubSpec(behaviour: Record<string, unknown> = {}, spec: Partial<McpServerSpec> = {}): McpServerSpec {
  return plainSpec({ command: process.execPath, args: [stubServer, JSON.stringify(behaviour)], ...spec })
}

export function plainSpec(spec: Partial<McpServerSpec>): McpServerSpec {
  return {
    name: "stub",
    enabled: true,
    layer: "system",
    prefix: true,
    trust: "first",
    sampling: "refuse",
    ...spec,
  }
}

/** A connection that is closed after the test, with everything it reported. */
export function openConnection(
  spec: McpServerSpec,
  host: Partial<ConnectionHost> = {},
): ConnectionLog & { connection: Connection } {
  const log: ConnectionLog = { offers: [], states: [], updates: [], warnings: [], infos: [] }
  const connection: Connection = new Connection(spec, {
    logger: {
      ...silentLogger,
      warn: (message) => log.warnings.push(message),
      info: (message, details) => log.infos.push({ message, details }),
    },
    workspace: process.cwd(),
    version: "0.0.0",
    onOffer: (offer) => log.offers.push(offer),
    onState: () => log.states.push(connection.state.state),
    onResourceUpdated: (uri) => log.updates.push(uri),
    ...host,
  })
  onTestFinished(() => connection.close())
  return { connection, ...log }
}

interface ConnectionLog {
  offers: Offer[]
  states: string[]
  updates: string[]
  warnings: string[]
  infos: { message: string; details: unknown }[]
}

/** The context of a call that is not cancelled. */
export function requestContext(context: Partial<RequestContext> = {}): RequestContext {
  return { callId: "call", agentId: "ada", signal: new AbortController().signal, timeoutMs: 10_000, ...context }
}

/** The text content of a result. */
export function textOf(result: Readonly<Record<string, unknown>>): string {
  return (result["content"] as { text: string }[]).map(({ text }) => text).join("")
}

/** Reports whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Waits until the condition holds; fails when it takes too long. */
export async function until(condition: () => boolean, milliseconds = 30_000): Promise<void> {
  const end = Date.now() + milliseconds
  while (!condition()) {
    if (Date.now() > end) throw new Error("The condition was not met in time.")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A file to which a stub writes the ids of its processes. */
export function processLog(): { log: string; pids(): number[] } {
  const dir = mkdtempSync(join(tmpdir(), "qm-mcp-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const log = join(dir, "pids")
  return { log, pids: () => readFileSync(log, "utf8").trim().split("\n").map(Number) }
}
