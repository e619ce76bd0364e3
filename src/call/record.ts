import { erased, type CallRow } from "../model/call.ts"
import { Ending, StoreUnavailable } from "../model/ending.ts"
import { messageOf } from "../model/message.ts"
import type { Ports } from "../model/ports.ts"
import { endings, ToolExecuteStatus, type Ticket, type ToolResult } from "../model/result.ts"
import { inDialect } from "./dialect.ts"
import { endEntry } from "./entries.ts"
import type { Delivered } from "./release.ts"
import { Detached, Joined, type Walk } from "./walk.ts"

/**
 * Walks the steps and writes down how it ended, whatever the ending. Nothing leaves before its record is kept; if that
 * fails, the call ends `record_unavailable`.
 */
export async function record(walk: Walk, ports: Ports, steps: () => Promise<Delivered>): Promise<ToolResult | Ticket> {
  walk.parent?.clock?.children(1)
  try {
    const delivered = await steps()
    return told(walk, await end(walk, succeeded(walk, delivered, ports), ports), ports)
  } catch (thrown) {
    if (thrown instanceof Detached) return thrown.ticket
    if (thrown instanceof Joined) return told(walk, await noteJoined(walk, thrown, ports), ports)
    return told(walk, await end(walk, failedResult(walk, asEnding(thrown, ports), ports), ports), ports)
  } finally {
    walk.parent?.clock?.children(-1)
  }
}

/** What a tool called is told in the tools' own words, unless it called by another name. */
function told(walk: Walk, result: ToolResult, ports: Ports): ToolResult {
  const { alias, who, parent, request } = walk
  if (parent !== undefined && alias === undefined) return result
  return inDialect({ alias, who, input: request.input }, result, ports)
}

export function succeeded(walk: Walk, { value, truncated }: Delivered, ports: Ports): ToolResult {
  const result = base(walk, ToolExecuteStatus.SUCCESS, ports)
  if (value !== undefined) result.result = value
  if (truncated !== undefined) result.truncated = truncated
  if (walk.ranInput !== undefined) result.ranInput = walk.ranInput.input
  if (walk.redacted) result.metadata = { ...result.metadata, redacted: true }
  if (walk.streamed) result.metadata = { ...result.metadata, streamed: true }
  if (walk.cached) result.metadata = { ...result.metadata, cached: true }
  if (walk.fellBackTo !== undefined) result.metadata = { ...result.metadata, fallback: walk.fellBackTo }
  return result
}

export function failedResult(walk: Walk, ending: Ending, ports: Ports): ToolResult {
  const { code, details } = ending
  const result = base(walk, endings[code].status, ports)
  result.code = code
  result.error = ending.message
  if (details.rejectReason !== undefined) result.rejectReason = details.rejectReason
  if (details.result !== undefined) result.result = details.result
  const { ran } = walk
  if (ran && walk.ranInput !== undefined) result.ranInput = walk.ranInput.input
  const toolCode = details.toolCode === undefined ? {} : { toolCode: details.toolCode }
  result.metadata = { ...details.metadata, ...toolCode, ran, executionTime: result.durationMs }
  return result
}

function base(walk: Walk, status: ToolExecuteStatus, ports: Ports): ToolResult {
  const startedAt = walk.startedAt ?? walk.receivedAt
  const completedAt = ports.now()
  const durationMs = Math.max(0, completedAt - startedAt)
  return {
    callId: walk.callId,
    toolName: walk.tool?.name ?? walk.request.tool,
    version: walk.tool?.version ?? "",
    status,
    success: status === ToolExecuteStatus.SUCCESS,
    startedAt,
    completedAt,
    durationMs,
    metadata: { executionTime: durationMs },
  }
}

