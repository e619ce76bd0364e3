import type { Answer, ApprovalRequest, ApprovalUIAdapter } from "../../core/approval.ts"
import type { SettledAnswer, CallRow } from "../../core/call.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { NobodyAsked } from "../../approvals/nobody-asked.ts"
import type { Ports } from "../state/ports.ts"
import { answerToCall, answerToQuestion, answerToResult } from "../../approvals/queue/decision-answers.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { answerPending, pendingItem } from "../../approvals/queue/answer-pending.ts"
import { asksAbout, type Asker } from "../../approvals/queue/askers.ts"
import { kindOf, verdictWord } from "../../approvals/queue/verdict-word.ts"
import { claim, ticketOf, tryAdvance } from "./rows.ts"
import { Detached, Joined, outerClock, waitUntil, type ActiveCall } from "../state/active-call.ts"
import { abortedEnding, callerGoneEnding } from "../state/stopped-endings.ts"

/**
 * Waits until people have answered the stored call, through any interface, or until its deadline. Answers are read from
 * the row only; the dialog opened here writes into it too. Undefined means that nobody answered in time.
 */
export async function waitForAnswer(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
): Promise<SettledAnswer | undefined> {
  const dialogClosed = new AbortController()
  outerClock(call)?.countWaiting(1)
  const since = ports.now()
  try {
    openDialog(call, tool, input, ports, dialogClosed.signal)
    for (;;) {
      const row = await ownRow(call, ports)
      if (row.answer !== null) {
        call.row = row
        dialogClosed.abort({ by: row.answer.by, did: verdictWord(row, row.answer).toLowerCase() })
        return row.answer
      }
      if (call.request.signal?.aborted) throw abortedEnding(call)
      const gone = callerGoneEnding(call, ports)
      if (gone !== undefined) throw gone
      const now = ports.now()
      const until = row.deadline ?? Infinity
      // This ends the revision, so a later answer does not count. An answer that was earlier is read in the next round.
      if (now >= until) {
        if (await tryAdvance(call, ports, { revision: row.revision + 1 })) return undefined
        continue
      }
      const mustDetach = ports.closing.aborted || now >= waitUntil(call)
      // If this fails, an answer came first, and is read in the next round.
      if (mustDetach && (await tryAdvance(call, ports, { owner: "", wanted: true }))) throw new Detached(ticketOf(row))
      const pause = Math.min(until - now, waitUntil(call) - now, pollMs)
      await ports.calls.waitForChange(call.callId, Math.max(1, pause), [call.request.signal, ports.closing])
    }
  } finally {
    outerClock(call)?.countWaiting(-1)
    call.waitedMs += ports.now() - since
    dialogClosed.abort()
  }
}

/** Interval at which the row is read when no change is reported. */
const pollMs = 1000

/** Reads the row. If another process has taken it over, waits for that process and joins its result. */
async function ownRow(call: ActiveCall, ports: Ports): Promise<CallRow> {
  for (;;) {
    const row = await ports.calls.get(call.callId)
    if (row === undefined) throw abortedEnding(call)
    if (row.state === "ended" && row.result !== null) throw new Joined(row.result, row.id)
    if (row.owner === ports.owner && row.state !== "ended") return row
    if (row.owner === "" && (await claim(call, row, ports))) continue
    if (call.request.signal?.aborted || ports.closing.aborted) throw new Detached(ticketOf(row))
    await ports.calls.waitForChange(call.callId, pollMs, [call.request.signal, ports.closing])
  }
}

/** Why a call is rejected where no person can be asked. */
export const nobodyToAsk = "Nobody is here to ask."

