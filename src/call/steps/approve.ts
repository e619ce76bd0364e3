import { hasRun, type SettledAnswer } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import { counted } from "../../lib/counted.ts"
import { totalWaiting } from "../../core/approval.ts"
import type { Ports } from "../state/ports.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Reason } from "../../core/reason.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { allowed } from "./allowed.ts"
import { removedApprovers } from "../../approvals/queue/answer-pending.ts"
import { whyAskedAgain, whyNotEdited, type Note } from "../stored/asked-again.ts"
import { waitForAnswer } from "../stored/wait-for-answer.ts"
import { writeAnswer } from "../../approvals/queue/write-answer.ts"
import {
  makeCard,
  makeShownCard,
  renderPreview,
  showsProposal,
  coversProposal,
  type Execution,
  type Proposal,
} from "../stored/card.ts"
import { callerMayAsk, leaveToCaller } from "../stored/caller-asks.ts"
import { claimHeld, join } from "../stored/join.ts"
import { rejectedEnding, unansweredEnding } from "../state/refusal-endings.ts"
import { resolve } from "./resolve.ts"
import { answerDeadline, callDigest, newRow, tryAdvance } from "../stored/rows.ts"
import { redeemableUntil } from "../../store/stored-request.ts"
import { checkInput, givenInput } from "./validate.ts"
import { visible } from "./visible.ts"
import { announceWaiting, type ActiveCall } from "../state/active-call.ts"
import { callerGoneEnding } from "../state/stopped-endings.ts"

/**
 * Waits for a person's approval if the verdict is *ask* or the tool is a question. The approval counts for exactly this
 * call. A call with a key, or with a row already, is stored too. One that redeems the ticket of a held result has run.
 */
export function approve(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  verdict: Verdict,
  ports: Ports,
): Execution | Promise<Execution> {
  const needsNobody = verdict.verdict === "allow" && tool.question === undefined
  // A call that asks may be answered already: it counts as undecided until it waits.
  if (needsNobody) call.batch?.settle()
  const isKnown = call.request.key !== undefined || call.row !== undefined
  // Its start and its end are reported by two processes, as a rule.
  const isStored = isKnown || call.request.elsewhere !== undefined
  if (!isKnown && call.release !== "never") {
    return claimHeld(call, tool, input, ports).then(async (isClaimed) => {
      if (isClaimed) return { tool, input }
      if (!needsNobody || isStored) return approveStored(call, tool, input, verdict, ports)
      // Its result would wait: that is known before it runs.
      const counts = await ports.calls.countWaiting({ agentId: call.request.agentId, at: ports.now() })
      if (totalWaiting(counts) >= ports.settings.maxWaiting) throw fullEnding(call, ports)
      return { tool, input }
    })
  }
  return needsNobody && !isStored ? { tool, input } : approveStored(call, tool, input, verdict, ports)
}

async function approveStored(
  call: ActiveCall,
  tool: RegisteredTool,
  decided: unknown,
  verdict: Verdict,
  ports: Ports,
): Promise<Execution> {
  refuseForeignRow(call, tool)
  // A copy that the caller cannot change any more: what a person approves is what runs.
  const raw = canonicalJson(givenInput(call))
  const input = checkInput(tool, JSON.parse(raw))
  const digest = callDigest(call, input, ports)
  if (digest !== callDigest(call, decided, ports))
    throw new Ending("invalid_arguments", "The input changed while it was decided on.")
  let proposal: Proposal = { tool, input, raw, verdict, asks: asksOf(tool, verdict, call.row?.card.editedBy) }
  let isNew = call.row === undefined && (await storeNew(call, proposal, digest, ports))
  if (hasRun(call.row)) return proposal
  // The queue shows another input than the one this call was made with, because a person edited it: that one counts.
  if (call.row?.input !== raw) proposal = await decideAgain(call, {}, ports)
  if (call.row?.state === "ready" && call.row.answer !== null)
    await recordAnswer(call, proposal.tool, call.row.answer, ports)

  for (let revised: Revised = {}; ; isNew = false) {
    const { answer = null, state } = call.row ?? {}
    if (state === "ready" && answer?.edit !== undefined) {
      ;({ proposal, revised } = await applyEdit(call, proposal, answer.by, answer.edit.input, ports))
    }
    // Once a person has answered, only what they approved runs, even if no approval would be needed any more.
    const isAnswered = call.row?.state === "ready" && call.row.answer !== null && call.row.answer.edit === undefined
    if (isAnswered ? await isCovered(call, proposal, ports) : proposal.asks.length === 0)
      return executionOf(call, proposal)
    if (proposal.asks.length === 0) proposal = { ...proposal, asks: [changed] }
    if (isNew && callerMayAsk(call, ports)) {
      await leaveToCaller(call, proposal.tool, ports)
      return executionOf(call, proposal)
    }
    await askPerson(call, proposal, revised, isNew, ports)
    revised = {}
    // Rules, roles or files may have changed while the call waited, so it is decided again.
    proposal = await decideAgain(call, { known: proposal }, ports)
  }
}

