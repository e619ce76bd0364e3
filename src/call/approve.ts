import { setTimeout as sleep } from "node:timers/promises"
import type { Answer, CallRow } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Verdict } from "../policy/decide.ts"
import { allowed } from "./allowed.ts"
import { waitForAnswer } from "./answer.ts"
import { join } from "./join.ts"
import { resolve } from "./resolve.ts"
import { advance, digestOf, newRow, redeemWindowMs } from "./states.ts"
import { check } from "./validate.ts"
import { visible } from "./visible.ts"
import type { Walk } from "./walk.ts"

const previewMs = 10_000

/** What may run: the tool and input that were agreed to. */
export interface Agreed {
  tool: RegisteredTool
  input: unknown
}

/** Gets a person's agreement where the verdict asks for one, bound to this exact call; claims a caller's key. */
export function approve(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  verdict: Verdict,
  ports: Ports,
): Agreed | Promise<Agreed> {
  const agreed = { tool, input }
  if (verdict.verdict === "allow" && walk.request.key === undefined && walk.row === undefined) return agreed
  return store(walk, agreed, verdict, ports)
}

async function store(walk: Walk, { tool, input: given }: Agreed, verdict: Verdict, ports: Ports): Promise<Agreed> {
  // A copy nobody else holds: what a person agrees to is what runs.
  const input = check(tool, structuredClone(walk.request.input ?? {}))
  if (digestOf(walk, input) !== digestOf(walk, given))
    throw new Ending("invalid_arguments", "The input changed while it was decided on.")
  const digest = digestOf(walk, input)
  let asks = verdict.verdict === "ask" ? verdict.reasons : []
  let isNew = walk.row === undefined && (await enter(walk, { tool, input }, asks, digest, ports))
  if (alreadyRan(walk)) return { tool, input }

  for (let current = tool; ; isNew = false) {
    if (asks.length === 0 || (await covers(walk, { tool: current, input }, digest, asks, ports)))
      return { tool: current, input }
    await askPerson(walk, current, input, asks, isNew, ports)
    // Decided again, with whatever changed while a person thought.
    current = resolve(walk, ports)
    visible(walk, current, ports)
    const again = await allowed(walk, current, input, ports)
    asks = again.verdict === "ask" ? again.reasons : []
  }
}

/** Writes the row and says so, or goes on with the one that already stands for this call. */
async function enter(
  walk: Walk,
  agreed: Agreed,
  asks: readonly Reason[],
  digest: string,
  ports: Ports,
): Promise<boolean> {
  const at = await ports.calls.clock()
  const waits = asks.length > 0
  const row = newRow(
    walk,
    agreed.tool,
    agreed.input,
    {
      state: waits ? "waiting" : "decided",
      asks,
      at,
      deadline: waits ? at + ports.settings.approvalDeadlineMs : null,
      preview: waits ? await previewOf(agreed) : null,
    },
    ports,
  )
  const entered = await ports.calls.insert(row)
  if (entered.inserted) walk.row = row
  else await join(walk, entered.existing, digest, ports)
  return entered.inserted
}

/** What an approver sees. A preview that fails is shown as such, so that nobody agrees to something unseen. */
async function previewOf({ tool, input }: Agreed): Promise<string | null> {
  if (tool.preview === undefined) return null
  try {
    // As the store gives it back, so that an unchanged preview is equal to the one that was agreed to.
    const shown = await Promise.race([tool.preview(input), sleep(previewMs, undefined, { ref: false })])
    if (shown === undefined) return "(The preview took too long.)"
    return String(shown).toWellFormed().replaceAll("\0", "\\0")
  } catch (error) {
    return `(The preview failed: ${error instanceof Error ? error.message : String(error)})`
  }
}

function alreadyRan(walk: Walk): boolean {
  return walk.row?.state === "held" || walk.row?.state === "released"
}

