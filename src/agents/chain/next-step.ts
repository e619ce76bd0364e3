import { counted } from "../../lib/counted.ts"
import {
  currentRun,
  hintsBy,
  type AssistantTurn,
  type ChainStatus,
  type ChainTurn,
  type ResultsTurn,
} from "../context/turns.ts"

/** The limits of one run. A run ends with a last answer when it reaches one. */
export interface RunLimits {
  maxRounds: number
  maxCalls: number
  /** True if failed calls are reflected on before the model is asked again. */
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
  | { kind: "done"; status: ChainStatus; error?: string }
  /** Nothing was said yet. */
  | { kind: "nothing" }

/** Finds the next step of a chain. It depends on nothing but the turns, so that a killed chain goes on where it was. */
export function nextStep(turns: readonly ChainTurn[], { maxRounds, maxCalls, reflects }: RunLimits): NextStep {
  const run = readRun(currentRun(turns))
  const { last, answer } = run
  if (last === undefined) return { kind: "nothing" }
  if (last.kind === "end") return { kind: "done", status: last.body.status, error: last.body.error }
  if (answer !== undefined && answer.body.calls.length > 0 && run.results === undefined) {
    const allowed = run.isStopped || run.rounds > maxRounds ? 0 : Math.max(0, maxCalls - run.made)
    return { kind: "calls", turn: answer.index, body: answer.body, allowed }
  }
  if (run.isStopped) return { kind: "done", status: "aborted" }
  const isLimited = run.rounds > maxRounds || run.asked > maxCalls
  if (reflects && !isLimited && hasFailures(run.unreflected)) return { kind: "reflect" }
  if (answer === undefined || run.results !== undefined || run.isUnread)
    return { kind: "ask", last: isLimited ? "limit" : run.verdict === "complete" && "complete" }
  if (isLimited) return { kind: "done", status: "limit", error: limitSentence(run, { maxRounds, maxCalls }) }
  const error = whyEmpty(answer.body)
  if (error !== undefined) return { kind: "done", status: "error", error }
  // Once: a model that writes calls as text for ever, or explains how they are written, has answered.
  return answer.body.describedCall && !run.isHinted ? { kind: "hint" } : { kind: "done", status: "completed" }
}

/** Reports whether the current run was stopped, and not resumed since. */
export function isStopped(turns: readonly ChainTurn[]): boolean {
  return readRun(currentRun(turns)).isStopped
}

/** Returns a sentence on the limit that was reached, and the key that raises it. */
function limitSentence({ rounds }: RunFacts, { maxRounds, maxCalls }: Omit<RunLimits, "reflects">): string {
  const raise = (key: string, flag: string) =>
    `'agents.${key}' in the configuration raises it, and ${flag} of 'qm run' for one conversation.`
  return rounds > maxRounds
    ? `The run reached its limit of ${counted(maxRounds, "answer")} with tool calls. ${raise("maxRounds", "--max-rounds")}`
    : `The run reached its limit of ${counted(maxCalls, "tool call")}. ${raise("maxCalls", "--max-calls")}`
}

/** Why there is no answer, where the provider broke it off before its first word. */
function whyEmpty({ text, finishReason }: AssistantTurn): string | undefined {
  if (text.trim() !== "") return undefined
  if (finishReason === "length")
    return "The model gave no answer: it reached its limit of tokens before the first word. Raise the model's 'maxOutputTokens', or ask for less."
  if (finishReason === "content-filter")
    return "The model gave no answer: its provider's content filter stopped it. Ask in other words."
  return undefined
}

/** A summary of the turns of a run. */
interface RunFacts {
  /** The last turn that is not an aside. */
  last: ChainTurn | undefined
  /** The last answer of the model, and the results that came after it. */
  answer: (ChainTurn & { kind: "assistant" }) | undefined
  results: ResultsTurn | undefined
  /** True if somebody said something, or asked for another answer, that the last answer does not know of. */
  isUnread: boolean
  /** The number of answers with calls. */
  rounds: number
  /** The numbers of calls the model asked for that could be made, and of calls made, with those that tools made. */
  asked: number
  made: number
  isStopped: boolean
  isHinted: boolean
  /** The last results, if nothing was decided about them yet. */
  unreflected: ResultsTurn | undefined
  /** The last decision. */
  verdict: string | undefined
}

function readRun(run: readonly ChainTurn[]): RunFacts {
  const facts: RunFacts = {
    last: undefined,
    answer: undefined,
    results: undefined,
    isUnread: false,
    rounds: 0,
    asked: 0,
    made: 0,
    isStopped: false,
    isHinted: false,
    unreflected: undefined,
    verdict: undefined,
  }
  let lastText = -1
  for (const turn of run) {
    // A stop that came after the end had nothing to stop.
    if (turn.kind === "stop" && facts.last?.kind === "end") continue
    if (!asides.has(turn.kind)) facts.last = turn
    if (turn.kind === "user") {
      lastText = turn.index
      facts.isHinted ||= turn.body.by === hintsBy
    } else if (turn.kind === "assistant") {
      facts.answer = turn
      facts.results = undefined
      facts.asked += turn.body.calls.filter(({ malformed }) => malformed === undefined).length
      if (turn.body.calls.length > 0) facts.rounds++
    } else if (turn.kind === "results") {
      facts.results = facts.unreflected = turn.body
      facts.made += callsIn(turn.body)
      for (const { subCalls = 0 } of turn.body.results) facts.asked += subCalls
    } else if (turn.kind === "reflection") {
      facts.unreflected = undefined
      facts.verdict = turn.body.verdict
    } else if (turn.kind === "stop") facts.isStopped = true
    else if (turn.kind === "retry") {
      lastText = turn.index
      facts.isStopped = false
    }
  }
  const { answer } = facts
  facts.isUnread = answer !== undefined && lastText >= (answer.body.read ?? answer.index)
  return facts
}

/** Turns that change nothing about what comes next. */
const asides = new Set<ChainTurn["kind"]>(["summary", "references", "budget", "hops", "taken-back"])

function hasFailures(turn: ResultsTurn | undefined): boolean {
  return turn !== undefined && turn.results.some((result) => wasMade(result) && result.isError)
}

/** Counts the calls that were made for these results, with those that tools made. */
export function callsIn({ results }: ResultsTurn): number {
  return results.reduce((sum, result) => sum + (wasMade(result) ? 1 + (result.subCalls ?? 0) : 0), 0)
}

function wasMade({ callId }: { callId?: string }): boolean {
  return callId !== undefined
}
