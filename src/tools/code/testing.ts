import { ToolFailure } from "../../core/ending.ts"
import type { Tool, ToolContext } from "../../core/tool.ts"

/** The result of a direct call of a tool. */
export type DirectResult = Record<string, unknown> & { error?: string; toolCode?: string }

/** Calls a tool directly, with its schemas but without the other steps of a call. */
export async function callDirectly(
  tools: readonly Tool[],
  name: string,
  input: unknown,
  context: Partial<ToolContext> = {},
) {
  const tool = tools.find((one) => one.name === name)!
  const checked = tool.input.check(input)
  if (!checked.ok) return { error: checked.problems.join("; "), toolCode: "invalid_arguments" } as DirectResult
  try {
    const agent = { id: "ann", role: "dev" }
    const { signal } = new AbortController()
    const value = await tool.execute(checked.value, { agent, signal, ...context } as ToolContext)
    const given = tool.output!.check(value)
    if (!given.ok) throw new Error(`${name} gives what it does not promise: ${given.problems.join("; ")}`)
    return given.value as DirectResult
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    return { error: error.message, toolCode: error.toolCode ?? "" } as DirectResult
  }
}