/** Asks the person at this process. The answer counts for the revision they were shown. */
function openDialog(call: ActiveCall, tool: RegisteredTool, input: unknown, ports: Ports, closing: AbortSignal): void {
  const { row } = call
  if (row === undefined) return
  const kind = kindOf(row)
  const own = call.request.caller?.approvalUI
  const asker = own === undefined ? ports.findAsker(kind) : { by: own }
  if (asker === undefined || !asksAbout(asker, kind)) return leaveToOthers(row, ports)
  // Somebody answers in the queue, with cards of their own.
  if (asker.by === "queue") return
  const signal = asker.signal === undefined ? closing : AbortSignal.any([closing, asker.signal])
  const request = { ...pendingItem(row, ports), signal }
  void showDialog(asker.by, request, { row, tool, input })
    .then(async ({ answer, by }) => ({ answer, by: by ?? (await nameOf(asker)) }))
    .then(
      ({ answer, by }) => (signal.aborted ? undefined : storeAnswer(row, answer, by, ports)),
      (error: unknown) => {
        if (signal.aborted) return undefined
        if (error instanceof NobodyAsked) return noteUnasked(row, error, ports)
        const why = `The dialog ended without an answer (${errorMessage(error)}).`
        return storeAnswer(row, refusal(row, why), "adapter", ports)
      },
    )
}

/** Nobody is asked here. The call waits for the approval queue, unless the configuration says that it is rejected. */
function leaveToOthers(row: CallRow, ports: Ports): void {
  if (ports.settings.unattended === "reject") void storeAnswer(row, refusal(row, nobodyToAsk), "nobody", ports)
  else ports.tellUnasked(row)
}

async function noteUnasked(row: CallRow, { note }: NobodyAsked, ports: Ports): Promise<void> {
  leaveToOthers(row, ports)
  if (note === undefined) return
  const { id: callId, agentId, tool } = row
  const entry = { callId, agentId, tool, text: ports.masker.text(note) }
  try {
    await ports.recorder.write({ kind: "note", at: ports.now(), ...entry }, ports.settings.durability)
  } catch (error) {
    ports.logger.error(`It could not be written that nobody was asked about call ${callId}.`, error)
  }
}

async function showDialog(
  adapter: Partial<ApprovalUIAdapter>,
  request: ApprovalRequest,
  { row, tool, input }: { row: CallRow; tool: RegisteredTool; input: unknown },
): Promise<{ answer: Answer; by: string | undefined }> {
  const { result, card } = row
  if (request.kind === "question") {
    const decision = (await adapter.showQuestion?.(card.question!, request)) ?? {}
    return { answer: answerToQuestion(decision), by: decision.by }
  }
  if (request.kind === "result") {
    const decision = (await adapter.showToolResultApproval?.(tool.name, input, result!, request)) ?? closed
    return { answer: answerToResult(decision), by: decision.by }
  }
  const { level } = tool.permission
  const decision =
    (await adapter.showToolExecutionApproval?.(tool.name, tool.description, input, level, request)) ?? closed
  return { answer: answerToCall(decision, request), by: decision.by }
}

async function nameOf({ by, person }: Asker): Promise<string> {
  if (typeof person === "function") return person()
  return person ?? (by === "queue" ? undefined : by.by) ?? "adapter"
}

/** The decision of an adapter that returns nothing. */
const closed: { approved: boolean; by?: string } = { approved: false }

function refusal(row: CallRow, reason: string): Answer {
  return row.state === "held" ? { kind: "withhold", reason } : { kind: "reject", reason }
}

/**
 * Stores what the dialog answered. An answer that cannot be used rejects the call, as closing the dialog does; an approval
 * that does not count leaves it to others.
 */
async function storeAnswer(row: CallRow, answer: Answer, by: string, ports: Ports): Promise<void> {
  try {
    const outcome = await answerPending(row.id, answer, by, ports, row.revision)
    if (outcome.ok) return
    ports.logger.warn(`An answer to call ${row.id} did not count: ${outcome.sentence}`)
    if (answer.kind === "approve") return
    const reason = `The dialog gave an answer that cannot be used: ${outcome.sentence}`
    await answerPending(row.id, refusal(row, reason), by, ports, row.revision)
  } catch (error) {
    ports.logger.error("An answer could not be stored; the call goes on waiting.", error)
  }
}
