import { hasRun, type SettledAnswer, type CallRow, type ApprovalCard } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import { redactPointers } from "../../lib/json-pointer.ts"
import type { Ports } from "../state/ports.ts"
import type { Reason } from "../../core/reason.ts"
import type { ResultApproval } from "../../core/permission.ts"
import type { ToolResult } from "../../core/result.ts"
import { withoutImageData } from "../../core/result-image.ts"
import { secretPaths } from "../../schema/secret-paths.ts"
import { artifactRead } from "../../core/artifact-reader.ts"
import { isJsonText, modelTextLimit, resultAsText } from "../../core/model-text.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { storeText } from "../state/store-text.ts"
import { removedApprovers } from "../../approvals/queue/answer-pending.ts"
import { waitForAnswer } from "../stored/wait-for-answer.ts"
import { failedResult, successResult, type DeliveredValue } from "./record.ts"
import { withheldEnding } from "../state/refusal-endings.ts"
import type { RunOutcome } from "./run.ts"
import { advance, answerDeadline, newRow } from "../stored/rows.ts"
import { mayBeHeld, announceWaiting, cardHeader, type ActiveCall } from "../state/active-call.ts"

/** Returns the result, or holds it until a person releases it. The tool is not run again for that. */
export function release(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  outcome: RunOutcome,
  ports: Ports,
): DeliveredValue | Promise<DeliveredValue> {
  call.batch?.end()
  const mustHold = isHeldBy(call.release, outcome) && isFromTool(outcome)
  // A result that was held before must be released by a person, even if the rules have changed since.
  return mustHold || hasRun(call.row) ? hold(call, tool, input, outcome, ports) : deliver(call, outcome, ports)
}

/**
 * Reports whether the outcome can reveal what the tool found. An ending by Quartermaster itself, such as a timeout,
 * cannot.
 */
function isFromTool({ ending }: RunOutcome): boolean {
  return ending === undefined || ending.code === "tool_failed" || ending.code === "output_invalid"
}

function isHeldBy(when: ResultApproval, { ending }: RunOutcome): boolean {
  return when === "always" || (when === "on-error" && ending !== undefined)
}

/** Why the result is held, as the approver reads it: what the tool says, and every rule that holds this result. */
function reasonsToHold(call: ActiveCall, tool: RegisteredTool, outcome: RunOutcome): readonly Reason[] {
  const own = tool.permission.requireResultApproval
  const when = own === "on-error" ? "when it fails" : "always"
  const sentence = `A person must release the result of ${tool.name} before the model sees it, ${when}.`
  return [
    ...(isHeldBy(own, outcome)
      ? [{ check: "release", source: tool.id, code: "result_held", params: { tool: tool.name }, sentence }]
      : []),
    ...call.holds.filter((rule) => isHeldBy(rule.when, outcome)).map(({ reason }) => reason),
  ]
}

function deliver(call: ActiveCall, outcome: RunOutcome, ports: Ports): DeliveredValue | Promise<DeliveredValue> {
  if (outcome.ending !== undefined) throw outcome.ending
  const { value } = outcome
  call.maskedResult = maskResult(call, value, ports)
  // The result of a call that ran elsewhere is there already.
  const isShort = call.maskedResult.length <= modelTextLimit || call.request.elsewhere !== undefined
  return isShort ? { value } : storeWhole(call, value, ports)
}

function maskResult(call: ActiveCall, value: unknown, ports: Ports) {
  if (Object.prototype.toString.call(value) === "[object Generator]") {
    throw new Ending("output_invalid", `${call.tool?.name} returned a plain generator. Make it an async one to stream.`)
  }
  try {
    // Of an image the record has the description; the bytes would fill it and show nothing.
    const shown = withoutImageData(value)
    return ports.masker.mask(shown, call.tool?.output && secretPaths(call.tool.output.json), call.maskedInput?.hidden)
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error)
    // The message may quote the value, which may not be shown yet.
    const because = mayBeHeld(call) ? "" : `: ${why}`
    throw new Ending("output_invalid", `${call.tool?.name} returned a value that cannot be written as JSON${because}.`)
  }
}

/** Stores a text that is too long for a model as an artifact. */
async function storeWhole(call: ActiveCall, value: unknown, ports: Ports): Promise<DeliveredValue> {
  const text = resultAsText(value)
  if (text.length <= modelTextLimit) return { value }
  const truncated = artifactRead(call.toolMetadata, text.length)
  if (truncated !== undefined) return { value, truncated }
  const { agentId, taskId } = call.request
  const mimeType = isJsonText(value) ? "application/json" : "text/plain"
  const stored = await storeText(ports)({ agentId, taskId, callId: call.callId }, text, mimeType)
  return { value, truncated: { total: text.length, stored } }
}

