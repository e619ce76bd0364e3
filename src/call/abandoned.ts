import { erased, type CallRow } from "../model/call.ts"
import type { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { EndEntry } from "../model/record.ts"
import { endings, type EndingCode, type ToolResult } from "../model/result.ts"
import { refused, withheld } from "./refused.ts"
import { revoked } from "./walk.ts"
import { redeemWindowMs, storedRequest } from "./states.ts"

/** Whether no living process walks the call. */
export async function nobodyWalks(row: CallRow, ports: Ports): Promise<boolean> {
  return row.owner === "" || (row.owner !== ports.owner && !(await ports.alive(row.owner)))
}

const alive = ["decided", "waiting", "ready", "started", "held", "released"] as const
const page = 500

/** Ends what nobody came back for: waits past their time, and what a dead process or an ended agent left. Never runs a tool. */
export async function sweep(ports: Ports, agentId?: string): Promise<void> {
  for (let after: CallRow | undefined; ;) {
    const rows = await ports.calls.list({
      states: alive,
      limit: page,
      ...(after && { after }),
      ...(agentId !== undefined && { agentId }),
    })
    for (const row of rows) {
      try {
        if (await nobodyWalks(row, ports)) await endAbandoned(row, ports)
      } catch (error) {
        ports.logger.error(`Call ${row.id} could not be ended; it is tried again later.`, error)
      }
    }
    after = rows.at(-1)
    if (rows.length < page) return
  }
}

/** Ends a call nobody walks, if there is nothing left to wait for. Of several who try, one does it. */
export async function endAbandoned(row: CallRow, ports: Ports): Promise<ToolResult | undefined> {
  const how = agentIsGone(row, ports) ?? tokenIsGone(row, ports) ?? howItEnded(row, ports.now())
  if (how === undefined) return undefined
  const { state, owner, epoch } = row
  const mine = { state, owner: ports.owner, epoch: epoch + 1 }
  if (!(await ports.calls.swap(row.id, { state, owner, epoch }, mine))) return undefined
  const result = resultOf(row, how, ports)
  try {
    await ports.recorder.keep(endOf(row, how, result, ports), ports.settings.durability)
  } catch (error) {
    // Nobody walks it, so nobody may own it: whoever comes next tries again.
    await ports.calls.swap(row.id, mine, { owner: "" })
    throw error
  }
  await ports.calls.swap(row.id, mine, { state: "ended", result, ...erased(row) })
  const about = { callId: row.id, toolName: row.tool, agentId: row.agentId, at: ports.now() }
  const { status, durationMs = 0 } = result
  ports.emit({ type: "TOOL_CALL_FAILED", ...about, status, code: how.code, error: how.sentence, durationMs })
  return result
}

function endOf(row: CallRow, { code, sentence, ran }: HowItEnded, result: ToolResult, ports: Ports): EndEntry {
  const { given, sessionId } = storedRequest(row)
  const { taskId, userId, parentCallId } = given
  return {
    kind: "end",
    callId: row.id,
    at: result.completedAt ?? ports.now(),
    agentId: row.agentId,
    role: row.card.role,
    tool: row.tool,
    sessionId,
    taskId,
    userId,
    parentCallId,
    status: result.status,
    code,
    startedAt: result.startedAt,
    durationMs: result.durationMs ?? 0,
    error: ports.masker.text(sentence),
    ran,
  }
}

interface HowItEnded {
  code: EndingCode
  sentence: string
  ran: boolean
  rejectReason?: string | undefined
  toolCode?: string | undefined
}

/** Nobody can want what an ended agent asked for. */
function agentIsGone(row: CallRow, ports: Ports): HowItEnded | undefined {
  if (row.state === "started" || ports.organisation.view(row.agentId) !== undefined) return undefined
  const ran = row.state === "held" || row.state === "released"
  return { code: "aborted", sentence: `Agent ${row.agentId} was ended, and its calls with it.`, ran }
}

/** Nor what came by a token that was revoked while it waited. */
function tokenIsGone(row: CallRow, ports: Ports): HowItEnded | undefined {
  if (row.state !== "waiting" && row.state !== "ready" && row.state !== "held") return undefined
  const { tokenId } = storedRequest(row).given
  if (tokenId === undefined || ports.tokenCounts(tokenId)) return undefined
  return { code: "aborted", sentence: revoked(tokenId), ran: row.state === "held" }
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
      if (row.answer?.approved === false && row.answer.edit === undefined) {
        return endedWith(refused(row.tool, row.card.question !== undefined, row.answer), false)
      }
      if (now <= (row.answer?.at ?? 0) + redeemWindowMs) return undefined
      if (!row.wanted) {
        const sentence = "The process that made the call ended, and nobody came back for it. Call again."
        return { code: "interrupted", sentence, ran: false }
      }
      return {
        code: "approval_expired",
        sentence: "The approval was not used within 10 minutes. Call again.",
        ran: false,
      }
    case "held":
      if (!late) return undefined
      return endedWith(withheld(row.tool, undefined), true)
    case "released":
      if (row.answer?.approved === false) return endedWith(withheld(row.tool, row.answer), true)
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

function endedWith({ code, message, details }: Ending, ran: boolean): HowItEnded {
  return { code, sentence: message, ran, rejectReason: details.rejectReason, toolCode: details.toolCode }
}

function resultOf(row: CallRow, how: HowItEnded, ports: Ports): ToolResult {
  const completedAt = ports.now()
  const { code, sentence, ran, rejectReason, toolCode } = how
  return {
    callId: row.id,
    toolName: row.tool,
    version: "",
    status: endings[code].status,
    success: false,
    code,
    error: sentence,
    ...(rejectReason !== undefined && { rejectReason }),
    startedAt: row.createdAt,
    completedAt,
    durationMs: Math.max(0, completedAt - row.createdAt),
    metadata: { ran, ...(toolCode !== undefined && { toolCode }) },
  }
}
