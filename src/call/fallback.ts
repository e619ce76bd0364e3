import type { Ports } from "../model/ports.ts"
import { isTicket } from "../model/result.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { CallTool } from "./context.ts"
import type { Outcome } from "./run.ts"
import type { Walk } from "./walk.ts"

/** How a tool may fail so that another one is tried: not when somebody stopped it. */
const helped = new Set(["tool_failed", "output_invalid", "timeout", "upstream_unavailable"])

/** What the first of the tool's fallbacks came to, each a call of its own; the tool's own failure when none did better. */
export async function orElse(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  failed: Outcome,
  ports: Ports,
  callTool: CallTool,
): Promise<Outcome> {
  if (tool.fallback === undefined || failed.ending === undefined || !helped.has(failed.ending.code)) return failed
  const { agentId, taskId, userId, allowedPaths, caller, signal } = walk.request
  for (const { tool: name, toInput, toResult } of tool.fallback) {
    if (signal?.aborted === true || ports.closing.aborted) return failed
    const request = { agentId, tool: name, taskId, userId, allowedPaths, caller, signal }
    const other = await callTool({ ...request, input: toInput?.(input) ?? input }, ports, { parent: walk })
    if (isTicket(other) || !other.success) continue
    walk.fellBackTo = name
    return { value: toResult === undefined ? other.result : toResult(other.result, input) }
  }
  return failed
}
