import type { Answer } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import { canonicalJson } from "../model/plain.ts"
import type { Ports, Verdict } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { allowed } from "./allowed.ts"
import { waitForAnswer } from "./answer.ts"
import { cardOf, previewOf, shows, stillShows, type Agreed, type Standing } from "./card.ts"
import { join } from "./join.ts"
import { refused } from "./refused.ts"
import { resolve } from "./resolve.ts"
import { advance, digestOf, hasRun, newRow, redeemWindowMs } from "./states.ts"
import { check, givenInput } from "./validate.ts"
import { visible } from "./visible.ts"
import { callerIsGone, tellWaiting, type Walk } from "./walk.ts"

/** Gets a person's agreement where the verdict asks for one, bound to this exact call; claims a caller's key. */
export function approve(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  verdict: Verdict,
  ports: Ports,
): Agreed | Promise<Agreed> {
  const free = verdict.verdict === "allow" && tool.question === undefined
  if (free && walk.request.key === undefined && walk.row === undefined) return { tool, input }
  return store(walk, tool, input, verdict, ports)
}

async function store(
  walk: Walk,
  tool: RegisteredTool,
  decided: unknown,
  verdict: Verdict,
  ports: Ports,
): Promise<Agreed> {
  refuseAnother(walk, tool)
  // A copy nobody else holds: what a person agrees to is what runs.
  const raw = canonicalJson(givenInput(walk))
  const input = check(tool, JSON.parse(raw))
  const digest = digestOf(walk, input, ports)
  if (digest !== digestOf(walk, decided, ports))
    throw new Ending("invalid_arguments", "The input changed while it was decided on.")
  let standing: Standing = { tool, input, raw, verdict, asks: asksOf(tool, verdict, walk.row?.card.editedBy) }
  let isNew = walk.row === undefined && (await enter(walk, standing, digest, ports))
  if (hasRun(walk.row)) return standing
  // The desk showed another input than this call came with: that of the row goes on.
  if (walk.row?.input !== raw) standing = await decideAgain(walk, {}, ports)
  if (walk.row?.state === "ready" && walk.row.answer !== null) await hear(walk, standing.tool, walk.row.answer, ports)

  for (let revised: Revised = {}; ; isNew = false) {
    const { answer = null, state } = walk.row ?? {}
    if (state === "ready" && answer?.edit !== undefined) {
      ;({ standing, revised } = await edit(walk, standing, answer.by, answer.edit.input, ports))
    }
    // Once a person has answered, only what they agreed to runs, also where nobody need be asked any more.
    const isAnswered = walk.row?.state === "ready" && walk.row.answer !== null && walk.row.answer.edit === undefined
    if (isAnswered ? await covers(walk, standing, ports) : standing.asks.length === 0) return agreedOn(walk, standing)
    if (standing.asks.length === 0) standing = { ...standing, asks: [changed] }
    await askPerson(walk, standing, revised, isNew, ports)
    revised = {}
    // Decided again, with whatever changed while a person thought.
    standing = await decideAgain(walk, { known: standing }, ports)
  }
}

const changed: Reason = {
  voice: "person",
  source: "the desk",
  sentence: "What would run is not what was agreed to any more.",
}

/** A row that names another agent or tool than its request is not the call anybody agreed to. */
function refuseAnother({ row, request }: Walk, tool: RegisteredTool): void {
  if (row === undefined || (row.agentId === request.agentId && row.tool === tool.name)) return
  const asked = `agent ${row.agentId} and tool ${row.tool}`
  throw new Ending("interrupted", `The stored call is for ${asked}, its request is not; it does not go on. Call again.`)
}

/** What a person's edit changes at the desk. */
interface Revised {
  editedBy?: string
  note?: string
}

/** Which input is looked at again. */
interface Again {
  /** As a person gave it; without one, what the desk shows. */
  raw?: string
  editedBy?: string | undefined
  /** What the same input came to by the same definition; anything else is checked again. */
  known?: Standing
}

/** Looks again at everything that may have changed: who asks, what the tool is, whether the input fits, the verdict. */
async function decideAgain(walk: Walk, again: Again, ports: Ports): Promise<Standing> {
  const { raw = walk.row?.input ?? "{}", editedBy = walk.row?.card.editedBy, known } = again
  // A yes counts under what decides now, also where another process has just tightened it.
  await ports.refresh()
  const gone = callerIsGone(walk, ports)
  if (gone !== undefined) throw gone
  walk.who = ports.organisation.view(walk.request.agentId)
  const tool = resolve(walk, ports)
  refuseAnother(walk, tool)
  visible(walk, tool, ports)
  const same = known?.raw === raw && known.tool.definitionHash === tool.definitionHash
  const input = same ? known.input : check(tool, JSON.parse(raw))
  const verdict = await allowed(walk, tool, input, ports, ports.now())
  return { tool, input, raw, verdict, asks: asksOf(tool, verdict, editedBy) }
}

function agreedOn(walk: Walk, { tool, input }: Standing): Agreed {
  if (tool.question !== undefined) walk.answer = walk.row?.answer?.value
  if (walk.row?.card.editedBy !== undefined) walk.ranInput = { input }
  return { tool, input }
}

/** A question asks for itself, and so does an input a person gave: nobody has agreed to it yet. */
function asksOf(tool: RegisteredTool, { verdict, reasons }: Verdict, editedBy: string | undefined): readonly Reason[] {
  const asks = verdict === "ask" ? reasons.filter((reason) => reason.shadow === undefined) : []
  if (asks.length > 0) return asks
  if (tool.question !== undefined) {
    return [{ voice: "tool", source: tool.id, sentence: `Tool ${tool.name} asks a person.` }]
  }
  if (editedBy === undefined) return asks
  return [
    { voice: "person", source: editedBy, sentence: `${editedBy} gave another input, and nobody has agreed to it.` },
  ]
}

