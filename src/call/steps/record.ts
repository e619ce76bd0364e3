import { erasedFields, type CallRow } from "../../core/call.ts"
import { Ending, StoreUnavailable } from "../../core/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"
import type { Ports } from "../state/ports.ts"
import {
  failedWith,
  ToolExecuteStatus,
  type EndedCall,
  type SuccessResult,
  type Ticket,
  type ToolResult,
} from "../../core/result.ts"
import { inDialect } from "../state/dialect.ts"
import { endEntry } from "./audit-entries.ts"
import { Detached, Joined, outerClock, type ActiveCall } from "../state/active-call.ts"

/** The return value of the last step for a call that succeeded. */
export interface DeliveredValue {
  value: unknown
  truncated?: ToolResult["truncated"]
}

/**
 * Takes the steps and writes the end of the call to the audit log, however it ends. The caller gets nothing before that
 * is written; if it cannot be written, the call ends with `record_unavailable`.
 */
export async function record(
  call: ActiveCall,
  ports: Ports,
  steps: () => Promise<DeliveredValue>,
): Promise<ToolResult | Ticket> {
  outerClock(call)?.countChild(1)
  try {
    const delivered = await steps()
    return inCallersDialect(call, await end(call, successResult(call, delivered, ports), ports), ports)
  } catch (thrown) {
    if (thrown instanceof Detached) {
      call.batch?.detach()
      return thrown.ticket
    }
    if (thrown instanceof Joined) return inCallersDialect(call, await noteJoined(call, thrown, ports), ports)
    const ending = asEnding(thrown, ports)
    // The host's own tools, not those of other people's servers.
    if (call.tool?.type === "custom" && call.tool.mcp === undefined) call.cause = ending.details.cause
    const ended = await end(call, failedResult(call, ending, ports), ports)
    return withCause(inCallersDialect(call, ended, ports), call.cause)
  } finally {
    call.batch?.settle()
    call.batch?.end()
    outerClock(call)?.countChild(-1)
  }
}

function withCause(result: ToolResult, cause: unknown): ToolResult {
  if (cause === undefined) return result
  return Object.defineProperty(result, "cause", { value: cause, enumerable: false, configurable: true })
}

/** The result in the names its caller uses. A tool that called another tool gets the tools' own names. */
function inCallersDialect(call: ActiveCall, result: ToolResult, ports: Ports): ToolResult {
  const { alias, parent, request } = call
  return inDialect({ alias, who: parent === undefined ? call.who : undefined, input: request.input }, result, ports)
}

export function successResult(call: ActiveCall, { value, truncated }: DeliveredValue, ports: Ports): SuccessResult {
  const { callId, toolName, version, startedAt, completedAt, durationMs, metadata } = endedCall(call, ports)
  // Field by field: adding fields to a spread object takes a microsecond for each of them.
  const result: SuccessResult = {
    callId,
    toolName,
    version,
    startedAt,
    completedAt,
    durationMs,
    metadata,
    status: ToolExecuteStatus.SUCCESS,
    success: true,
    result: value,
  }
  if (truncated !== undefined) result.truncated = truncated
  if (call.ranInput !== undefined) result.ranInput = call.ranInput.input
  if (call.approvalNote !== undefined) result.approvalNote = call.approvalNote
  if (call.resultNotes !== undefined || call.toolMetadata !== undefined)
    result.metadata = { ...ownFields(call.toolMetadata), ...metadata, ...call.resultNotes }
  return result
}

/** Without the names that only Quartermaster may set. */
function ownFields(metadata: ActiveCall["toolMetadata"] = {}): Record<string, unknown> {
  const { redacted: _r, streamed: _s, cached: _c, fallback: _f, calledAs: _a, ...own } = metadata
  return own
}

export function failedResult(call: ActiveCall, ending: Ending, ports: Ports): ToolResult {
  const { code, details } = ending
  const result = failedWith(code, ending.message, endedCall(call, ports))
  if (ending.said !== undefined) result.said = ending.said
  if (details.rejectReason !== undefined) result.rejectReason = details.rejectReason
  if (result.status === "result_rejected" && details.result !== undefined) result.result = details.result
  const { ran } = call
  if (ran && call.ranInput !== undefined) result.ranInput = call.ranInput.input
  if (ran && call.approvalNote !== undefined) result.approvalNote = call.approvalNote
  const toolCode = details.toolCode === undefined ? {} : { toolCode: details.toolCode }
  result.metadata = { ...details.metadata, ...toolCode, ran, executionTime: result.durationMs }
  return result
}

function endedCall(call: ActiveCall, ports: Ports) {
  const startedAt = call.startedAt ?? call.receivedAt
  const completedAt = ports.now()
  const durationMs = Math.max(0, completedAt - startedAt - call.waitedMs)
  return {
    callId: call.callId,
    toolName: call.tool?.name ?? call.request.tool,
    version: call.tool?.version ?? "",
    startedAt,
    completedAt,
    durationMs,
    metadata: { executionTime: durationMs },
  } satisfies EndedCall
}

