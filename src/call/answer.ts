import type { Saying } from "../model/approval.ts"
import type { Answer, CallRow } from "../model/call.ts"
import { messageOf } from "../model/message.ts"
import type { Ports } from "../model/ports.ts"
import type { Ticket } from "../model/result.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { requestFor, sayTo } from "./desk.ts"
import { claim, tryAdvance } from "./states.ts"
import { Joined, aborted, callerIsGone, Detached, type Walk } from "./walk.ts"

/**
 * Waits until people have answered the stored call, here or at any other door, or until its deadline. The row is the
 * only truth: the dialog only writes an answer into it. Undefined means that nobody answered in time.
 */
export async function waitForAnswer(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
): Promise<Answer | undefined> {
  const closing = new AbortController()
  walk.parent?.clock?.waiting(1)
  try {
    show(walk, tool, input, ports, closing.signal)
    for (;;) {
      const row = await rowOf(walk, ports)
      if (row.answer !== null) {
        walk.row = row
        closing.abort({ by: row.answer.by })
        return row.answer
      }
      if (walk.request.signal?.aborted) throw aborted(walk)
      const gone = callerIsGone(walk, ports)
      if (gone !== undefined) throw gone
      const now = ports.now()
      const until = row.deadline ?? Infinity
      // An answer of this very moment either came before, and is read in the next turn, or does not count any more.
      if (now >= until) {
        if (await tryAdvance(walk, ports, { revision: row.revision + 1 })) return undefined
        continue
      }
      const impatient = ports.closing.aborted || (walk.patienceUntil !== undefined && now >= walk.patienceUntil)
      // Lost to an answer that came at this very moment: it is read in the next turn.
      if (impatient && (await tryAdvance(walk, ports, { owner: "", wanted: true }))) throw new Detached(ticketOf(row))
      const pause = Math.min(until - now, (walk.patienceUntil ?? Infinity) - now, lookAgainMs)
      await ports.calls.waitForChange(walk.callId, Math.max(1, pause), [walk.request.signal, ports.closing])
    }
  } finally {
    walk.parent?.clock?.waiting(-1)
    closing.abort()
  }
}

/** Wake-ups are hints, so now and then somebody looks without one. */
const lookAgainMs = 1000

/** The row as it stands. When somebody else took it, what the call comes to there is what it comes to here. */
async function rowOf(walk: Walk, ports: Ports): Promise<CallRow> {
  for (;;) {
    const row = await ports.calls.get(walk.callId)
    if (row === undefined) throw aborted(walk)
    if (row.state === "ended" && row.result !== null) throw new Joined(row.result, row.id)
    if (row.owner === ports.owner && row.state !== "ended") return row
    if (row.owner === "" && (await claim(walk, row, ports))) continue
    if (walk.request.signal?.aborted || ports.closing.aborted) throw new Detached(ticketOf(row))
    await ports.calls.waitForChange(walk.callId, lookAgainMs, [walk.request.signal, ports.closing])
  }
}

/** What a dialog came to. */
interface Spoken {
  saying: Saying
  by: string | undefined
}

/** Shows the call to whoever is right here. What they say counts for the revision they were shown. */
function show(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports, signal: AbortSignal): void {
  const { row } = walk
  if (row === undefined) return
  const dialog = dialogFor(row, tool, input, walk.request.caller?.approvals ?? ports.approvals, signal)
  if (dialog === undefined) {
    if (ports.settings.unattended === "reject") void say(row, refusal(row, "Nobody is here to ask."), "nobody", ports)
    return
  }
  void dialog.then(
    ({ saying, by }) => (signal.aborted ? undefined : say(row, saying, by ?? "adapter", ports)),
    (error: unknown) => {
      if (signal.aborted) return undefined
      const why = `The dialog ended without an answer (${messageOf(error)}).`
      return say(row, refusal(row, why), "adapter", ports)
    },
  )
}

function dialogFor(
  row: CallRow,
  tool: RegisteredTool,
  input: unknown,
  approvals: Ports["approvals"],
  signal: AbortSignal,
): Promise<Spoken> | undefined {
  const request = requestFor(row, signal)
  const later = Promise.resolve()
  if (request.kind === "question") {
    const question = row.card.question
    if (approvals.showQuestion === undefined || question === undefined) return undefined
    return later.then(async () => {
      const { answer, rejectReason, by } = (await approvals.showQuestion?.(question, request)) ?? {}
      const reason = rejectReason ?? "the question was closed without an answer"
      return { saying: answer === undefined ? { say: "reject", reason } : { say: "answer", value: answer }, by }
    })
  }
  if (request.kind === "result") {
    const { result } = row
    if (approvals.showToolResultApproval === undefined || result === null) return undefined
    return later.then(async () => {
      const decision = await approvals.showToolResultApproval?.(tool.name, input, result, request)
      const { approved, redact, replace, rejectReason: reason, by } = decision ?? { approved: false }
      return {
        saying:
          approved === true
            ? { say: "release", redact, replace: replace && (replace.value ?? null) }
            : { say: "withhold", reason },
        by,
      }
    })
  }
  if (approvals.showToolExecutionApproval === undefined) return undefined
  const { level } = tool.permission
  return later.then(async () => {
    const decision = await approvals.showToolExecutionApproval?.(tool.name, tool.description, input, level, request)
    const { approved, persistDecision, edit, rejectReason: reason, by } = decision ?? { approved: false }
    const offered = request.remember.map(({ scope }) => scope)
    const wished = decision?.remember ?? (persistDecision === true ? "tool-session" : undefined)
    const remember = wished !== undefined && offered.includes(wished) ? wished : undefined
    if (edit !== undefined) return { saying: { say: "edit", input: edit.input }, by }
    return { saying: approved === true ? { say: "approve", remember } : { say: "reject", reason, remember }, by }
  })
}

function refusal(row: CallRow, reason: string): Saying {
  return row.state === "held" ? { say: "withhold", reason } : { say: "reject", reason }
}

/** An answer that cannot be used is a no, like a dialog that was closed; a yes that does not count leaves it to others. */
async function say(row: CallRow, saying: Saying, by: string, ports: Ports): Promise<void> {
  try {
    const heard = await sayTo(row.id, saying, by, ports, row.revision)
    if (heard.ok) return
    ports.logger.warn(`An answer to call ${row.id} did not count: ${heard.sentence}`)
    if (saying.say === "approve") return
    const reason = `The dialog gave an answer that cannot be used: ${heard.sentence}`
    await sayTo(row.id, refusal(row, reason), by, ports, row.revision)
  } catch (error) {
    ports.logger.error("An answer could not be kept; the call goes on waiting.", error)
  }
}

export function ticketOf(row: CallRow): Ticket {
  const state = row.state === "held" || row.state === "ready" ? row.state : "waiting"
  return { callId: row.id, state, until: row.deadline ?? Infinity }
}
