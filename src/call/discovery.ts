import type { Organisation, Policy, Tools } from "../model/ports.ts"
import type { AgentView } from "../model/organisation.ts"
import type { LevelOrder } from "../model/permission.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { hiddenBecause } from "../policy/visible.ts"

/** Which tools an agent may know of. The walk asks the same question, so what is listed is what can be called. */
export class ToolDiscovery {
  readonly #tools: Tools
  readonly #organisation: Organisation
  readonly #levelOrder: LevelOrder
  readonly #policy: Pick<Policy, "hidden" | "version"> | undefined
  readonly #lists = new Map<string, { version: string; tools: readonly RegisteredTool[] }>()

  constructor(
    tools: Tools,
    organisation: Organisation,
    levelOrder: LevelOrder = "asc",
    policy?: Pick<Policy, "hidden" | "version">,
  ) {
    this.#tools = tools
    this.#organisation = organisation
    this.#levelOrder = levelOrder
    this.#policy = policy
  }

  /** Changes with everything a list depends on. */
  get version(): string {
    return `${this.#tools.version}/${this.#organisation.version}/${this.#policy?.version}`
  }

  /** Whether the agent may know of one thing by that name, be it in the list of tools or not. */
  mayKnow(agentId: string, name: string): boolean {
    const who = this.#organisation.view(agentId)
    const tool = this.#tools.resolve(name, who)
    return tool !== undefined && this.#isVisible(tool, who)
  }

  #isVisible(tool: RegisteredTool, who: AgentView | undefined): boolean {
    return hiddenBecause(tool, who, this.#tools, this.#levelOrder, this.#policy) === undefined
  }

  /** In the order of their names. An agent nobody knows has none. */
  discoverToolsForAgent(agentId: string): readonly RegisteredTool[] {
    const { version } = this
    const known = this.#lists.get(agentId)
    if (known?.version === version) return known.tools
    const tools = this.#look(agentId)
    if (this.#lists.size > 20_000) this.#lists.clear()
    this.#lists.set(agentId, { version, tools })
    return tools
  }

  #look(agentId: string): RegisteredTool[] {
    const who = this.#organisation.view(agentId)
    if (who === undefined) return []
    const visible: RegisteredTool[] = []
    for (const name of this.#tools.namesIn(who.groups, who)) {
      const tool = this.#tools.resolve(name, who)
      if (tool === undefined || (tool.offered ?? "tool") !== "tool") continue
      if (this.#isVisible(tool, who)) visible.push(tool)
    }
    return visible.sort((one, other) => (one.name < other.name ? -1 : 1))
  }
}
