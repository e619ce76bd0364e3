import type { RegisteredTool } from "../core/tool.ts"

/** Reports whether a tool that can change something only reads with this input, and so does every tool it hides. */
export function readsOnly(tool: RegisteredTool, input: unknown): boolean {
  return tool.onlyReads !== undefined && (tool.sameNameTools ?? [tool]).every((one) => onlyReads(one, input))
}

function onlyReads(tool: RegisteredTool, input: unknown): boolean {
  try {
    return tool.onlyReads?.(input) === true
  } catch {
    return false
  }
}
