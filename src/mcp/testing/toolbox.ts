import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { McpServerSpec, McpToolDefinition } from "../../model/mcp.ts"
import { temporaryFolder } from "../../testing/open.ts"

/** What a toolbox offers. */
export interface Offered {
  tools: unknown[]
  resources?: unknown[]
  prompts?: unknown[]
  /** What its tools answer, true or not. */
  results?: Record<string, unknown>
}

/** A real server on stdio that offers what a test says; see toolbox.mjs. */
export interface Toolbox {
  /** How the configuration names it. */
  command: { command: string; args: string[] }
  spec(name: string, given?: Partial<McpServerSpec>): McpServerSpec
  /** What it offers from now on; a client that has connected is not told. */
  offer(offered: Offered): void
  /** What it was asked to do, in order. */
  calls(): string[]
}

export function toolbox(offered: Offered): Toolbox {
  const file = join(temporaryFolder(), "offer.json")
  const offer = (given: Offered) => writeFileSync(file, JSON.stringify(given))
  offer(offered)
  const command = { command: process.execPath, args: [join(import.meta.dirname, "toolbox.mjs"), file] }
  return {
    command,
    spec: (name, given = {}) => ({ name, enabled: true, ...command, ...usual, ...given }),
    offer,
    calls: () => (existsSync(`${file}.calls`) ? readFileSync(`${file}.calls`, "utf8").trim().split("\n") : []),
  }
}

const usual = { layer: "system", prefix: true, trust: "first", sampling: "refuse", roots: "workspace" } as const

/** A tool that takes a text, unless the test says otherwise. */
export function definition(name: string, given: Partial<McpToolDefinition> = {}): McpToolDefinition {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    ...given,
  }
}
