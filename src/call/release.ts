import type { Answer, CallRow, Card } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import { canonicalJson } from "../model/plain.ts"
import { withoutPointers } from "../model/pointer.ts"
import type { Ports } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { ToolResult } from "../model/result.ts"
import { secretPaths } from "../model/secrets.ts"
import { modelTextLimit, plainText } from "../model/text.ts"
import { artifactLimit, type RegisteredTool } from "../model/tool.ts"
import { waitForAnswer } from "./answer.ts"
import { failedResult, succeeded } from "./record.ts"
import { withheld } from "./refused.ts"
import type { Outcome } from "./run.ts"
import { advance, hasRun, newRow } from "./states.ts"
import { mayBeHeld, tellWaiting, whoAndWhat, type Walk } from "./walk.ts"

/** What leaves the walk of a call that succeeded. */
export interface Delivered {
  value: unknown
  truncated?: ToolResult["truncated"]
}

/** Lets the result go, or holds it until a person has agreed. The tool never runs a second time for that. */
export function release(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  outcome: Outcome,
  ports: Ports,
): Delivered | Promise<Delivered> {
  const policy = walk.release
  const holds = (policy === "always" || (policy === "on-error" && outcome.ending !== undefined)) && isTheTools(outcome)
  // What was held once is released by a person, whatever the rules say by now.
  return holds || hasRun(walk.row) ? hold(walk, tool, input, outcome, ports) : deliver(walk, outcome, ports)
}

/** How the house itself ended a call says nothing of what the tool found. */
function isTheTools({ ending }: Outcome): boolean {
  return ending === undefined || ending.code === "tool_failed" || ending.code === "output_invalid"
}

/** Why the result is held: the tool's own wish, and the rules that say so. */
function heldBecause(walk: Walk, tool: RegisteredTool): readonly Reason[] {
  const when = walk.release === "on-error" ? "when it fails" : "always"
  const sentence = `A person looks at what ${tool.name} came to before the model does, ${when}.`
  return [{ voice: "release", source: tool.id, sentence }]
}

function deliver(walk: Walk, outcome: Outcome, ports: Ports): Delivered | Promise<Delivered> {
  if (outcome.ending !== undefined) throw outcome.ending
  const { value } = outcome
  walk.maskedResult = maskResult(walk, value, ports)
  return walk.maskedResult.length <= modelTextLimit ? { value } : storeWhole(walk, value, ports)
}

function maskResult(walk: Walk, value: unknown, ports: Ports) {
  if (Object.prototype.toString.call(value) === "[object Generator]") {
    throw new Ending("output_invalid", `${walk.tool?.name} returned a plain generator. Make it an async one to stream.`)
  }
  try {
    return ports.masker.mask(value, walk.tool?.output && secretPaths(walk.tool.output.json), walk.maskedInput?.hidden)
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error)
    // The value had a say in that text, and may not be seen yet.
    const because = mayBeHeld(walk) ? "" : `: ${why}`
    throw new Ending("output_invalid", `${walk.tool?.name} returned a value that cannot be written as JSON${because}.`)
  }
}

/** A text longer than a model is given is kept whole as an artifact. */
async function storeWhole(walk: Walk, value: unknown, ports: Ports): Promise<Delivered> {
  const text = plainText(value)
  if (text.length <= modelTextLimit) return { value }
  const stored = await ports.artifacts
    .shelf({ agentId: walk.request.agentId, taskId: walk.request.taskId, callId: walk.callId })
    .put({
      type: "tool_output",
      content: atMost(text, artifactLimit),
      mimeType: typeof value === "string" ? "text/plain" : "application/json",
    })
  return { value, truncated: { total: text.length, stored } }
}

/** What fits into an artifact; where it was cut it says so. */
function atMost(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  const mark = `\n[cut: ${text.length} characters in all]`
  return (
    Buffer.from(text)
      .subarray(0, bytes - mark.length - 4)
      .toString("utf8") + mark
  )
}

async function hold(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  outcome: Outcome,
  ports: Ports,
): Promise<Delivered> {
  const result =
    outcome.ending === undefined ? succeeded(walk, outcome, ports) : failedResult(walk, outcome.ending, ports)
  maskResult(walk, outcome.value, ports)
  const grade = ports.settings.durability
  const about = { callId: walk.callId, agentId: walk.request.agentId, tool: tool.name }
  const event = { callId: walk.callId, toolName: tool.name, agentId: walk.request.agentId }
  if (!hasRun(walk.row)) {
    const row = await putToDesk(walk, tool, input, result, ports)
    await ports.recorder.keep({ kind: "held", at: ports.now(), ...about }, grade)
    ports.notify(row)
  }
  if (walk.row?.state === "held") {
    tellWaiting(walk, { ...event, until: walk.row.deadline ?? Infinity }, ports)
  }

  const answer = await waitForAnswer(walk, tool, input, ports)
  if (answer?.approved === true) {
    const text =
      answer.replace === undefined ? answer.redact?.map((pointer) => `redacted ${pointer}`).join(", ") : "replaced"
    await ports.recorder.keep({ kind: "released", at: ports.now(), ...about, by: answer.by, text }, grade)
    ports.emit({ type: "TOOL_CALL_RELEASED", at: ports.now(), ...event, by: answer.by })
    return deliver(walk, inReleasedForm(walk, outcome, answer), ports)
  }
  const ending = withheld(tool.name, answer, outcome.value)
  const by = answer?.by ?? "nobody"
  const reason = ending.details.rejectReason ?? ""
  await ports.recorder.keep({ kind: "withheld", at: ports.now(), ...about, by, text: ports.masker.text(reason) }, grade)
  ports.emit({ type: "TOOL_CALL_WITHHELD", at: ports.now(), ...event, by, reason })
  throw ending
}

/** What leaves: the result as it is, without what a person took out, or what a person put in its place. */
function inReleasedForm(walk: Walk, outcome: Outcome, { redact, replace }: Answer): Outcome {
  if (replace === undefined && (redact === undefined || redact.length === 0)) return outcome
  walk.redacted = true
  if (outcome.ending !== undefined) {
    const { code, details } = outcome.ending
    return { ending: new Ending(code, plainText(replace?.value), { toolCode: details.toolCode }) }
  }
  // Taken out of what the person saw, which is the value as the store gives it back.
  return { value: replace === undefined ? withoutPointers(walk.row?.result?.result, redact ?? []) : replace.value }
}

/** The result is in the store before anyone is asked about it. */
async function putToDesk(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  result: ToolResult,
  ports: Ports,
): Promise<CallRow> {
  const at = await ports.calls.clock()
  const deadline = at + ports.settings.approvalDeadlineMs
  if (walk.row !== undefined) {
    const change = { state: "held" as const, result, deadline, answer: null, votes: [] }
    await advance(walk, ports, change)
    return { ...walk.row, ...change }
  }
  const card: Card = {
    ...whoAndWhat(walk, tool),
    inputDigest: "",
    touches: walk.touches,
    files: {},
    approvers: [],
    remember: [],
  }
  const raw = canonicalJson(walk.request.input ?? {})
  const beginning = { raw, state: "held" as const, asks: heldBecause(walk, tool), card, at, deadline, preview: null }
  const row = { ...newRow(walk, tool, input, beginning, ports), result }
  const entered = await ports.calls.insert(row)
  if (!entered.inserted) throw new Error("A held result met a row with its own id.")
  walk.row = row
  return row
}
