import type { JsonSchema } from "../core/schema.ts"
import type { McpToolDefinition } from "../core/mcp.ts"
import { nearestName } from "../lib/nearest-name.ts"
import type { Agent, AgentView } from "../core/organisation.ts"
import type { RegisteredTool } from "../core/tool.ts"
import { withIntent } from "../schema/intent.ts"
import { mcpDefinitions, toLLMTools, type LLMFormat, type LLMTools } from "./formats.ts"
import type { ToolRegistry } from "./registry.ts"

/** Finds the tools an agent may see. */
interface Discovery {
  readonly version: string
  discoverToolsForAgent(agentId: string): readonly RegisteredTool[]
  mayKnow(agentId: string, name: string): boolean
  find(agentId: string, name: string): RegisteredTool | undefined
}

/**
 * Options of `toolsFor` on the tools an agent may see: with `groups` or `tools` only those that one of the two names.
 */
export interface ToolsForOptions<Format extends LLMFormat = LLMFormat> {
  format?: Format
  groups?: readonly string[]
  /** Names of tools, each as a call may write it. A tool that the agent may not see is left out. */
  tools?: readonly string[]
}

/** The agents. One that has ended is found, and has no view. */
interface Agents {
  view(agentId: string): AgentView | undefined
  findAgent(agentId: string): Agent | undefined
  listAgents(): readonly Agent[]
}

/** The tools of an agent, as models, MCP clients and people see them. */
export interface AgentTools {
  /** The tools an agent may see and call, sorted by name. */
  visibleTools(agentId: string): readonly RegisteredTool[]
  /**
   * A tool by its own name or its name in a dialect, also one that no agent may use. For people, never for an agent.
   */
  findTool(name: string): RegisteredTool | undefined
  /** The same tools under the names of the agent's dialect. */
  toolsInDialect(agentId: string): readonly RegisteredTool[]
  /** A tool by any name that a call may write. Undefined when the agent may not see it. */
  visibleTool(agentId: string, name: string): RegisteredTool | undefined
  /** The input schema of a tool, or of an alias in a dialect. Undefined when the agent may not see the tool. */
  inputSchemaOf(agentId: string, name: string): JsonSchema | undefined
  /** Reports whether the agent may see this tool, also when it is exposed as a resource or prompt or only inside. */
  isVisible(agentId: string, tool: string): boolean
  /** The visible tools as MCP clients are shown them, sorted by wire name. */
  mcpTools(agentId: string): readonly McpToolDefinition[]
  /** The name of a tool for models and MCP clients. */
  wireName(tool: string): string
  /** Changes whenever the list of visible tools of any agent may have changed. */
  toolListVersion(): string
  /**
   * The tools this agent may see, in the format of a model provider. `groups` and `tools` narrow the list; they do not change
   * what the agent may call. Throws for an agent that never was, and for a group that there is not.
   *
   * ```ts
   * app.toolsFor("operator", { format: "anthropic", groups: ["maths"], tools: ["translate"] })
   * ```
   */
  toolsFor<Format extends LLMFormat = "openai">(agentId: string, options?: ToolsForOptions<Format>): LLMTools[Format]
  /** The definitions of the tools this agent may use, in OpenAI format. */
  getToolDefinitionsForAgent(agentId: string): LLMTools["openai"]
}

/** The tools an agent may see, in the forms that models, MCP clients and other callers need. */
export function agentTools(registry: ToolRegistry, discovery: Discovery, org: Agents, askIntent: boolean): AgentTools {
  const viewOf = (agentId: string) => org.view(agentId)
  const change = askIntent ? withIntent : undefined
  const definitions = new WeakMap<readonly RegisteredTool[], readonly McpToolDefinition[]>()
  const shownTools = (agentId: string) => {
    const who = viewOf(agentId)
    return discovery.discoverToolsForAgent(agentId).map((tool) => registry.inDialectOf(who, tool))
  }
  const narrowed = (agentId: string, { groups, tools }: ToolsForOptions) => {
    const visible = discovery.discoverToolsForAgent(agentId)
    if (groups === undefined && tools === undefined) return visible
    const named = new Set(tools?.map((name) => discovery.find(agentId, name)?.name))
    return visible.filter((tool) => named.has(tool.name) || registry.inGroups(tool, groups ?? []))
  }
  const definitionsOf: AgentTools["toolsFor"] = (agentId, options = {}) => {
    const who = viewOf(agentId)
    const shown = narrowed(agentId, options).map((tool) => registry.inDialectOf(who, tool))
    return toLLMTools(shown, options.format ?? "openai", registry.wireNamesWithAliases(), change) as never
  }
  return {
    toolsInDialect: shownTools,
    toolsFor(agentId, options) {
      if (viewOf(agentId) === undefined && org.findAgent(agentId) === undefined) throw noSuchAgent(agentId, org)
      for (const group of options?.groups ?? [])
        if (!registry.groups.hasGroup(group)) throw noSuchGroup(group, registry)
      return definitionsOf(agentId, options)
    },
    getToolDefinitionsForAgent: (agentId) => definitionsOf(agentId),
    mcpTools(agentId) {
      // The list of visible tools is another object as soon as anything about it changes.
      const visible = discovery.discoverToolsForAgent(agentId)
      const known =
        definitions.get(visible) ?? mcpDefinitions(shownTools(agentId), registry.wireNamesWithAliases(), change)
      definitions.set(visible, known)
      return known
    },
    findTool: (name) => registry.get(name) ?? registry.get(registry.canonicalName(name)),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    isVisible: (agentId, tool) => discovery.mayKnow(agentId, tool),
    visibleTool: (agentId, name) => discovery.find(agentId, name),
    inputSchemaOf(agentId, name) {
      const tool = discovery.find(agentId, name)
      return tool && (registry.alias(name, viewOf(agentId)) ?? tool).input.json
    },
    wireName: (tool) => registry.wireNames().toWire(tool),
    toolListVersion: () => discovery.version,
  }
}

function noSuchGroup(group: string, { groups }: ToolRegistry): Error {
  const known = groups.getAllGroupIds()
  const guess = nearestName(group, known)
  const help = guess === undefined ? `There are: ${known.join(", ")}.` : `Did you mean '${guess}'?`
  return new Error(`There is no group '${group}'. ${help}`)
}

function noSuchAgent(agentId: string, org: Agents): Error {
  const guess = nearestName(
    agentId,
    org.listAgents().map(({ id }) => id),
  )
  const help =
    guess === undefined
      ? "Add it under org.agents in the configuration, or with 'qm agents create'; 'operator' is always there."
      : `Did you mean '${guess}'?`
  return new Error(`There is no agent '${agentId}', so it has no tools. ${help}`)
}
