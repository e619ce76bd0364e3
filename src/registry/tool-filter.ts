import type { Layer, RegisteredTool, ToolCategory, ToolType } from "../core/tool.ts"

export interface ToolFilter {
  category?: ToolCategory
  type?: ToolType
  group?: string
  /** The tool must have all of them. */
  tags?: readonly string[]
  layer?: Layer
  version?: string
}

const plain = ["category", "type", "group", "layer", "version"] as const

/** Reports whether a tool matches all parts of a filter. */
export function matchesFilter(tool: RegisteredTool, filter: ToolFilter): boolean {
  const isSame = plain.every((key) => filter[key] === undefined || tool[key] === filter[key])
  return isSame && (filter.tags ?? []).every((tag) => tool.tags.includes(tag))
}
