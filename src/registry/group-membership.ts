import type { AgentView } from "../core/organisation.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { ToolDefinition, ToolGroupManager } from "./groups.ts"
import { layersOf } from "./lookup.ts"
import type { ToolLayers } from "./tool-layers.ts"

/** The groups that registered tools are in. */
export class GroupMembership {
  readonly #layers: ToolLayers
  readonly #groups: ToolGroupManager

  constructor(layers: ToolLayers, groups: ToolGroupManager) {
    this.#layers = layers
    this.#groups = groups
  }

  join(tool: RegisteredTool, replaced: RegisteredTool | undefined): void {
    if (tool.layer !== "system") {
      if (!this.#groups.hasGroup(tool.group)) this.#groups.registerGroup(tool.group, { description: "", tools: [] })
      return
    }
    if (replaced !== undefined && replaced.group !== tool.group) this.#showIn(replaced.group, tool.name)
    this.#showIn(tool.group, tool.name)
  }

  /** `removed` are versions of one tool in one layer. */
  leave(removed: readonly RegisteredTool[]): void {
    const [first] = removed
    if (first?.layer !== "system") return
    for (const group of new Set(removed.map((tool) => tool.group))) this.#showIn(group, first.name)
  }

  /**
   * Reports whether the tool is in one of the groups, which must be registered; null means all of them. A tool of the
   * layer `system` is in every group that lists it, a tool of another layer only in the group it names. A tool that
   * covers others must be in the groups of all of them.
   */
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean {
    if (tool.sameNameTools !== undefined) return tool.sameNameTools.every((one) => this.inGroups(one, groups))
    if (tool.layer !== "system")
      return this.#groups.hasGroup(tool.group) && (groups === null || groups.includes(tool.group))
    const versions = this.#layers.system.get(tool.name) ?? []
    if (!isOfSeveralGroups(versions))
      return groups === null ? this.#groups.getToolGroup(tool.name) !== null : this.#groups.isToolInGroups(tool.name, groups) // prettier-ignore
    // A group that only another version named does not count for this version.
    const others = new Set(versions.map(({ group }) => group))
    const counted = (groups ?? this.#groups.getAllGroupIds()).filter((id) => id === tool.group || !others.has(id))
    return this.#groups.isToolInGroups(tool.name, counted)
  }

  /** Of versions in several groups, those in the agent's groups; all of them when there is none. */
  versionsFor(
    versions: readonly RegisteredTool[] | undefined,
    who: AgentView | undefined,
  ): readonly RegisteredTool[] | undefined {
    if (versions === undefined || who === undefined || !isOfSeveralGroups(versions)) return versions
    const { groups } = who
    const own = versions.filter((one) => this.inGroups(one, groups))
    return own.length === 0 ? versions : own
  }

  /** The names of tools that an agent with these groups may be able to see, each once. */
  *namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string> {
    const seen = new Set<string>()
    const layers = layersOf(who).slice(0, -1)
    const own = layers.flatMap((layer) => [...(this.#layers.inLayer(layer)?.keys() ?? [])])
    const shared = groups === null ? this.#layers.system.keys() : this.#groupNames(groups)
    for (const names of [own, shared]) {
      for (const name of names) {
        if (seen.has(name)) continue
        seen.add(name)
        yield name
      }
    }
  }

  *#groupNames(groups: readonly string[]): Iterable<string> {
    for (const group of groups) yield* this.#groups.toolNamesOf(group)
  }

  /**
   * Puts the newest version that names the group into it, or removes the tool when no version names the group any more.
   */
  #showIn(group: string, name: string): void {
    const newest = this.#layers.system.get(name)?.find((tool) => tool.group === group && tool.exposedAs !== "loop")
    if (newest === undefined) this.#groups.removeTool(group, name)
    else this.#groups.addTool(group, definitionOf(newest))
  }
}

function isOfSeveralGroups(versions: readonly RegisteredTool[]): boolean {
  return versions.length > 1 && versions.some(({ group }) => group !== versions[0]!.group)
}

function definitionOf(tool: RegisteredTool): ToolDefinition {
  return {
    type: "function",
    function: {
      name: tool.name,
      get description() {
        return tool.description
      },
      get parameters() {
        return tool.input.json
      },
    },
  }
}
