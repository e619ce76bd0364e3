import {
  currentRun,
  hintsBy,
  unanswered,
  type AssistantTurn,
  type ChainStatus,
  type ChainTurn,
  type ResultsTurn,
} from "./turns.ts"

/** The limits of one run. A run ends with a last answer when it reaches one. */
export interface RunLimits {
  maxRounds: number
  maxCalls: number
  /** Whether failed calls are reflected on before the model is asked again. */
  reflects: boolean
}

export type NextStep =
  /** Make the calls of the last answer; `allowed` of them at most. */
  | { kind: "calls"; turn: number; body: AssistantTurn; allowed: number }
  /** Ask the model. For its last answer, after a limit or when nothing is left to call, it may not call tools. */
  | { kind: "ask"; last: false | "limit" | "complete" }
  /** Decide how to go on after calls failed. */
  | { kind: "reflect" }
  /** Tell the model that it described a call instead of making it. */
  | { kind: "hint" }
  | { kind: "done"; status: ChainStatus; error?: string | undefined }
  /** Nothing was said yet. */
  | { kind: "nothing" }

/** What a chain does next. It depends on nothing but the turns, so that a killed chain goes on where it was. */
export function nextStep(turns: readonly ChainTurn[], { maxRounds, maxCalls, reflects }: RunLimits): NextStep {
  const run = currentRun(turns)
  const last = run.findLast(({ kind }) => !asides.has(kind))
  if (last === undefined) return { kind: "nothing" }
  if (last.kind === "end") return { kind: "done", status: last.body.status, error: last.body.error }
  const rounds = run.filter((turn) => turn.kind === "assistant" && turn.body.calls.length > 0).length
  const open = unanswered(run)
  const stopped = run.some(({ kind }) => kind === "stop")
  if (open !== undefined) {
    const made = callsMade(run)
    const allowed = stopped || rounds > maxRounds ? 0 : Math.max(0, maxCalls - made)
    return { kind: "calls", turn: open.index, body: open.body, allowed }
  }
  if (stopped) return { kind: "done", status: "aborted" }
  const answer = run.findLast((turn) => turn.kind === "assistant")
  const isLimited = rounds > maxRounds || callsAsked(run) > maxCalls
  if (reflects && !isLimited && awaitsReflection(run)) return { kind: "reflect" }
  const isComplete = run.findLast((turn) => turn.kind === "reflection")?.body.verdict === "complete"
  // Something was said after the last answer: a result, or a text that steers.
  if (answer === undefined || hasNews(run, answer)) {
    return { kind: "ask", last: isLimited ? "limit" : isComplete && "complete" }
  }
  if (isLimited) return { kind: "done", status: "limit" }
  // Once: a model that writes calls as text for ever, or explains how they are written, has answered.
  const isHinted = run.some((turn) => turn.kind === "user" && turn.body.by === hintsBy)
  return answer.body.describedCall && !isHinted ? { kind: "hint" } : { kind: "done", status: "completed" }
}

/** Turns that change nothing about what comes next. */
const asides = new Set<ChainTurn["kind"]>(["summary", "references", "budget", "hops"])

function hasNews(run: readonly ChainTurn[], { index: last, body }: ChainTurn & { kind: "assistant" }): boolean {
  const { read = last } = body
  return run.some(({ kind, index }) => (index > last && kind === "results") || (index >= read && kind === "user"))
}

/** Whether calls of the last results failed and nothing was decided about it yet. */
function awaitsReflection(run: readonly ChainTurn[]): boolean {
  const last = run.findLast(({ kind }) => kind === "results" || kind === "reflection")
  return last?.kind === "results" && last.body.results.some((result) => wasMade(result) && result.isError)
}

/** How many calls of this run were really made. */
function callsMade(run: readonly ChainTurn[]): number {
  return run.reduce((sum, turn) => sum + (turn.kind === "results" ? callsIn(turn.body) : 0), 0)
}

/** How many calls were made for these results, with those that tools made. */
export function callsIn({ results }: ResultsTurn): number {
  return results.filter(wasMade).reduce((sum, { subCalls = 0 }) => sum + 1 + subCalls, 0)
}

function wasMade({ callId }: { callId?: string | undefined }): boolean {
  return callId !== undefined
}

function callsAsked(run: readonly ChainTurn[]): number {
  const made = run.flatMap((turn) => (turn.kind === "results" ? turn.body.results : []))
  const asked = run.reduce((sum, turn) => sum + (turn.kind === "assistant" ? turn.body.calls.length : 0), 0)
  return made.reduce((sum, { subCalls = 0 }) => sum + subCalls, asked)
}
