import type { RegisteredTool } from "../../core/tool.ts"
import type { Touch } from "../../core/touches.ts"

/** Returns the touches that a tool declares for an input. A tool that fails to declare them has no nameable ones. */
export function touchesOf(tool: Pick<RegisteredTool, "touches">, input: unknown): readonly Touch[] {
  try {
    return tool.touches?.(input) ?? []
  } catch {
    return []
  }
}
