import type { App } from "../model/app.ts"
import type { AgentView } from "../model/organisation.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { mcpDefinitions, toLLMTools, type LLMFormat, type LLMTools } from "./formats.ts"
import type { ToolRegistry } from "./registry.ts"

/** Which tools an agent may see. */
interface Discovery {
  readonly version: string
  discoverToolsForAgent(agentId: string): readonly RegisteredTool[]
  mayKnow(agentId: string, name: string): boolean
}

interface AgentTools extends Pick<
  App,
  "visibleTools" | "toolsInDialect" | "inputSchemaOf" | "isVisible" | "mcpTools" | "wireName" | "toolListVersion"
> {
  toolsFor<Format extends LLMFormat = "openai">(agentId: string, options?: { format?: Format }): LLMTools[Format]
  getToolDefinitionsForAgent(agentId: string): LLMTools["openai"]
}

/** The tools an agent may see, in the forms that models, MCP clients and other callers need. */
export function agentTools(
  registry: ToolRegistry,
  discovery: Discovery,
  viewOf: (agentId: string) => AgentView | undefined,
): AgentTools {
  const shownTools = (agentId: string) => {
    const who = viewOf(agentId)
    return discovery.discoverToolsForAgent(agentId).map((tool) => registry.inDialectOf(who, tool))
  }
  const toolsFor: AgentTools["toolsFor"] = (agentId, { format } = {}) =>
    toLLMTools(shownTools(agentId), format ?? "openai", registry.wireNamesWithAliases()) as never
  return {
    toolsInDialect: shownTools,
    toolsFor,
    getToolDefinitionsForAgent: (agentId) => toolsFor(agentId),
    mcpTools: (agentId) => mcpDefinitions(shownTools(agentId), registry.wireNamesWithAliases()),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    isVisible: (agentId, tool) => discovery.mayKnow(agentId, tool),
    inputSchemaOf(agentId, name) {
      const who = viewOf(agentId)
      const tool = registry.resolve(name, who)
      if (tool === undefined || !discovery.mayKnow(agentId, name)) return undefined
      return (registry.alias(name, who) ?? tool).input.json
    },
    wireName: (tool) => registry.wireNames().toWire(tool),
    toolListVersion: () => discovery.version,
  }
}
