import type { RegisteredTool } from "../model/tool.ts"

/** Whether a tool that can change something does not with this input, and neither does any it hides. */
export function readsOnly(tool: RegisteredTool, input: unknown): boolean {
  return tool.onlyReads !== undefined && (tool.together ?? [tool]).every((one) => says(one, input))
}

function says(tool: RegisteredTool, input: unknown): boolean {
  try {
    return tool.onlyReads?.(input) === true
  } catch {
    return false
  }
}
