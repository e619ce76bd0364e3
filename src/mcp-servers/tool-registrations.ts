import { errorMessage } from "../lib/error-message.ts"
import type { Tool } from "../core/tool.ts"
import type { McpServerSpec } from "../core/mcp.ts"
import type { ServersHost } from "./servers-host.ts"

/** A tool that should be registered. It is registered again when its key changes. */
export interface WantedTool {
  readonly key: string
  make(): Tool
}

/** The registered tools of one server. */
export class ToolRegistrations {
  readonly #spec: McpServerSpec
  readonly #host: Pick<ServersHost, "registry" | "logger">
  readonly #keys = new Map<string, string>()

  constructor(spec: McpServerSpec, host: Pick<ServersHost, "registry" | "logger">) {
    this.#spec = spec
    this.#host = host
  }

  has(name: string): boolean {
    return this.#keys.has(name)
  }

  /** Registers new and changed tools and removes those not wanted any more. Returns whether anything changed. */
  update(wanted: ReadonlyMap<string, WantedTool>): boolean {
    const removed = [...this.#keys.keys()].filter((name) => !wanted.has(name))
    for (const name of removed) {
      this.#host.registry.unregister(name, { layer: this.#spec.layer })
      this.#keys.delete(name)
    }
    const changed = [...wanted].filter(([name, { key }]) => this.#keys.get(name) !== key)
    for (const [name, tool] of changed) this.#register(name, tool)
    return removed.length + changed.length > 0
  }

  #register(name: string, { key, make }: WantedTool): void {
    const { layer, name: server } = this.#spec
    try {
      this.#host.registry.register(make(), { layer, type: "mcp", replace: this.#keys.has(name) })
      this.#keys.set(name, key)
    } catch (error) {
      const why = errorMessage(error)
      this.#host.logger.warn(`MCP server ${server}: ${name} is left out: ${why}`)
    }
  }
}
