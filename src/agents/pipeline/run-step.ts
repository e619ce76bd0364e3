import { setTimeout as sleep } from "node:timers/promises"
import { endings, isTicket, type EndingCode, type Ticket, type ToolResult } from "../../core/result.ts"
import { conditionText, judge } from "./condition.ts"
import type { TreatedAsDone } from "./cut-short.ts"
import { inputName, type PipelineStep, type StepStatus } from "./definition.ts"
import type { GraphStep } from "./graph.ts"
import { expandReferences, pick, type Lookup } from "./references.ts"

/** The ending of a step of a pipeline. */
export interface StepResult {
  id: string
  tool: string
  /**
   * `refused`: denied, or rejected by a person. `withheld`: it ran, and a person keeps its result back. `waiting`: for a
   * person. `pending`: a step before it waits. `skipped`: its condition is false, or a step that it needs has no result.
   */
  status: StepStatus
  /** The last call of the step, for the audit log. Undefined when none was made. */
  callId?: string
  /** The value that the step gives to others, when it succeeded. */
  value?: unknown
  /** The code of the call's ending, when it did not succeed. */
  code?: EndingCode
  /** Why it did not succeed, or who says that it did, as a sentence. */
  reason?: string
  /** The number of calls, when that is more than one. */
  tries?: number
  /** Why the fallback gave the value: what the tool of the step failed with. */
  fallbackBecause?: string
  durationMs?: number
}

export interface StepCall {
  tool: string
  input: unknown
  /** Different for each call of a run, and the same in each run with the same id. */
  tryName: string
  intent?: string
  /** It is a question of the pipeline itself, not a step. */
  fromLoop?: true
}

/** The context of a step that runs. */
export interface StepRun {
  /** The input of the pipeline. */
  given: Readonly<Record<string, unknown>>
  /** The steps that have ended. */
  ended: ReadonlyMap<string, StepResult>
  call(request: StepCall): Promise<ToolResult | Ticket | TreatedAsDone>
  /** Reports whether calling the tool twice has the same effect as once. */
  isIdempotent(tool: string): boolean
  onStart?(id: string, tool: string, input: unknown): void
  signal: AbortSignal
}

const pauseMs = 1000

/** Runs one step, once those before it have ended: looks whether it may, fills in its input, and calls its tool. */
export async function runStep({ definition: step, needs, after }: GraphStep, run: StepRun): Promise<StepResult> {
  const { id, tool } = step
  const end = (status: StepStatus, reason: string): StepResult => ({ id, tool, status, reason })
  const waiting = after.map((name) => run.ended.get(name)!).find(({ status }) => isUnfinished.has(status))
  if (run.signal.aborted) return end("aborted", "The pipeline was stopped before this step.")
  if (waiting !== undefined) return end("pending", `It comes after step '${waiting.id}', which waits for a person.`)
  const lookup = lookupIn(run)
  if (step.when !== undefined) {
    const met = judge(step.when, { statusOf: (name) => run.ended.get(name)?.status, lookup })
    if (typeof met === "object") return end("failed", met.refused)
    if (!met) return end("skipped", `Its condition is false: ${conditionText(step.when)}.`)
  }
  // A step that takes a withheld value fails with the sentence of that reference.
  const missing = needs.map((name) => run.ended.get(name)!).find(({ status }) => status !== "success")
  const input = expandReferences(step.input ?? {}, lookup)
  if (missing !== undefined && missing.status !== "withheld") return end("skipped", needText(missing))
  if ("problem" in input) return end("failed", input.problem)
  if (missing !== undefined) return end("skipped", needText(missing))
  const made = await callWithRetries(step, input.value, run)
  const failed = { id, ...made }
  return step.fallback === undefined || made.status !== "failed" ? failed : useFallback(step, failed, run)
}

const isUnfinished: ReadonlySet<StepStatus> = new Set(["waiting", "pending"])

const endedAs: Readonly<Partial<Record<StepStatus, string>>> = {
  failed: "failed",
  refused: "was refused",
  withheld: "has a result that a person withheld",
  skipped: "was skipped",
  aborted: "was stopped",
}