const changed: Reason = {
  check: "person",
  code: "call_changed",
  source: "the approval queue",
  sentence: "What would run is not what was approved any more.",
}

/** Ends a call whose row names another agent or tool than its request: that is not the call a person approved. */
function refuseForeignRow({ row, request }: ActiveCall, tool: RegisteredTool): void {
  if (row === undefined || (row.agentId === request.agentId && row.tool === tool.name)) return
  const asked = `agent ${row.agentId} and tool ${row.tool}`
  throw new Ending("interrupted", `The stored call is for ${asked}, its request is not; it does not go on. Call again.`)
}

/** The changes that a person's edit makes in the approval queue. */
interface Revised {
  editedBy?: string
  why?: Note
}

/** The input that is decided on again. */
interface Again {
  /** The input a person gave, in canonical JSON; without it, the input in the queue. */
  raw?: string
  editedBy?: string
  /** The last proposal. If input and definition are the same, its checked input is used. */
  known?: Proposal
}

/** Checks everything again that may have changed: the agent, the tool, whether the input fits, and the verdict. */
async function decideAgain(call: ActiveCall, again: Again, ports: Ports): Promise<Proposal> {
  const { raw = call.row?.input ?? "{}", editedBy = call.row?.card.editedBy, known } = again
  // Another process may just have tightened the rules.
  await ports.refresh()
  const gone = callerGoneEnding(call, ports)
  if (gone !== undefined) throw gone
  call.who = ports.organisation.view(call.request.agentId)
  const tool = resolve(call, ports)
  refuseForeignRow(call, tool)
  visible(call, tool, ports)
  const same = known?.raw === raw && known.tool.definitionHash === tool.definitionHash
  const input = same ? known.input : checkInput(tool, JSON.parse(raw))
  const verdict = await allowed(call, tool, input, ports, ports.now())
  return { tool, input, raw, verdict, asks: asksOf(tool, verdict, editedBy) }
}

function executionOf(call: ActiveCall, { tool, input }: Proposal): Execution {
  if (call.row?.card.editedBy !== undefined) call.ranInput = { input }
  call.approvalNote = call.row?.answer?.note
  return { tool, input }
}

/** Returns the reasons a person must approve. A question always asks, and so does an input that a person edited. */
function asksOf(tool: RegisteredTool, { verdict, reasons }: Verdict, editedBy: string | undefined): readonly Reason[] {
  const asks = verdict === "ask" ? reasons.filter((reason) => reason.shadow === undefined) : []
  if (asks.length > 0) return asks
  if (tool.question !== undefined) {
    return [{ check: "tool", source: tool.id, code: "question", sentence: `Tool ${tool.name} asks a person.` }]
  }
  if (editedBy === undefined) return asks
  return [
    {
      check: "person",
      source: editedBy,
      code: "input_edited",
      sentence: `${editedBy} edited the input, and nobody has approved it yet.`,
    },
  ]
}

/** Inserts the row and returns true, or continues with the existing row of the same call and returns false. */
async function storeNew(call: ActiveCall, proposal: Proposal, digest: string, ports: Ports): Promise<boolean> {
  const waits = proposal.asks.length > 0
  if (waits) await call.order?.asking.turn()
  const at = await ports.calls.clock()
  const row = newRow(
    call,
    proposal.tool,
    proposal.input,
    {
      raw: proposal.raw,
      state: waits ? "waiting" : "decided",
      asks: proposal.asks,
      card: await (waits ? makeShownCard : makeCard)(call, proposal, ports),
      at,
      deadline: waits ? deadlineFrom(at, call, proposal, ports) : null,
      preview: waits ? await renderPreview(proposal, call) : null,
    },
    ports,
  )
  for (;;) {
    const entered = await ports.calls.insert(row, waits ? ports.settings.maxWaiting : undefined)
    if (entered.inserted) {
      call.row = row
      return true
    }
    if (entered.existing === undefined) throw fullEnding(call, ports)
    if ((await join(call, entered.existing, digest, ports)) === "claimed") return false
  }
}

/** People could not find what matters among thousands of calls of one agent, so no more of them wait. */
function fullEnding({ request: { agentId } }: ActiveCall, { settings: { maxWaiting } }: Ports): Ending {
  const sentence = `${counted(maxWaiting, "call")} of agent ${agentId} wait for people already (approvals.maxWaiting)`
  return new Ending("rate_limited", `${sentence}. Call again when some of them have been answered.`)
}

/**
 * Reports whether the stored answer approves exactly this: tool, definition, input, preview, files and every reason to
 * ask.
 */
async function isCovered(call: ActiveCall, proposal: Proposal, ports: Ports): Promise<boolean> {
  const { row } = call
  if (row?.state !== "ready" || row.answer === null || row.answer.edit !== undefined) return false
  if (!row.answer.approved) throw rejectedEnding(proposal.tool.name, proposal.tool.question !== undefined, row.answer)
  if (ports.now() > redeemableUntil(row)) {
    throw new Ending("approval_expired", "The approval was not used in time. Call again to ask anew.")
  }
  if (removedApprovers(row, ports).length > 0) return false
  return coversProposal(call, row, proposal, ports)
}