function asEnding(thrown: unknown, ports: Ports): Ending {
  if (thrown instanceof Ending) return thrown
  if (thrown instanceof StoreUnavailable) return new Ending("record_unavailable", thrown.message, { cause: thrown })
  ports.logger.error("A step of the lifecycle failed unexpectedly.", thrown)
  const what = thrown instanceof Error ? thrown.message : String(thrown)
  return new Ending("tool_failed", `Quartermaster itself failed: ${what}. This is a defect; please report it.`, {
    cause: thrown,
  })
}

/** Writes the end to the audit log, then closes the row of a stored call, then announces the result. */
async function end(call: ActiveCall, result: ToolResult, ports: Ports): Promise<ToolResult> {
  try {
    await ports.recorder.write(endEntry(call, result, ports), durabilityOf(call, ports))
  } catch (error) {
    const failed = unrecorded(call, result, error, ports)
    if (call.row !== undefined) await closeRow(call.row, failed, ports)
    return failed
  }
  if (call.row !== undefined) await closeRow(call.row, result, ports)
  announce(call, result, ports)
  return result
}

function durabilityOf(call: ActiveCall, ports: Ports) {
  return call.tool?.durability ?? ports.settings.durability
}

/** Stores the result in the row, for callers that joined the call or come back with its key; never a withheld result. */
async function closeRow(open: CallRow, result: ToolResult, ports: Ports): Promise<void> {
  const stored = withoutWithheld(result)
  try {
    // A person may answer at this moment and so change the state of the row: read it again.
    for (
      let row: CallRow | undefined = open;
      row?.owner === ports.owner && row.state !== "ended";
      row = await ports.calls.get(row.id)
    ) {
      const expected = { state: row.state, owner: row.owner, epoch: row.epoch }
      if (await ports.calls.swap(row.id, expected, { state: "ended", result: stored, ...erasedFields(row) })) return
    }
  } catch (error) {
    ports.logger.error("The row of an ended call could not be closed; its end is in the audit log.", error)
  }
}

function withoutWithheld(result: ToolResult): ToolResult {
  if (result.status !== ToolExecuteStatus.RESULT_REJECTED) return result
  const { result: _withheld, ...rest } = result
  return rest
}

/** Returns the replacement for a result that could not be written to the audit log. */
function unrecorded(call: ActiveCall, result: ToolResult, error: unknown, ports: Ports): ToolResult {
  ports.logger.error("The end of a call could not be written to the audit log, so its result is not returned.", error)
  const why = errorMessage(error)
  const what = call.ran ? "The tool ran, but its result is not returned" : "Nothing was executed"
  // A sentence that ends with the cause in brackets names no next step itself.
  const next = why.endsWith(").") ? "Make the data folder writable, then call again." : "Then call again."
  const ending = new Ending(
    "record_unavailable",
    `${what}, because it cannot be written to the audit log: ${why} ${next}`,
  )
  const ended = failedResult(call, ending, ports)
  ended.startedAt = result.startedAt
  return ended
}

async function noteJoined(call: ActiveCall, { result, joinedId }: Joined, ports: Ports): Promise<ToolResult> {
  const ids = { callId: call.callId, agentId: call.request.agentId, tool: result.toolName }
  try {
    const text = `Joined call ${joinedId}.`
    await ports.recorder.write({ kind: "note", at: ports.now(), ...ids, text }, ports.settings.durability)
  } catch (error) {
    return unrecorded(call, result, error, ports)
  }
  return result
}

function announce(call: ActiveCall, result: ToolResult, ports: Ports): void {
  const { callId, toolName, startedAt, durationMs = 0, status, code = "tool_failed", error = "" } = result
  if (call.tool !== undefined) ports.tools.count(call.tool, durationMs, result.error)
  ports.logger.logToolResult(toolName, call.maskedResult?.text ?? result.error)
  const type = result.success ? "TOOL_CALL_COMPLETED" : "TOOL_CALL_FAILED"
  const neverStarted = call.startedAt === undefined
  if (!ports.hasListeners(type) && !neverStarted) return
  const ids = { callId, toolName, agentId: call.request.agentId, at: result.completedAt ?? ports.now() }
  if (neverStarted) ports.emit({ type: "TOOL_CALL_REQUESTED", ...ids, params: call.request.input })
  if (result.success) ports.emit({ type: "TOOL_CALL_COMPLETED", ...ids, result: result.result, startedAt, durationMs })
  else ports.emit({ type: "TOOL_CALL_FAILED", ...ids, status, code, error, startedAt, durationMs })
}
