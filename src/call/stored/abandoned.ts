import { erasedFields, type CallRow } from "../../core/call.ts"
import type { Ending } from "../../core/ending.ts"
import type { Ports } from "../state/ports.ts"
import type { EndEntry } from "../../core/audit-entry.ts"
import { failedWith, type EndingCode, type ToolResult } from "../../core/result.ts"
import { inputSecrets } from "../../schema/input-secrets.ts"
import type { DialectText } from "../../core/dialect-text.ts"
import { rejectedEnding, unansweredEnding, withheldEnding } from "../state/refusal-endings.ts"
import { agentEndedSentence, tokenRevokedSentence } from "../state/stopped-endings.ts"
import { redeemableUntil, storedRequest } from "../../store/stored-request.ts"

/** Reports whether the process that had the call is gone. */
export async function hasNoLiveOwner(row: CallRow, ports: Ports): Promise<boolean> {
  return row.owner === "" || (row.owner !== ports.owner && !(await ports.isAlive(row.owner)))
}

const openStates = ["decided", "waiting", "ready", "started", "held", "released"] as const
const page = 500

/** Ends calls that expired and calls that a dead process or an ended agent left behind. Never runs a tool. */
export async function sweep(ports: Ports, agentId?: string): Promise<void> {
  for (let after: CallRow | undefined; ;) {
    const rows = await ports.calls.list({
      states: openStates,
      limit: page,
      ...(after && { after }),
      ...(agentId !== undefined && { agentId }),
    })
    for (const row of rows) {
      try {
        if (await hasNoLiveOwner(row, ports)) await endAbandoned(row, ports)
      } catch (error) {
        ports.logger.error(`Call ${row.id} could not be ended; Quartermaster tries again later.`, error)
      }
    }
    after = rows.at(-1)
    if (rows.length < page) return
  }
}

/** Ends a call that no process has, if there is nothing left to wait for. If several processes try, one succeeds. */
export async function endAbandoned(row: CallRow, ports: Ports): Promise<ToolResult | undefined> {
  const how = endedAgent(row, ports) ?? revokedToken(row, ports) ?? expiredOrInterrupted(row, ports.now())
  return how && endAs(row, how, ports)
}

/** Ends a call that no process has. Undefined when another process changed it first. */
export async function endAs(row: CallRow, how: AbandonedEnding, ports: Ports): Promise<ToolResult | undefined> {
  const { state, owner, epoch } = row
  const mine = { state, owner: ports.owner, epoch: epoch + 1 }
  if (!(await ports.calls.swap(row.id, { state, owner, epoch }, mine))) return undefined
  const result = resultOf(row, how, ports)
  try {
    await ports.recorder.write(endOf(row, how, result, ports), ports.settings.durability)
  } catch (error) {
    // Gives the row up, so that another process can try again.
    await ports.calls.swap(row.id, mine, { owner: "" })
    throw error
  }
  await ports.calls.swap(row.id, mine, { state: "ended", result, ...erasedFields(row) })
  const ids = { callId: row.id, toolName: row.tool, agentId: row.agentId, at: ports.now() }
  const { status, startedAt, durationMs = 0 } = result
  ports.emit({ type: "TOOL_CALL_FAILED", ...ids, status, code: how.code, error: how.sentence, startedAt, durationMs })
  return result
}

function endOf(row: CallRow, { code, sentence, ran }: AbandonedEnding, result: ToolResult, ports: Ports): EndEntry {
  const { given, sessionId } = storedRequest(row)
  const { taskId, userId, parentCallId, intent } = given
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
    ...(ran ? {} : { intent, ...inputOf(row, ports) }),
    status: result.status,
    code,
    startedAt: result.startedAt,
    durationMs: ran ? (result.durationMs ?? 0) : 0,
    error: ports.masker.text(sentence),
    ran,
  }
}

/**
 * The input of a call without a start, as the audit log shows it; nothing when this process does not know which parts
 * are secret.
 */
