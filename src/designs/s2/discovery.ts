import type { ToolRegistry } from "./registry.ts"
import type { Agent, Tool } from "./types.ts"

/** Finds the tools an agent may use. A subclass may find agents by its own `getAgent`. */
export class ToolDiscovery {
  protected readonly registry: ToolRegistry

  constructor(registry: ToolRegistry) {
    this.registry = registry
  }

  /** In the order in which they were registered. An unknown agent has none. */
  async discoverToolsForAgent(agentId: string): Promise<Tool[]> {
    const agent = await this.getAgent(agentId)
    if (agent === undefined) return []
    const app = await this.registry.appFor(agent).open()
    const visible = new Set(app.toolsInDialect(agentId).map(({ name }) => name))
    return this.registry.listTools().filter(({ name }) => visible.has(name))
  }

  protected getAgent(agentId: string): Agent | undefined | Promise<Agent | undefined> {
    return this.registry.findAgent(agentId)
  }
}
