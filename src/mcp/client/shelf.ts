import { messageOf } from "../../model/message.ts"
import type { Tool } from "../../model/tool.ts"
import type { McpServerSpec } from "../../model/mcp.ts"
import type { ServersHost } from "./servers.ts"

/** A tool that should be registered; the key changes with everything that makes it another one. */
export interface Wanted {
  readonly key: string
  make(): Tool
}

/** The place of one server's tools in the registry. */
export class Shelf {
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

  /** Registers what is new or another, and takes away what is no longer wanted. Says whether anything changed. */
  hold(wanted: ReadonlyMap<string, Wanted>): boolean {
    const gone = [...this.#keys.keys()].filter((name) => !wanted.has(name))
    for (const name of gone) {
      this.#host.registry.unregister(name, { layer: this.#spec.layer })
      this.#keys.delete(name)
    }
    const other = [...wanted].filter(([name, { key }]) => this.#keys.get(name) !== key)
    for (const [name, one] of other) this.#place(name, one)
    return gone.length + other.length > 0
  }

  #place(name: string, { key, make }: Wanted): void {
    const { layer, name: server } = this.#spec
    try {
      this.#host.registry.register(make(), { layer, type: "mcp", replace: this.#keys.has(name) })
      this.#keys.set(name, key)
    } catch (error) {
      const why = messageOf(error)
      this.#host.logger.warn(`MCP server ${server}: ${name} is left out: ${why}`)
    }
  }
}