function inputOf(row: CallRow, ports: Ports): Pick<EndEntry, "input" | "inputDigest"> {
  const tool = ports.tools.resolve(row.tool, ports.organisation.view(row.agentId))
  if (row.input === null || tool?.definitionHash !== row.definitionHash) return {}
  const { text, digest } = ports.masker.mask(JSON.parse(row.input), inputSecrets(tool))
  return { input: text, inputDigest: digest }
}

interface AbandonedEnding {
  code: EndingCode
  sentence: string
  said?: DialectText
  ran: boolean
  rejectReason?: string
  toolCode?: string
}

/** The ending if the agent was ended. */
function endedAgent(row: CallRow, ports: Ports): AbandonedEnding | undefined {
  if (row.state === "started" || ports.organisation.view(row.agentId) !== undefined) return undefined
  const ran = row.state === "held" || row.state === "released"
  return { code: "aborted", sentence: agentEndedSentence(row.agentId), ran }
}

/** The ending if the token was revoked while the call waited. */
function revokedToken(row: CallRow, ports: Ports): AbandonedEnding | undefined {
  if (row.state !== "waiting" && row.state !== "ready" && row.state !== "held") return undefined
  const { tokenId } = storedRequest(row).given
  if (tokenId === undefined || ports.isTokenValid(tokenId)) return undefined
  return { code: "aborted", sentence: tokenRevokedSentence(tokenId), ran: row.state === "held" }
}

function expiredOrInterrupted(row: CallRow, now: number): AbandonedEnding | undefined {
  const late = row.deadline !== null && row.deadline <= now
  switch (row.state) {
    case "started":
      if (storedRequest(row).given.elsewhere !== undefined) return late ? unreported : undefined
      return {
        code: "interrupted",
        sentence: "The process ended while the tool ran; what it did is not known. Check, then call again.",
        ran: true,
      }
    case "decided":
      if (now <= redeemableUntil(row)) return undefined
      return {
        code: "interrupted",
        sentence: "The process ended before the tool was executed. Call again.",
        ran: false,
      }
    case "waiting":
      if (!late) return undefined
      return endedWith(unansweredEnding(row.tool), false)
    case "ready":
      if (row.answer?.approved === false && row.answer.edit === undefined) {
        return endedWith(rejectedEnding(row.tool, row.card.question !== undefined, row.answer), false)
      }
      if (now <= redeemableUntil(row)) return undefined
      if (!row.wanted) {
        const sentence = "The process that made the call ended, and no caller came back for it. Call again."
        return { code: "interrupted", sentence, ran: false }
      }
      return {
        code: "approval_expired",
        sentence: "The approval was not used in time. Call again.",
        ran: false,
      }
    case "held":
      if (!late) return undefined
      return endedWith(withheldEnding(row.tool, undefined), true)
    case "released":
      if (row.answer?.approved === false) return endedWith(withheldEnding(row.tool, row.answer), true)
      if (now <= redeemableUntil(row)) return undefined
      return {
        code: "result_withheld",
        sentence: "The result was released, but no caller came back for it in time. Call again.",
        ran: true,
      }
    default:
      return undefined
  }
}

const unreported: AbandonedEnding = {
  code: "unknown_outcome",
  sentence: "The program that ran the tool did not report what came of it in its time.",
  ran: true,
}

function endedWith({ code, message, said, details }: Ending, ran: boolean): AbandonedEnding {
  return { code, sentence: message, said, ran, rejectReason: details.rejectReason, toolCode: details.toolCode }
}

function resultOf(row: CallRow, how: AbandonedEnding, ports: Ports): ToolResult {
  const completedAt = ports.now()
  const { code, sentence, said, ran, rejectReason, toolCode } = how
  const result = failedWith(code, sentence, {
    callId: row.id,
    toolName: row.tool,
    version: "",
    startedAt: row.result?.startedAt ?? row.createdAt,
    completedAt,
    // The running time of an interrupted tool is not known.
    durationMs: row.result?.durationMs ?? 0,
    metadata: { ran, ...(toolCode !== undefined && { toolCode }) },
  })
  if (said !== undefined) result.said = said
  if (rejectReason !== undefined) result.rejectReason = rejectReason
  return result
}