async function hold(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  outcome: RunOutcome,
  ports: Ports,
): Promise<DeliveredValue> {
  // The person who releases the result does not see the tool's metadata.
  call.toolMetadata = undefined
  const result =
    outcome.ending === undefined ? successResult(call, outcome, ports) : failedResult(call, outcome.ending, ports)
  maskResult(call, outcome.value, ports)
  const { durability } = ports.settings
  const ids = { callId: call.callId, agentId: call.request.agentId, tool: tool.name }
  const event = { callId: call.callId, toolName: tool.name, agentId: call.request.agentId }
  if (!hasRun(call.row)) {
    const row = await enqueue(call, tool, input, { result, asks: reasonsToHold(call, tool, outcome) }, ports)
    await ports.recorder.write({ kind: "held", at: ports.now(), ...ids }, durability)
    ports.notify(row)
  }
  if (call.row?.state === "held") {
    announceWaiting(call, { ...event, until: call.row.deadline ?? Infinity }, ports)
  }

  let answer = await waitForAnswer(call, tool, input, ports)
  while (answer?.approved === true && (await isReleaserGone(call, ports))) {
    announceWaiting(call, { ...event, until: call.row?.deadline ?? Infinity }, ports)
    answer = await waitForAnswer(call, tool, input, ports)
  }
  if (answer?.approved === true) {
    const notes = [
      ...(answer.via === "link" ? ["from a link"] : []),
      ...(answer.replace === undefined ? (answer.redact ?? []).map((pointer) => `redacted ${pointer}`) : ["replaced"]),
    ]
    const text = notes.length === 0 ? undefined : notes.join(", ")
    await ports.recorder.write({ kind: "released", at: ports.now(), ...ids, by: answer.by, text }, durability)
    ports.emit({ type: "TOOL_CALL_RELEASED", at: ports.now(), ...event, by: answer.by })
    return deliver(call, asReleased(call, outcome, answer), ports)
  }
  // A tool that made this call may pass on what it gets, so only the host's own calls keep it.
  const isKept = ports.settings.keepWithheld === true && call.parent === undefined
  const ending = withheldEnding(tool.name, answer, isKept ? outcome.value : undefined)
  const by = answer?.by ?? "nobody"
  const reason = ending.details.rejectReason ?? ""
  const why = answer?.via === "link" ? `from a link: ${reason}` : reason
  await ports.recorder.write(
    { kind: "withheld", at: ports.now(), ...ids, by, text: ports.masker.text(why) },
    durability,
  )
  ports.emit({ type: "TOOL_CALL_WITHHELD", at: ports.now(), ...event, by, reason })
  throw ending
}

/** Holds the result again if the person who released it was removed before it was delivered. */
async function isReleaserGone(call: ActiveCall, ports: Ports): Promise<boolean> {
  await ports.refresh()
  const { row } = call
  const [by] = row === undefined ? [] : removedApprovers(row, ports)
  if (row === undefined || by === undefined) return false
  const note = `${by} released it and was removed from the organisation since.`
  const again = [{ code: "again_releaser", params: { by }, text: note }]
  const deadline = answerDeadline(await ports.calls.clock(), call, ports)
  const card = { ...row.card, note, again }
  await advance(call, ports, { state: "held", answer: null, votes: [], revision: row.revision + 1, deadline, card })
  return true
}

/** The result as the person released it: whole, with parts taken out, or replaced. */
function asReleased(call: ActiveCall, outcome: RunOutcome, { redact, replace }: SettledAnswer): RunOutcome {
  if (replace === undefined && (redact === undefined || redact.length === 0)) return outcome
  call.resultNotes = { ...call.resultNotes, redacted: true }
  if (outcome.ending !== undefined) {
    const { code, details } = outcome.ending
    return { ending: new Ending(code, resultAsText(replace?.value), { toolCode: details.toolCode }) }
  }
  // The pointers refer to what the person saw, which is the stored value.
  return { value: replace === undefined ? redactPointers(call.row?.result?.result, redact ?? []) : replace.value }
}

/** Stores the result and puts it into the approval queue. */
async function enqueue(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  { result, asks }: { result: ToolResult; asks: readonly Reason[] },
  ports: Ports,
): Promise<CallRow> {
  const at = await ports.calls.clock()
  const deadline = answerDeadline(at, call, ports)
  if (call.row !== undefined) {
    const change = { state: "held" as const, result, asks, deadline, answer: null, votes: [] }
    await advance(call, ports, change)
    return { ...call.row, ...change }
  }
  const card: ApprovalCard = {
    ...cardHeader(call, tool),
    inputDigest: "",
    touches: call.touches,
    files: {},
    approvers: [],
    remember: [],
  }
  const raw = canonicalJson(call.request.input ?? {})
  const fields = { raw, state: "held" as const, asks, card, at, deadline, preview: null }
  const row = { ...newRow(call, tool, input, fields, ports), result }
  const entered = await ports.calls.insert(row)
  if (!entered.inserted) throw new Error("The row of a held result exists already.")
  call.row = row
  return row
}