/** Writes the row and says so, or goes on with the one that already stands for this call. */
async function enter(walk: Walk, standing: Standing, digest: string, ports: Ports): Promise<boolean> {
  const at = await ports.calls.clock()
  const waits = standing.asks.length > 0
  const row = newRow(
    walk,
    standing.tool,
    standing.input,
    {
      raw: standing.raw,
      state: waits ? "waiting" : "decided",
      asks: standing.asks,
      card: await cardOf(walk, standing, ports),
      at,
      deadline: waits ? deadlineFrom(at, standing, ports) : null,
      preview: waits ? await previewOf(standing) : null,
    },
    ports,
  )
  for (;;) {
    const entered = await ports.calls.insert(row)
    if (entered.inserted) {
      walk.row = row
      return true
    }
    if ((await join(walk, entered.existing, digest, ports)) === "claimed") return false
  }
}

/** Whether the stored answer is a yes to exactly this: tool, definition, input, preview, files and every reason to ask. */
async function covers(walk: Walk, standing: Standing, ports: Ports): Promise<boolean> {
  const { row } = walk
  if (row?.state !== "ready" || row.answer === null || row.answer.edit !== undefined) return false
  if (!row.answer.approved) throw refused(standing.tool.name, standing.tool.question !== undefined, row.answer)
  if (ports.now() > row.answer.at + redeemWindowMs) {
    throw new Ending("approval_expired", "The approval was not used within 10 minutes. Call again to ask anew.")
  }
  return stillShows(walk, row, standing, ports)
}

async function askPerson(
  walk: Walk,
  standing: Standing,
  revised: Revised,
  isNew: boolean,
  ports: Ports,
): Promise<void> {
  const { tool, input, asks } = standing
  const isBack = await putToDesk(walk, standing, revised, ports)
  const { callId } = walk
  const { agentId } = walk.request
  if (isNew || isBack) {
    const entry = { callId, agentId, tool: tool.name, text: ports.masker.text(sentences(asks)) }
    await ports.recorder.keep({ kind: "asked", at: ports.now(), ...entry }, ports.settings.durability)
    if (walk.row !== undefined) ports.notify(walk.row)
  }
  const event = { callId, toolName: tool.name, agentId }
  tellWaiting(walk, { ...event, until: walk.row?.deadline ?? Infinity }, ports)

  const answer = await waitForAnswer(walk, tool, input, ports)
  if (answer === undefined) {
    throw new Ending("approval_expired", `Nobody answered in time, so ${tool.name} was not executed.`)
  }
  await hear(walk, tool, answer, ports)
}

/** Writes down and tells what was said. A no ends the call. */
async function hear(walk: Walk, tool: RegisteredTool, answer: Answer, ports: Ports): Promise<void> {
  const about = { callId: walk.callId, agentId: walk.request.agentId, tool: tool.name, by: answer.by }
  const text = ports.masker.text(whatWasSaid(answer), walk.maskedInput?.hidden)
  await ports.recorder.keep({ kind: "answered", at: answer.at, ...about, text }, ports.settings.durability)
  if (answer.edit !== undefined) return
  const event = { callId: walk.callId, toolName: tool.name, agentId: walk.request.agentId, by: answer.by }
  if (answer.approved) {
    ports.emit({ type: "TOOL_CALL_APPROVED", at: ports.now(), ...event })
    return
  }
  const ending = refused(tool.name, tool.question !== undefined, answer)
  const reason = ending.details.rejectReason ?? ending.message
  ports.emit({ type: "TOOL_CALL_REJECTED", at: ports.now(), ...event, reason })
  throw ending
}

function whatWasSaid({ approved, edit, value, rejectReason }: Answer): string {
  if (edit !== undefined) return "edited the input"
  if (value !== undefined) return "answered"
  return approved ? "approved" : `rejected: ${rejectReason ?? "no reason given"}`
}

/** A person gave another input: it is checked and decided like any other, and comes back to the desk. */
async function edit(
  walk: Walk,
  before: Standing,
  editedBy: string,
  given: unknown,
  ports: Ports,
): Promise<{ standing: Standing; revised: Revised }> {
  try {
    const standing = await decideAgain(walk, { raw: canonicalJson(given), editedBy }, ports)
    return { standing, revised: { editedBy } }
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    // The person who edited reads why; the call waits as it was.
    const standing = await decideAgain(walk, { known: before }, ports)
    return { standing, revised: { note: `The input ${editedBy} gave cannot be used: ${error.message}` } }
  }
}

/** Puts the row back to the desk when it does not stand there as it should: another input, reasons, files or preview. */
async function putToDesk(walk: Walk, standing: Standing, revised: Revised, ports: Ports): Promise<boolean> {
  if (walk.row?.state === "waiting" && shows(walk.row, standing)) return false
  const { note, editedBy = walk.row?.card.editedBy } = revised
  await advance(walk, ports, {
    state: "waiting",
    answer: null,
    // They were for something else.
    votes: [],
    revision: (walk.row?.revision ?? 0) + 1,
    input: standing.raw,
    asks: standing.asks,
    card: { ...(await cardOf(walk, standing, ports)), editedBy, note },
    definitionHash: standing.tool.definitionHash,
    preview: await previewOf(standing),
    deadline: deadlineFrom(await ports.calls.clock(), standing, ports),
  })
  return true
}

function deadlineFrom(at: number, { verdict }: Standing, ports: Ports): number {
  return at + Math.min(verdict.deadlineMs ?? Infinity, ports.settings.approvalDeadlineMs)
}

function sentences(reasons: readonly Reason[]): string {
  return reasons.map((reason) => reason.sentence).join(" ")
}