/** Whether the stored answer is a yes to exactly this: tool, definition, input, preview and every reason to ask. */
async function covers(
  walk: Walk,
  agreed: Agreed,
  digest: string,
  asks: readonly Reason[],
  ports: Ports,
): Promise<boolean> {
  const { row } = walk
  const { tool } = agreed
  if (row?.state !== "ready" || row.answer === null) return false
  if (!row.answer.approved) throw rejected(tool, row.answer)
  if (ports.now() > row.answer.at + redeemWindowMs) {
    throw new Ending("approval_expired", "The approval was not used within 10 minutes. Call again to ask anew.")
  }
  return row.inputDigest === digest && shows(row, tool, asks) && row.preview === (await previewOf(agreed))
}

/** Whether what stands at the desk is this tool with these reasons. */
function shows(row: CallRow, tool: RegisteredTool, asks: readonly Reason[]): boolean {
  if (row.tool !== tool.name || row.definitionHash !== tool.definitionHash) return false
  return asks.every((ask) => row.asks.some((seen) => seen.voice === ask.voice && seen.sentence === ask.sentence))
}

function rejected(tool: RegisteredTool, answer: Answer): Ending {
  const rejectReason = answer.rejectReason ?? "No reason was given."
  const said = answer.by === "nobody" ? "Nobody agreed to" : `A person (${answer.by}) rejected`
  return new Ending("approval_rejected", `${said} the call of ${tool.name}: ${rejectReason}`, { rejectReason })
}

async function askPerson(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  asks: readonly Reason[],
  isNew: boolean,
  ports: Ports,
): Promise<void> {
  const isBack = await putToDesk(walk, tool, input, asks, ports)
  const grade = ports.settings.durability
  const about = { callId: walk.callId, agentId: walk.request.agentId, tool: tool.name }
  const event = { callId: walk.callId, toolName: tool.name, agentId: walk.request.agentId }
  if (isNew || isBack) {
    await ports.recorder.keep(
      { kind: "asked", at: ports.now(), ...about, text: ports.masker.text(sentences(asks)) },
      grade,
    )
    ports.emit({ type: "TOOL_CALL_WAITING", at: ports.now(), ...event, until: walk.row?.deadline ?? Infinity })
  }

  const adapter = ports.approvals
  const show = adapter?.showToolExecutionApproval.bind(adapter)
  const answer = await waitForAnswer(
    walk,
    tool,
    ports,
    show && ((request) => show(tool.name, tool.description, input, tool.permission.level, request)),
  )
  if (answer === undefined) {
    throw new Ending("approval_expired", `Nobody answered in time, so ${tool.name} was not executed.`)
  }
  const text = answer.approved ? "approved" : `rejected: ${answer.rejectReason ?? "no reason given"}`
  await ports.recorder.keep(
    { kind: "answered", at: ports.now(), ...about, by: answer.by, text: ports.masker.text(text) },
    grade,
  )
  if (answer.approved) {
    ports.emit({ type: "TOOL_CALL_APPROVED", at: ports.now(), ...event, by: answer.by })
    return
  }
  const ending = rejected(tool, answer)
  const reason = ending.details.rejectReason ?? ""
  ports.emit({ type: "TOOL_CALL_REJECTED", at: ports.now(), ...event, by: answer.by, reason })
  throw ending
}

/** Puts the row back to the desk when it does not stand there as it should: with new reasons, or a new preview. */
async function putToDesk(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  asks: readonly Reason[],
  ports: Ports,
): Promise<boolean> {
  if (walk.row?.state === "waiting" && shows(walk.row, tool, asks)) return false
  await advance(walk, ports, {
    state: "waiting",
    answer: null,
    asks,
    definitionHash: tool.definitionHash,
    preview: await previewOf({ tool, input }),
    deadline: (await ports.calls.clock()) + ports.settings.approvalDeadlineMs,
  })
  return true
}

function sentences(reasons: readonly Reason[]): string {
  return reasons.map((reason) => reason.sentence).join(" ")
}