async function askPerson(
  call: ActiveCall,
  proposal: Proposal,
  revised: Revised,
  isNew: boolean,
  ports: Ports,
): Promise<void> {
  const { tool, input, asks } = proposal
  const isRevised = await enqueue(call, proposal, revised, ports)
  if (isRevised === undefined) return readEarlierAnswer(call, tool, ports)
  const { callId } = call
  const { agentId } = call.request
  if (isNew || isRevised) {
    const note = isRevised && call.row?.card.note !== undefined ? `${call.row.card.note} ` : ""
    const entry = { callId, agentId, tool: tool.name, text: ports.masker.text(note + sentences(asks)) }
    await ports.recorder.write({ kind: "asked", at: ports.now(), ...entry }, ports.settings.durability)
    if (call.row !== undefined) ports.notify(call.row)
  }
  const event = { callId, toolName: tool.name, agentId }
  announceWaiting(call, { ...event, until: call.row?.deadline ?? Infinity }, ports)

  const answer = await waitForAnswer(call, tool, input, ports)
  if (answer === undefined) {
    throw unansweredEnding(tool.name)
  }
  await recordAnswer(call, tool, answer, ports)
}

/**
 * Writes the answer to the audit log, unless that was done when it was given, and announces it. A rejection ends the
 * call.
 */
async function recordAnswer(
  call: ActiveCall,
  tool: RegisteredTool,
  answer: SettledAnswer,
  ports: Ports,
): Promise<void> {
  const ids = { id: call.callId, agentId: call.request.agentId, tool: tool.name, state: "ready" } as const
  if (answer.written !== true) await writeAnswer(ids, answer, call.maskedInput?.hidden, ports)
  if (answer.edit !== undefined) return
  const event = { callId: call.callId, toolName: tool.name, agentId: call.request.agentId, by: answer.by }
  if (answer.approved) {
    ports.emit({ type: "TOOL_CALL_APPROVED", at: ports.now(), ...event })
    return
  }
  const ending = rejectedEnding(tool.name, tool.question !== undefined, answer)
  const reason = ending.details.rejectReason ?? ending.message
  ports.emit({ type: "TOOL_CALL_REJECTED", at: ports.now(), ...event, reason })
  throw ending
}

/** Checks and decides on the input that a person gave. The call goes back to the approval queue with it. */
async function applyEdit(
  call: ActiveCall,
  before: Proposal,
  editedBy: string,
  edited: unknown,
  ports: Ports,
): Promise<{ proposal: Proposal; revised: Revised }> {
  try {
    const proposal = await decideAgain(call, { raw: canonicalJson(edited), editedBy }, ports)
    return { proposal, revised: { editedBy } }
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    // The call waits as it was, with a note for the person who edited it.
    const proposal = await decideAgain(call, { known: before }, ports)
    return { proposal, revised: { why: whyNotEdited(editedBy, error.message) } }
  }
}

/**
 * Puts the call into the approval queue as a new revision, unless this proposal waits there already (false). Undefined
 * means that the row changed first: somebody answered the last revision.
 */
async function enqueue(
  call: ActiveCall,
  proposal: Proposal,
  revised: Revised,
  ports: Ports,
): Promise<boolean | undefined> {
  if (call.row?.state === "waiting" && showsProposal(call.row, proposal)) return false
  const { editedBy = call.row?.card.editedBy } = revised
  const [card, preview] = [await makeShownCard(call, proposal, ports), await renderPreview(proposal, call)]
  const isEdit = revised.editedBy !== undefined || call.row === undefined
  const why =
    revised.why ??
    (isEdit ? {} : whyAskedAgain(call.row!, { proposal, card, preview, removed: removedApprovers(call.row!, ports) }))
  const isQueued = await tryAdvance(call, ports, {
    state: "waiting",
    answer: null,
    // They were for the last revision.
    votes: [],
    revision: (call.row?.revision ?? 0) + 1,
    input: proposal.raw,
    asks: proposal.asks,
    card: { ...card, editedBy, ...why },
    definitionHash: proposal.tool.definitionHash,
    preview,
    deadline: deadlineFrom(await ports.calls.clock(), call, proposal, ports),
  })
  return isQueued || undefined
}

/** Takes the answer into account that was given at the moment the call should have come back to the queue. */
async function readEarlierAnswer(call: ActiveCall, tool: RegisteredTool, ports: Ports): Promise<void> {
  const row = await ports.calls.get(call.callId)
  const isOurs = row?.owner === call.row?.owner && row?.epoch === call.row?.epoch
  if (!isOurs || row?.state !== "ready" || row.answer === null)
    throw new Ending("interrupted", "Another process ended this call or continued it. Look it up in the audit log.")
  call.row = row
  await recordAnswer(call, tool, row.answer, ports)
}

function deadlineFrom(at: number, call: ActiveCall, { verdict }: Proposal, ports: Ports): number {
  return Math.min(at + (verdict.deadlineMs ?? Infinity), answerDeadline(at, call, ports))
}

function sentences(reasons: readonly Reason[]): string {
  return reasons.map((reason) => reason.sentence).join(" ")
}
