import type { CallRow } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import { endings, type EndingCode, type ToolResult } from "../model/result.ts"
import { redeemWindowMs, storedRequest } from "./states.ts"

/** Whether no living process walks the call. */
export function nobodyWalks(row: CallRow, ports: Ports): boolean {
  return row.owner === "" || (row.owner !== ports.owner && !ports.alive(row.owner))
}

/** Ends what nobody came back for: waits past their time, and what a dead process left. Never runs a tool. */
export async function sweep(ports: Ports): Promise<void> {
  const rows = await ports.calls.list({ states: ["decided", "waiting", "ready", "started", "held", "released"] })
  for (const row of rows) {
    if (!nobodyWalks(row, ports)) continue
    await endAbandoned(row, ports).catch((error: unknown) => {
      ports.logger.error(`Call ${row.id} could not be ended; it is tried again later.`, error)
    })
  }
}

/** Ends a call nobody walks, if there is nothing left to wait for. Of several who try, one does it. */
export async function endAbandoned(row: CallRow, ports: Ports): Promise<ToolResult | undefined> {
  const how = howItEnded(row, ports.now())
  if (how === undefined) return undefined
  const { state, owner, epoch } = row
  const mine = { state, owner: ports.owner, epoch: epoch + 1 }
  if (!(await ports.calls.swap(row.id, { state, owner, epoch }, mine))) return undefined
  const result = resultOf(row, how, ports)
  const { given, sessionId } = storedRequest(row)
  const { taskId, userId, parentCallId } = given
  await ports.recorder.keep(
    {
      kind: "end",
      callId: row.id,
      at: result.completedAt ?? ports.now(),
      agentId: row.agentId,
      tool: row.tool,
      sessionId,
      taskId,
      userId,
      parentCallId,
      status: result.status,
      code: how.code,
      startedAt: result.startedAt,
      durationMs: result.durationMs ?? 0,
      error: how.sentence,
      ran: how.ran,
    },
    ports.settings.durability,
  )
  await ports.calls.swap(row.id, mine, { state: "ended", input: null, preview: null, result })
  const about = { callId: row.id, toolName: row.tool, agentId: row.agentId, at: ports.now() }
  const { status, durationMs = 0 } = result
  ports.emit({ type: "TOOL_CALL_FAILED", ...about, status, code: how.code, error: how.sentence, durationMs })
  return result
}

interface HowItEnded {
  code: EndingCode
  sentence: string
  ran: boolean
}

function howItEnded(row: CallRow, now: number): HowItEnded | undefined {
  const late = row.deadline !== null && row.deadline <= now
  switch (row.state) {
    case "started":
      return {
        code: "interrupted",
        sentence: "The process ended while the tool ran; what it did is not known. Check, then call again.",
        ran: true,
      }
    case "decided":
      return {
        code: "interrupted",
        sentence: "The process ended before the tool was executed. Call again.",
        ran: false,
      }
    case "waiting":
      if (!late) return undefined
      return {
        code: "approval_expired",
        sentence: `Nobody answered in time, so ${row.tool} was not executed.`,
        ran: false,
      }
    case "ready":
      if (row.answer?.approved === false) {
        const why = row.answer.rejectReason ?? "No reason was given."
        return {
          code: "approval_rejected",
          sentence: `A person (${row.answer.by}) rejected the call: ${why}`,
          ran: false,
        }
      }
      if (now <= (row.answer?.at ?? 0) + redeemWindowMs) return undefined
      return {
        code: "approval_expired",
        sentence: "The approval was not used within 10 minutes. Call again.",
        ran: false,
      }
    case "held":
      if (!late) return undefined
      return { code: "result_withheld", sentence: `Nobody released the result of ${row.tool} in time.`, ran: true }
    case "released":
      if (row.answer?.approved === false) {
        const why = row.answer.rejectReason ?? "No reason was given."
        return {
          code: "result_withheld",
          sentence: `The result is withheld by a person (${row.answer.by}): ${why}`,
          ran: true,
        }
      }
      if (now <= (row.answer?.at ?? 0) + redeemWindowMs) return undefined
      return {
        code: "result_withheld",
        sentence: "The result was released, but nobody came for it in time.",
        ran: true,
      }
    default:
      return undefined
  }
}

function resultOf(row: CallRow, { code, sentence, ran }: HowItEnded, ports: Ports): ToolResult {
  const completedAt = ports.now()
  return {
    callId: row.id,
    toolName: row.tool,
    version: "",
    status: endings[code].status,
    success: false,
    code,
    error: sentence,
    startedAt: row.createdAt,
    completedAt,
    durationMs: Math.max(0, completedAt - row.createdAt),
    metadata: { ran },
  }
}
