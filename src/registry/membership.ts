import type { AgentView } from "../model/organisation.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { ToolDefinition, ToolGroupManager } from "./groups.ts"
import { layersOf } from "./lookup.ts"
import type { Shelves } from "./shelves.ts"

/** Which groups registered tools are in. */
export class Membership {
  readonly #shelves: Shelves
  readonly #groups: ToolGroupManager

  constructor(shelves: Shelves, groups: ToolGroupManager) {
    this.#shelves = shelves
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

  /** `gone` are versions of one tool in one layer. */
  leave(gone: readonly RegisteredTool[]): void {
    const [first] = gone
    if (first?.layer !== "system") return
    for (const group of new Set(gone.map((tool) => tool.group))) this.#showIn(group, first.name)
  }

  /**
   * A tool of another layer counts by the group it names; one of the system by every group that holds it; one that
   * hides others by all of them.
   */
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean {
    if (groups === null) return true
    if (tool.together !== undefined) return tool.together.every((one) => this.inGroups(one, groups))
    if (tool.layer !== "system") return groups.includes(tool.group)
    const versions = this.#shelves.system.get(tool.name) ?? []
    if (!isOfSeveralGroups(versions)) return this.#groups.isToolInGroups(tool.name, groups)
    // A group that another version brought its name into says nothing about this one.
    const others = new Set(versions.map(({ group }) => group))
    return groups.some((id) => (id === tool.group || !others.has(id)) && this.#groups.isToolInGroups(tool.name, [id]))
  }

  /** Of versions in several groups, those in the agent's own; where it has none of them, all. */
  among(
    versions: readonly RegisteredTool[] | undefined,
    who: AgentView | undefined,
  ): readonly RegisteredTool[] | undefined {
    const groups = who?.groups ?? null
    if (versions === undefined || groups === null || !isOfSeveralGroups(versions)) return versions
    const own = versions.filter((one) => this.inGroups(one, groups))
    return own.length === 0 ? versions : own
  }

  /** The names that could be visible to someone with these groups, each once. */
  *namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string> {
    const seen = new Set<string>()
    const layers = layersOf(who).slice(0, -1)
    const own = layers.flatMap((layer) => [...(this.#shelves.of(layer)?.keys() ?? [])])
    const shared = groups === null ? this.#shelves.system.keys() : this.#groupNames(groups)
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

  /** A group shows the newest version that names it, and lets go of a tool that no version places there any more. */
  #showIn(group: string, name: string): void {
    const newest = this.#shelves.system.get(name)?.find((tool) => tool.group === group)
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
