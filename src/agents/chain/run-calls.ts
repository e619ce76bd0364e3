import { cut, isJsonText, modelText, modelTextLimit, personText, textOfTool } from "../../core/model-text.ts"
import { imageForModel } from "../../core/result-image.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import { artifactRead, artifactReader } from "../../core/artifact-reader.ts"
import type { ModelCall } from "../models/port.ts"
import type { CallContext } from "./call-context.ts"
import { makeBatch, type MadeCall } from "./make-batch.ts"
import { askAboutInterrupted, isInterrupted } from "./ask-about-interrupted.ts"
import { toolsGivenUp } from "./reflect.ts"
import { isRepeated } from "./repeats.ts"
import { expandRefs, resultsByRef } from "./result-refs.ts"
import type { CallResult, ChainTurn } from "../context/turns.ts"

export interface Batch {
  turn: number
  calls: readonly ModelCall[]
  /** The number of calls that may still be made in this run. */
  allowed: number
  turns: readonly ChainTurn[]
  why: string
}

/**
 * Makes the calls of one answer of the model, all at once, and returns an answer for each in their order; or the tickets of
 * those that still wait for a person after `waitMs`.
 */
export async function runCalls(
  batch: Batch,
  context: CallContext,
): Promise<{ results: CallResult[] } | { waiting: Ticket[] }> {
  const refs = resultsByRef(batch.turns)
  const givenUp = toolsGivenUp(batch.turns)
  const prepared = batch.calls.map((call, place) => prepare(call, place, batch, refs, givenUp))
  const made = prepared.filter((each) => "input" in each)
  const subCalls = countSubCalls(made.length, batch.allowed)
  const outcome = await makeBatch(made, batch.turn, subCalls.takeFor, context)
  if ("waiting" in outcome) return outcome
  const { results } = outcome
  const interrupted = made.flatMap(({ call: { name }, place, input }, index) => {
    const result = results[index]!
    return isInterrupted(result) && !context.isRead(name) ? [{ place, name, input, callId: result.callId }] : []
  })
  const checked = interrupted.length > 0 ? await askAboutInterrupted(interrupted, batch.turn, context) : undefined
  if (checked !== undefined && "waiting" in checked) return checked
  context.ended.clear()
  for (const each of prepared) if ("refused" in each) context.onRefused?.(each.call, each.refused)
  const limit = textLimit(context, made.length)
  const refOf = ({ place }: Prepared) => `r${refs.size + place + 1}`
  const told = await Promise.all(
    made.map(async (each, index) => {
      const result = await toldResult(each, refOf(each), results[index]!, context, limit, checked?.told.get(each.place))
      const count = subCalls.counts[each.place]
      return count === undefined ? result : { ...result, subCalls: count }
    }),
  )
  let next = 0
  return {
    results: prepared.map((each) =>
      "input" in each
        ? told[next++]!
        : { ref: refOf(each), id: each.call.id, name: each.call.name, text: each.refused, isError: true },
    ),
  }
}

/** Counts the calls that tools make, such as the steps of a pipeline, by place: they are calls of the run too. */
function countSubCalls(made: number, allowed: number) {
  const counts: (number | undefined)[] = []
  let left = allowed - made
  const takeFor = (place: number) => () => {
    if (left <= 0) return false
    left--
    counts[place] = (counts[place] ?? 0) + 1
    return true
  }
  return { counts, takeFor }
}

/** A call of the model with its input, or with the answer to a call that is not made. */
type Prepared = MadeCall | { call: ModelCall; place: number; refused: string }

function prepare(
  call: ModelCall,
  place: number,
  { allowed, turns, why, calls }: Batch,
  refs: ReadonlyMap<string, CallResult>,
  givenUp: ReadonlySet<string>,
): Prepared {
  const notExecuted = (sentence: string) => ({ call, place, refused: `NOT EXECUTED. ${sentence}` })
  if (call.malformed !== undefined) return notExecuted(call.malformed.sentence)
  const before = place < allowed ? 0 : calls.slice(0, place).filter(({ malformed }) => malformed === undefined).length
  if (before >= allowed) return notExecuted(why)
  if (givenUp.has(call.name)) {
    return notExecuted(`${call.name} was refused in this run and is no longer offered. Go on without it.`)
  }
  if (isRepeated(call, turns)) {
    return notExecuted(
      "You made this same call before, with the same result each time. Do something else, or answer with what you have.",
    )
  }
  const expanded = expandRefs(call.input, refs)
  return "problem" in expanded ? notExecuted(expanded.problem) : { call, place, input: expanded.input }
}

/** Returns the model's text on an ended call. It reports an input that a person changed, and a person's checks. */
export async function toldResult(
  { call: { id, name } }: Pick<Prepared, "call">,
  ref: string,
  result: ToolResult,
  context: CallContext,
  limit: number,
  checked: string | undefined,
): Promise<CallResult> {
  const { callId, status, code, durationMs } = result
  const { text, value } = await textFor(result, limit, context)
  const told: CallResult = {
    ref,
    id,
    name,
    callId,
    status,
    code,
    durationMs,
    text: checked === undefined ? text : `${text}\n${checked}`,
    value,
    isError: !result.success,
    canBeReadAgain: result.success && context.isRead(name),
  }
  if (result.metadata?.["transient"] === true) told.transient = true
  const image = context.seesImages === true && result.success ? imageForModel(result.result) : undefined
  if (image !== undefined) told.image = image
  return told
}

/** The text for the model, and where in it the tool's value is. What it is not given is stored. */
async function textFor(
  result: ToolResult,
  limit: number,
  { app, request: { agentId, taskId }, isOffered }: CallContext,
): Promise<Pick<CallResult, "text" | "value">> {
  const said = personText(result)
  const whole = textOfTool(result)
  if (whole === undefined) return { text: `${said}${modelText(result)}` }
  let truncated = result.truncated ?? artifactRead(result.metadata, whole.length)
  if (truncated === undefined && whole.length > limit) {
    const stored = await app.storeText({ agentId, taskId, callId: result.callId }, whole)
    truncated = { total: whole.length, stored }
  }
  const reader = truncated !== undefined && isOffered(artifactReader) && artifactReader
  const { shown, note } = cut(whole, truncated, { limit, reader })
  const text = `${said}${shown}${note}`
  if (!result.success) return { text }
  const isJson = note === "" && isJsonText(result.result)
  return { text, value: { start: said.length, end: said.length + shown.length, isJson } }
}

/** Returns the limit of characters for each of these results: about four are a token. */
export function textLimit({ contextTokens }: CallContext, results: number): number {
  if (contextTokens === undefined) return modelTextLimit
  return Math.min(modelTextLimit, Math.max(500, Math.floor((contextTokens * 4) / 3 / Math.max(1, results))))
}
