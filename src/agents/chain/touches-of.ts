import type { RegisteredTool } from "../../core/tool.ts"
import type { Touch } from "../../core/touches.ts"

/** What a tool says that an input touches. A tool that fails to say it touches nothing that could be named. */
export function touchesOf(tool: Pick<RegisteredTool, "touches">, input: unknown): readonly Touch[] {
  try {
    return tool.touches?.(input) ?? []
  } catch {
    return []
  }
}
