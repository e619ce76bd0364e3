import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"

export interface ToolGroup {
  readonly name: string
  readonly tools: readonly ToolInfo[]
  readonly toLookAt: number
}

/** Tools that have every word of a search in their name, group, layer, level, effect, tags or description. */
export function findTools(tools: readonly ToolInfo[], search: string): readonly ToolInfo[] {
  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return tools
  return tools.filter((tool) => {
    const { name, title, group, layer, version, level, effect, tags, description } = tool
    const text = [name, title, group, layer, version, level, effect, ...tags, description].join(" ").toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

/** Tools by group or layer, both by name; of a tool with several versions the newest is first. */
export function groupTools(tools: readonly ToolInfo[], by: "group" | "layer"): readonly ToolGroup[] {
  const names = [...new Set(tools.map((tool) => tool[by]))].sort()
  return names.map((name) => {
    const here = tools.filter((tool) => tool[by] === name)
    return {
      name,
      tools: here.toSorted(
        (one, other) =>
          one.name.localeCompare(other.name) || other.version.localeCompare(one.version, "en", { numeric: true }),
      ),
      toLookAt: here.filter(({ quarantine }) => quarantine !== undefined).length,
    }
  })
}
