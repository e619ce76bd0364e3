import type { Masked, Ports } from "../model/ports.ts"
import type { EndEntry, StartEntry } from "../model/record.ts"
import type { ToolResult } from "../model/result.ts"
import { secretPaths } from "../model/secrets.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Walk } from "./walk.ts"

// Every call writes a start and an end, so both are put together field by field: a spread costs more than the rest.

/** What is kept before the tool runs: who called what, with what, and why it was allowed. */
export function startEntry(walk: Walk, tool: RegisteredTool, at: number, ports: Ports): StartEntry {
  const { request, maskedInput } = walk
  return {
    kind: "start",
    callId: walk.callId,
    at,
    agentId: request.agentId,
    role: walk.who?.role.name,
    tool: tool.name,
    version: tool.version,
    layer: tool.layer === "system" ? undefined : tool.layer,
    sessionId: walk.sessionId,
    taskId: request.taskId,
    userId: request.userId,
    parentCallId: walk.parent?.callId ?? request.parentCallId,
    traceId: request.traceId,
    key: request.key,
    input: maskedInput?.text,
    inputDigest: maskedInput?.digest,
    policy: ports.policy.version,
    reasons: walk.reasons.length === 0 ? undefined : walk.reasons,
  }
}

/** How it ended. The end of a call that never started also says what its start would have said. */
export function endEntry(walk: Walk, result: ToolResult, ports: Ports): EndEntry {
  const { request, tool, maskedResult } = walk
  const whole = walk.startedAt === undefined
  if (whole) walk.maskedInput ??= maskRefused(walk, ports)
  return {
    kind: "end",
    callId: walk.callId,
    at: result.completedAt ?? ports.now(),
    agentId: request.agentId,
    role: walk.who?.role.name,
    tool: tool?.name ?? ports.masker.text(request.tool),
    version: whole ? tool?.version : undefined,
    layer: whole ? tool?.layer : undefined,
    sessionId: whole ? walk.sessionId : undefined,
    taskId: whole ? request.taskId : undefined,
    userId: whole ? request.userId : undefined,
    parentCallId: whole ? (walk.parent?.callId ?? request.parentCallId) : undefined,
    traceId: whole ? request.traceId : undefined,
    key: whole ? request.key : undefined,
    input: whole ? walk.maskedInput?.text : undefined,
    inputDigest: whole ? walk.maskedInput?.digest : undefined,
    policy: whole ? ports.policy.version : undefined,
    reasons: whole && walk.reasons.length > 0 ? walk.reasons : undefined,
    status: result.status,
    code: result.code,
    startedAt: result.startedAt,
    durationMs: result.durationMs ?? 0,
    error: result.error === undefined ? undefined : ports.masker.text(result.error, walk.maskedInput?.hidden),
    result: maskedResult?.text,
    resultDigest: maskedResult?.digest,
    resultLength: maskedResult?.digest === undefined ? undefined : maskedResult.length,
    ran: walk.ran,
  }
}

/** The input of a refused call may be anything, even something that cannot be written as JSON. */
function maskRefused(walk: Walk, ports: Ports): Masked {
  try {
    return ports.masker.mask(walk.request.input, walk.tool && secretPaths(walk.tool.input.json))
  } catch {
    return { text: '"(not JSON)"', length: 0 }
  }
}