function asEnding(thrown: unknown, ports: Ports): Ending {
  if (thrown instanceof Ending) return thrown
  if (thrown instanceof StoreUnavailable) return new Ending("record_unavailable", thrown.message, { cause: thrown })
  ports.logger.error("The walk met an error of its own.", thrown)
  const what = thrown instanceof Error ? thrown.message : String(thrown)
  return new Ending("tool_failed", `Quartermaster itself failed: ${what}. This is a defect; please report it.`, {
    cause: thrown,
  })
}

/** Keeps the end, then closes the row of a stored call, then tells everyone. */
async function end(walk: Walk, result: ToolResult, ports: Ports): Promise<ToolResult> {
  try {
    await ports.recorder.keep(endEntry(walk, result, ports), gradeOf(walk, ports))
  } catch (error) {
    const unkept = unrecorded(walk, result, error, ports)
    await closeRow(walk, unkept, ports)
    return unkept
  }
  await closeRow(walk, result, ports)
  announce(walk, result, ports)
  return result
}

function gradeOf(walk: Walk, ports: Ports) {
  return walk.tool?.durability ?? ports.settings.durability
}

/** Whoever joined the call, or comes back with its key, finds the ending in the row; a withheld result is not in it. */
async function closeRow(walk: Walk, result: ToolResult, ports: Ports): Promise<void> {
  if (walk.row === undefined) return
  const { result: hidden, ...shown } = result
  const kept = result.status === ToolExecuteStatus.RESULT_REJECTED ? shown : { ...shown, result: hidden }
  try {
    // An answer may have moved the row while the call was given up.
    for (
      let row: CallRow | undefined = walk.row;
      row?.owner === ports.owner && row.state !== "ended";
      row = await ports.calls.get(row.id)
    ) {
      const place = { state: row.state, owner: row.owner, epoch: row.epoch }
      if (await ports.calls.swap(row.id, place, { state: "ended", result: kept, ...erased(row) })) return
    }
  } catch (error) {
    ports.logger.error("The row of an ended call could not be closed; its record is kept.", error)
  }
}

/** The result must not leave unrecorded: what the caller gets instead says so. */
function unrecorded(walk: Walk, result: ToolResult, error: unknown, ports: Ports): ToolResult {
  ports.logger.error("The end of a call could not be kept; its result is not handed out.", error)
  const why = messageOf(error)
  const what = walk.ran ? "The tool ran, but its result is not handed out" : "Nothing was executed"
  const ending = new Ending(
    "record_unavailable",
    `${what}, because it cannot be written down: ${why} Make the data folder writable, then call again.`,
  )
  const ended = failedResult(walk, ending, ports)
  ended.startedAt = result.startedAt
  return ended
}

async function noteJoined(walk: Walk, { result, joinedId }: Joined, ports: Ports): Promise<ToolResult> {
  const about = { callId: walk.callId, at: ports.now(), agentId: walk.request.agentId, tool: result.toolName }
  try {
    const text = `Joined call ${joinedId}.`
    await ports.recorder.keep({ kind: "note", ...about, text }, ports.settings.durability)
  } catch (error) {
    return unrecorded(walk, result, error, ports)
  }
  return result
}

function announce(walk: Walk, result: ToolResult, ports: Ports): void {
  const { callId, toolName, durationMs = 0, status, code = "tool_failed", error = "" } = result
  if (walk.tool !== undefined) ports.tools.count(walk.tool, durationMs, result.error)
  ports.logger.logToolResult(toolName, walk.maskedResult?.text ?? result.error)
  const type = result.success ? "TOOL_CALL_COMPLETED" : "TOOL_CALL_FAILED"
  const unannounced = walk.startedAt === undefined
  if (!ports.hears(type) && !unannounced) return
  const about = { callId, toolName, agentId: walk.request.agentId, at: result.completedAt ?? ports.now() }
  if (unannounced) ports.emit({ type: "TOOL_CALL_REQUESTED", ...about, params: walk.request.input })
  if (result.success) ports.emit({ type: "TOOL_CALL_COMPLETED", ...about, result: result.result, durationMs })
  else ports.emit({ type: "TOOL_CALL_FAILED", ...about, status, code, error, durationMs })
}
