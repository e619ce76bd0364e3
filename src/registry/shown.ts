import type { App } from "../model/app.ts"
import type { AgentView } from "../model/organisation.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { mcpDefinitions, toLLMTools, type LLMFormat, type LLMTools } from "./formats.ts"
import type { ToolRegistry } from "./registry.ts"

/** Which tools an agent may know of. */
interface Discovery {
  readonly version: string
  discoverToolsForAgent(agentId: string): readonly RegisteredTool[]
  mayKnow(agentId: string, name: string): boolean
}

interface Shown extends Pick<
  App,
  "visibleTools" | "shownTools" | "inputOf" | "mayKnow" | "mcpTools" | "wireName" | "listVersion"
> {
  toolsFor<Format extends LLMFormat = "openai">(agentId: string, options?: { format?: Format }): LLMTools[Format]
  getToolDefinitionsForAgent(agentId: string): LLMTools["openai"]
}

/** What agents, their models and their clients are told of the tools they may know of. */
export function shown(
  registry: ToolRegistry,
  discovery: Discovery,
  viewOf: (agentId: string) => AgentView | undefined,
): Shown {
  const shownTools = (agentId: string) => {
    const who = viewOf(agentId)
    return discovery.discoverToolsForAgent(agentId).map((tool) => registry.shownTo(who, tool))
  }
  const toolsFor: Shown["toolsFor"] = (agentId, { format } = {}) =>
    toLLMTools(shownTools(agentId), format ?? "openai", registry.naming()) as never
  return {
    shownTools,
    toolsFor,
    getToolDefinitionsForAgent: (agentId) => toolsFor(agentId),
    mcpTools: (agentId) => mcpDefinitions(shownTools(agentId), registry.naming()),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    mayKnow: (agentId, tool) => discovery.mayKnow(agentId, tool),
    inputOf(agentId, name) {
      const who = viewOf(agentId)
      const tool = registry.resolve(name, who)
      if (tool === undefined || !discovery.mayKnow(agentId, name)) return undefined
      return (registry.alias(name, who) ?? tool).input.json
    },
    wireName: (tool) => registry.wireNames().toWire(tool),
    listVersion: () => discovery.version,
  }
}
