import type { App } from "../../model/app.ts"
import type { CallRequest } from "../../model/call.ts"
import { answerText, modelTextLimit } from "../../model/model-text.ts"
import { isTicket, type Ticket, type ToolResult } from "../../model/result.ts"
import type { ModelCall } from "../models/port.ts"
import { askAboutInterrupted, isInterrupted } from "./ask-about-interrupted.ts"
import { toolsGivenUp } from "./reflect.ts"
import { isRepeated } from "./repeats.ts"
import { expandRefs, resultsByRef } from "./result-refs.ts"
import type { CallResult, ChainTurn } from "./turns.ts"

/** What the calls of a chain have in common. */
export interface CallContext {
  app: Pick<App, "callBatch">
  request: Omit<CallRequest, "tool" | "input" | "key"> & { sessionId: string }
  /** Whether calls with effects need not wait for the questions of their batch. */
  independent: boolean
  /** Whether each call gets a key, so that it is made once however often the chain is resumed. */
  durable: boolean
  /** How long calls may wait for people before the chain returns with status `waiting`. */
  waitMs: number | undefined
  /** The context window of the model, in tokens: the results of one answer fill at most a third of it. */
  contextTokens?: number | undefined
  /** Whether a tool only reads, by its name. */
  isRead(name: string): boolean
  onStart?(call: ModelCall): void
  onComplete?(call: ModelCall, result: ToolResult): void
}

export interface Batch {
  turn: number
  calls: readonly ModelCall[]
  /** How many of the calls may still be made in this run. */
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
  const prepared = batch.calls.map((call, place) => prepare(call, place, batch, refs))
  const requests = prepared.flatMap((each, place) => ("input" in each ? [{ place, input: each.input }] : []))
  const ended = await context.app.callBatch(
    requests.map(({ place, input }) => requestOf(batch.calls[place]!, place, input, batch, context)),
    {
      waitMs: context.waitMs,
      independent: context.independent,
      onStart: (index) => context.onStart?.(batch.calls[requests[index]!.place]!),
      onEnd: (index, result) => {
        if (!isTicket(result)) context.onComplete?.(batch.calls[requests[index]!.place]!, result)
      },
    },
  )
  const tickets = ended.filter(isTicket)
  if (tickets.length > 0) return { waiting: tickets }
  const made = new Map(requests.map(({ place }, index) => [place, ended[index] as ToolResult]))
  const interrupted = await askAboutInterrupted(
    requests.flatMap(({ place, input }) => {
      const { name } = batch.calls[place]!
      const result = made.get(place)!
      const { callId } = result
      return isInterrupted(result) && !context.isRead(name) ? [{ place, name, input, callId }] : []
    }),
    batch.turn,
    context,
  )
  if ("waiting" in interrupted) return interrupted
  const limit = textLimit(context, requests.length)
  return {
    results: batch.calls.map((call, place) => {
      const ref = `r${refs.size + place + 1}`
      const result = made.get(place)
      const each = prepared[place]!
      if (result !== undefined) {
        const told = toldResult(call, result, context, limit)
        const checked = interrupted.told.get(place)
        return { ref, ...told, text: checked === undefined ? told.text : `${told.text}\n${checked}` }
      }
      return { ref, id: call.id, name: call.name, text: "refused" in each ? each.refused : "", isError: true }
    }),
  }
}

/** The input to call with, or the answer to a call that is not made. */
function prepare(
  call: ModelCall,
  place: number,
  { allowed, turns, why, calls }: Batch,
  refs: ReadonlyMap<string, CallResult>,
): { input: unknown } | { refused: string } {
  if (call.malformed !== undefined) return notExecuted(call.malformed.sentence)
  const before = calls.slice(0, place).filter(({ malformed }) => malformed === undefined).length
  if (before >= allowed) return notExecuted(why)
  if (toolsGivenUp(turns).has(call.name)) {
    return notExecuted(`${call.name} was refused in this run and is no longer offered. Go on without it.`)
  }
  if (isRepeated(call, turns)) {
    return notExecuted(
      "You made this same call before, with the same result each time. Do something else, or answer with what you have.",
    )
  }
  const expanded = expandRefs(call.input, refs)
  return "problem" in expanded ? notExecuted(expanded.problem) : expanded
}

function notExecuted(sentence: string): { refused: string } {
  return { refused: `NOT EXECUTED. ${sentence}` }
}

function requestOf(
  { name }: ModelCall,
  place: number,
  input: unknown,
  { turn }: Batch,
  context: CallContext,
): CallRequest {
  const { request, durable } = context
  return { ...request, tool: name, input, ...(durable && { key: `${request.sessionId}/${turn}/${place}` }) }
}

/** What the model is told of an ended call. It learns of an input that a person changed. */
function toldResult(
  { id, name }: ModelCall,
  result: ToolResult,
  { isRead }: CallContext,
  limit: number,
): Omit<CallResult, "ref"> {
  const { callId, status, code, durationMs } = result
  return {
    id,
    name,
    callId,
    status,
    code,
    durationMs,
    ...(result.metadata?.["transient"] === true && { transient: true }),
    text: answerText(result, name, limit),
    isError: !result.success,
    canBeReadAgain: result.success && isRead(name),
  }
}

/** How many characters of each of these results the model is given: about four are a token. */
function textLimit({ contextTokens }: CallContext, results: number): number {
  if (contextTokens === undefined) return modelTextLimit
  return Math.min(modelTextLimit, Math.max(500, Math.floor((contextTokens * 4) / 3 / Math.max(1, results))))
}
