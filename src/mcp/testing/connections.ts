import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { silentLogger } from "../../model/logger.ts"
import type { McpServerSpec } from "../../model/mcp.ts"
import { Connection, type Asking, type ConnectionHost, type Offer } from "../client/connection.ts"

export const stubServer = fileURLToPath(new URL("./stub-server.mjs", import.meta.url))

/** A server of the configuration that is the stub, doing as told. */
export function stubSpec(told: Record<string, unknown> = {}, spec: Partial<McpServerSpec> = {}): McpServerSpec {
  return plainSpec({ command: process.execPath, args: [stubServer, JSON.stringify(told)], ...spec })
}

export function plainSpec(spec: Partial<McpServerSpec>): McpServerSpec {
  return {
    name: "stub",
    enabled: true,
    layer: "system",
    prefix: true,
    trust: "first",
    sampling: "refuse",
    roots: "workspace",
    ...spec,
  }
}

/** A connection that is closed after the test, with everything it told its host. */
export function connect(spec: McpServerSpec, host: Partial<ConnectionHost> = {}): Heard & { connection: Connection } {
  const heard: Heard = { offers: [], states: [], updates: [], warnings: [], infos: [] }
  const connection: Connection = new Connection(spec, {
    logger: {
      ...silentLogger,
      warn: (message) => heard.warnings.push(message),
      info: (message, details) => heard.infos.push({ message, details }),
    },
    workspace: process.cwd(),
    version: "0.0.0",
    onOffer: (offer) => heard.offers.push(offer),
    onState: () => heard.states.push(connection.state.state),
    onResourceUpdated: (uri) => heard.updates.push(uri),
    ...host,
  })
  onTestFinished(() => connection.close())
  return { connection, ...heard }
}

interface Heard {
  offers: Offer[]
  states: string[]
  updates: string[]
  warnings: string[]
  infos: { message: string; details: unknown }[]
}

/** A call of one agent that nobody cancels. */
export function asking(given: Partial<Asking> = {}): Asking {
  return { callId: "call", agentId: "ada", signal: new AbortController().signal, timeoutMs: 10_000, ...given }
}

/** What a result says in words. */
export function textOf(result: Readonly<Record<string, unknown>>): string {
  return (result["content"] as { text: string }[]).map(({ text }) => text).join("")
}

/** Whether a process runs; what has ended and was not yet fetched by its parent does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Waits until something is so; fails when it takes too long. */
export async function until(isSo: () => boolean, milliseconds = 30_000): Promise<void> {
  const end = Date.now() + milliseconds
  while (!isSo()) {
    if (Date.now() > end) throw new Error("It did not come to be so.")
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** A file in which a stub writes the processes it consists of. */
export function processLog(): { log: string; pids(): number[] } {
  const dir = mkdtempSync(join(tmpdir(), "qm-mcp-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const log = join(dir, "pids")
  return { log, pids: () => readFileSync(log, "utf8").trim().split("\n").map(Number) }
}
