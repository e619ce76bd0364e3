import type { Organisation } from "../org/organisation.ts"
import type { Policy } from "../policy/decide/policy.ts"
import type { Tools } from "../registry/tools.ts"
import type { AgentView } from "../core/organisation.ts"
import type { LevelOrder } from "../core/permission.ts"
import type { RegisteredTool } from "../core/tool.ts"
import { hiddenBecause } from "../policy/decide/visible.ts"
import { byBareMcpName } from "./state/bare-mcp-name.ts"

/**
 * Finds the tools visible to an agent. The step `visible` of a call asks the same checks, so a listed tool can be
 * called.
 */
export class ToolDiscovery {
  readonly #tools: Tools
  readonly #organisation: Organisation
  readonly #levelOrder: LevelOrder
  readonly #policy: Pick<Policy, "hiddenByRule" | "version"> | undefined
  readonly #lists = new Map<string, { version: string; tools: readonly RegisteredTool[] }>()

  constructor(
    tools: Tools,
    organisation: Organisation,
    levelOrder: LevelOrder = "asc",
    policy?: Pick<Policy, "hiddenByRule" | "version">,
  ) {
    this.#tools = tools
    this.#organisation = organisation
    this.#levelOrder = levelOrder
    this.#policy = policy
  }

  /** Changes whenever a list may change. */
  get version(): string {
    return `${this.#tools.version}/${this.#organisation.version}/${this.#policy?.version}`
  }

  /** Reports whether a tool is visible to the agent, also one that is not in the list of tools. */
  mayKnow(agentId: string, name: string): boolean {
    return this.find(agentId, name) !== undefined
  }

  /** The tool that a call of this agent by this name means, if it is visible to the agent. */
  find(agentId: string, name: string): RegisteredTool | undefined {
    const who = this.#organisation.view(agentId)
    const isVisible = (found: RegisteredTool) => this.#isVisible(found, who)
    const tool = this.#tools.resolve(name, who) ?? byBareMcpName(name, who, this.#tools, isVisible)
    return tool !== undefined && isVisible(tool) ? tool : undefined
  }

  #isVisible(tool: RegisteredTool, who: AgentView | undefined): boolean {
    return hiddenBecause(tool, who, this.#tools, this.#levelOrder, this.#policy) === undefined
  }

  /** In the order of their names. An unknown agent has none. */
  discoverToolsForAgent(agentId: string): readonly RegisteredTool[] {
    const { version } = this
    const cached = this.#lists.get(agentId)
    if (cached?.version === version) return cached.tools
    const tools = this.#visibleTo(agentId)
    if (this.#lists.size > 20_000) this.#lists.clear()
    this.#lists.set(agentId, { version, tools })
    return tools
  }

  #visibleTo(agentId: string): RegisteredTool[] {
    const who = this.#organisation.view(agentId)
    if (who === undefined) return []
    const visible: RegisteredTool[] = []
    for (const name of this.#tools.namesIn(who.groups, who)) {
      const tool = this.#tools.resolve(name, who)
      if (tool === undefined || (tool.exposedAs ?? "tool") !== "tool") continue
      if (this.#isVisible(tool, who)) visible.push(tool)
    }
    return visible.sort((one, other) => (one.name < other.name ? -1 : 1))
  }
}