function needText({ id, status }: StepResult): string {
  return `It needs step '${id}', which ${endedAs[status] ?? status}.`
}

/** Values of the pipeline's input and of steps that succeeded. */
export function lookupIn({ given, ended }: Pick<StepRun, "given" | "ended">): Lookup {
  return ({ step, pointer, text }) => {
    const result = ended.get(step)
    if (result?.status === "withheld")
      return { refused: `It takes ${text}, and a person withheld the result of step '${step}'.` }
    if (step !== inputName && result?.status !== "success")
      return { missing: `It takes ${text}, and step '${step}' has no result.` }
    const found = pick(step === inputName ? given : result?.value, pointer)
    const whose = step === inputName ? "what the pipeline was given" : "the result"
    return found ?? { missing: `It takes ${text}, and there is nothing at that place of ${whose}.` }
  }
}

type Made = Omit<StepResult, "id">

async function callWithRetries(step: PipelineStep, input: unknown, run: StepRun): Promise<Made> {
  const { tool, description: intent, retry } = step
  const tries = 1 + (retry?.times ?? 0)
  for (let attempt = 1; ; attempt++) {
    run.onStart?.(step.id, tool, input)
    const ended = await run.call({ tool, input, tryName: `${step.id}/${attempt}`, intent })
    const made = { ...outcomeOf(ended, tool), ...(attempt > 1 && { tries: attempt }) }
    if ("treatedAsDone" in ended || isTicket(ended) || attempt === tries || !mayBeRetried(ended, tool, run)) return made
    const isStopped = await sleep((retry?.pauseMs ?? pauseMs) * attempt, false, { signal: run.signal }).catch(
      () => true,
    )
    if (isStopped) return { ...made, status: "aborted", reason: "The pipeline was stopped before the next try." }
  }
}

/** Endings after which a tool may be called again, or its fallback; not when somebody stopped or refused the call. */
const isFailure: ReadonlySet<string | undefined> = new Set<EndingCode>([
  "tool_failed",
  "output_invalid",
  "timeout",
  "upstream_unavailable",
])

function mayBeRetried({ code, metadata }: ToolResult, tool: string, run: StepRun): boolean {
  return isFailure.has(code) && (metadata?.["transient"] === true || run.isIdempotent(tool))
}

async function useFallback(step: PipelineStep, failed: StepResult, run: StepRun): Promise<StepResult> {
  const { fallback = {}, id, description: intent } = step
  if (!isFailure.has(failed.code) || run.signal.aborted) return failed
  const { callId, tries, reason: fallbackBecause } = failed
  const tool = fallback.tool
  if (tool === undefined)
    return { ...failed, status: "success", code: undefined, reason: undefined, value: fallback.value, fallbackBecause }
  const input = expandReferences(fallback.input ?? {}, lookupIn(run))
  if ("problem" in input)
    return { ...failed, reason: `${fallbackBecause} The fallback was not called: ${input.problem}` }
  run.onStart?.(id, tool, input.value)
  const ended = await run.call({ tool, input: input.value, tryName: `${id}/fallback`, intent })
  return { id, ...outcomeOf(ended, tool), tries: (tries ?? 1) + 1, ...(callId !== undefined && { fallbackBecause }) }
}

function outcomeOf(ended: ToolResult | Ticket | TreatedAsDone, tool: string): Made {
  const { callId } = ended
  if ("treatedAsDone" in ended) {
    return { tool, status: "success", callId, value: null, reason: "A person says that it has happened." }
  }
  if (isTicket(ended)) return { tool, status: "waiting", callId, reason: "It waits for a person." }
  const { durationMs } = ended
  if (ended.success) return { tool, status: "success", callId, value: ended.result, durationMs }
  const { code, error: reason } = ended
  return { tool, status: failedAs(code), callId, code, reason, durationMs }
}

function failedAs(code: EndingCode): StepStatus {
  if (code === "aborted") return "aborted"
  if (code === "result_withheld") return "withheld"
  const { status, exit } = endings[code]
  return status === "error" && exit !== 3 ? "failed" : "refused"
}
