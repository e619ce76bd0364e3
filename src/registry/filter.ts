import type { Layer, RegisteredTool, ToolCategory, ToolType } from "../model/tool.ts"

export interface ToolFilter {
  category?: ToolCategory
  type?: ToolType
  group?: string
  /** All of them. */
  tags?: readonly string[]
  layer?: Layer
  version?: string
}

const plain = ["category", "type", "group", "layer", "version"] as const

/** Whether a tool fits all parts of a filter. */
export function fits(tool: RegisteredTool, filter: ToolFilter): boolean {
  const isSame = plain.every((key) => filter[key] === undefined || tool[key] === filter[key])
  return isSame && (filter.tags ?? []).every((tag) => tool.tags.includes(tag))
}
