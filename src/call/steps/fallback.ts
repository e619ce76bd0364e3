import type { Ports } from "../state/ports.ts"
import { isTicket } from "../../core/result.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { RunOutcome } from "./run.ts"
import type { ActiveCall, CallTool } from "../state/active-call.ts"

/** A fallback is tried after these endings; not when somebody stopped the call. */
const retriedCodes = new Set(["tool_failed", "output_invalid", "timeout", "upstream_unavailable"])

/** Calls the tool's fallbacks in order and returns the first success; the tool's own failure if there is none. */
export async function runFallbacks(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  failed: RunOutcome,
  ports: Ports,
  callTool: CallTool,
): Promise<RunOutcome> {
  if (tool.fallback === undefined || failed.ending === undefined || !retriedCodes.has(failed.ending.code)) return failed
  const { agentId, taskId, userId, allowedPaths, caller, signal } = call.request
  for (const { tool: name, toInput, toResult } of tool.fallback) {
    if (signal?.aborted === true || ports.closing.aborted) return failed
    const request = { agentId, tool: name, taskId, userId, allowedPaths, caller, signal }
    const result = await callTool({ ...request, input: toInput?.(input) ?? input }, ports, { parent: call })
    if (isTicket(result) || !result.success) continue
    // Notes on the failed tool's own result, such as that it was streamed, do not hold for this one.
    call.resultNotes = { fallback: name }
    call.toolMetadata = undefined
    return { value: toResult === undefined ? result.result : toResult(result.result, input) }
  }
  return failed
}
