import { ToolFailure } from "../../core/ending.ts"
import type { Masked } from "../../audit/masker.ts"
import type { Ports } from "../state/ports.ts"
import type { EndEntry, StartEntry } from "../../core/audit-entry.ts"
import type { ToolResult } from "../../core/result.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ActiveCall } from "../state/active-call.ts"
import { inputSecrets } from "../../schema/input-secrets.ts"

// Every call writes both entries. They are built field by field, because spreading objects was the slowest part.

/** The entry written before the tool runs: who called what, with which input, and why it was allowed. */
export function startEntry(call: ActiveCall, tool: RegisteredTool, at: number, ports: Ports): StartEntry {
  const { request, maskedInput } = call
  return {
    kind: "start",
    callId: call.callId,
    at,
    agentId: request.agentId,
    role: call.who?.role.name,
    tool: tool.name,
    version: tool.version,
    layer: tool.layer === "system" ? undefined : tool.layer,
    sessionId: call.sessionId,
    taskId: request.taskId,
    userId: request.userId,
    parentCallId: call.parent?.callId ?? request.parentCallId,
    traceId: request.traceId,
    key: request.key,
    intent: request.intent,
    input: maskedInput?.text,
    inputDigest: maskedInput?.digest,
    policy: ports.policy.version,
    reasons: call.reasons.length === 0 ? undefined : call.reasons,
  }
}

/** The entry written when a call ends. Without a start before it, it has all fields of the start, and else only those that calls are filtered by. */
export function endEntry(call: ActiveCall, result: ToolResult, ports: Ports): EndEntry {
  const { request, tool, maskedResult } = call
  const noStart = call.startedAt === undefined
  if (noStart) call.maskedInput ??= maskRefused(call, ports)
  return {
    kind: "end",
    callId: call.callId,
    at: result.completedAt ?? ports.now(),
    agentId: request.agentId,
    role: call.who?.role.name,
    tool: tool?.name ?? ports.masker.text(request.tool),
    version: noStart ? tool?.version : undefined,
    layer: noStart ? tool?.layer : undefined,
    sessionId: noStart ? call.sessionId : undefined,
    taskId: request.taskId,
    userId: noStart ? request.userId : undefined,
    parentCallId: noStart ? (call.parent?.callId ?? request.parentCallId) : undefined,
    traceId: noStart ? request.traceId : undefined,
    key: noStart ? request.key : undefined,
    intent: noStart ? request.intent : undefined,
    input: noStart ? call.maskedInput?.text : undefined,
    inputDigest: noStart ? call.maskedInput?.digest : undefined,
    policy: noStart ? ports.policy.version : undefined,
    reasons: noStart && call.reasons.length > 0 ? call.reasons : undefined,
    status: result.status,
    code: result.code,
    startedAt: result.startedAt,
    // Waiting time does not count as running time of the tool.
    durationMs: noStart ? 0 : (result.durationMs ?? 0),
    error: result.error === undefined ? undefined : ports.masker.text(result.error, call.maskedInput?.hidden),
    stack: stackOf(call, ports),
    result: maskedResult?.text,
    resultDigest: maskedResult?.digest,
    resultLength: maskedResult?.digest === undefined ? undefined : maskedResult.length,
    ran: call.ran,
  }
}

const longestStack = 4000

/** Returns the stack of an error a host's tool threw, masked and cut. A failure the tool meant has none. */
function stackOf({ cause, maskedInput }: ActiveCall, ports: Ports): string | undefined {
  if (!(cause instanceof Error) || cause instanceof ToolFailure || typeof cause.stack !== "string") return undefined
  return ports.masker.text(cause.stack.slice(0, longestStack), maskedInput?.hidden)
}

/** The input of a refused call was not validated, and may even not be JSON. */
function maskRefused(call: ActiveCall, ports: Ports): Masked {
  try {
    return ports.masker.mask(call.request.input, call.tool && inputSecrets(call.tool, call.secretFields))
  } catch {
    return { text: '"(not JSON)"', length: 0 }
  }
}
