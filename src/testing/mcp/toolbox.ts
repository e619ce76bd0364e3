import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { McpServerSpec, McpToolDefinition } from "../../core/mcp.ts"
import { temporaryFolder } from "../test-app.ts"

/** The offer of a toolbox. */
export interface ToolboxOffer {
  tools: unknown[]
  resources?: unknown[]
  prompts?: unknown[]
  /** The results of its tools, valid or not. */
  results?: Record<string, unknown>
}

/** A real server on stdio that offers what a test wants; see toolbox.mjs. */
export interface Toolbox {
  /** Its command for the configuration. */
  command: { command: string; args: string[] }
  spec(name: string, options?: Partial<McpServerSpec>): McpServerSpec
  /** Changes what it offers, without a notification. */
  offer(offered: ToolboxOffer): void
  /** The calls it received, in order. */
  calls(): string[]
}

export function toolbox(offered: ToolboxOffer): Toolbox {
  const file = join(temporaryFolder(), "offer.json")
  const offer = (options: ToolboxOffer) => writeFileSync(file, JSON.stringify(options))
  offer(offered)
  const command = { command: process.execPath, args: [join(import.meta.dirname, "toolbox.mjs"), file] }
  return {
    command,
    spec: (name, options = {}) => ({ name, enabled: true, ...command, ...defaults, ...options }),
    offer,
    calls: () => (existsSync(`${file}.calls`) ? readFileSync(`${file}.calls`, "utf8").trim().split("\n") : []),
  }
}

const defaults = { layer: "system", prefix: true, trust: "first", sampling: "refuse" } as const

/** A tool that takes a text, unless the options change that. */
export function definition(name: string, options: Partial<McpToolDefinition> = {}): McpToolDefinition {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    ...options,
  }
}
