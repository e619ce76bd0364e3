import { errorMessage } from "../../lib/error-message.ts"
import { isTicket, lostResult, type Ticket, type ToolResult } from "../../core/result.ts"
import type { ModelCall } from "../models/port.ts"
import { sameCallKey } from "./repeats.ts"
import { placeKey, requestOf, type CallContext } from "./call-context.ts"

/** A call of the model with its input, at its place in the answer. */
export interface MadeCall {
  call: ModelCall
  place: number
  input: unknown
}

/**
 * Makes the calls that have not ended yet, and goes on with those whose results people hold. What only waited for the
 * others is made when the run goes on, or once more where they have all been answered meanwhile.
 */
export async function makeBatch(
  made: readonly MadeCall[],
  turn: number,
  takeFor: (place: number) => () => boolean,
  context: CallContext,
  isAgain = false,
): Promise<{ results: ToolResult[] } | { waiting: Ticket[] }> {
  const keyOf = ({ place }: MadeCall) => placeKey(turn, place)
  const givenBack: [ModelCall, ToolResult][] = []
  const onEnd = (each: MadeCall, ended: ToolResult | Ticket) => {
    if (isTicket(ended)) {
      if (ended.state === "held" && !context.durable) context.held.set(keyOf(each), ended.callId)
    } else if (isGivenBack(ended)) givenBack.push([each.call, ended])
    else {
      context.ended.set(keyOf(each), ended)
      context.onComplete?.(each.call, ended)
    }
  }
  const left = made.filter((each) => !context.ended.has(keyOf(each)) && !context.held.has(keyOf(each)))
  const held = made.filter((each) => context.held.has(keyOf(each)))
  const keyed = keyedPlaces(made, context.durable)
  const requests = left.map(({ call, place, input }) => {
    const key = keyed.has(place) ? `${context.request.sessionId}/${placeKey(turn, place)}` : undefined
    return requestOf(context, call.name, input, key, takeFor(place))
  })
  const resumed = held.map(async (each) => {
    const ended = await resumeHeld(context.held.get(keyOf(each))!, each.call.name, context)
    if (!isTicket(ended)) context.held.delete(keyOf(each))
    onEnd(each, ended)
    return ended
  })
  const ended = await context.app.callMany(requests, {
    waitMs: context.waitMs,
    detach: context.detach,
    oneAnswer: !context.independent,
    clock: context.clock,
    onStart: (index) => context.onStart?.(left[index]!.call),
    onEnd: (index, result) => onEnd(left[index]!, result),
  })
  const tickets = [...ended, ...(await Promise.all(resumed))].filter(isTicket)
  if (tickets.length > 0) return { waiting: tickets }
  const isStopped = context.request.signal?.aborted === true || context.detach?.aborted === true
  if (givenBack.length > 0 && !isStopped && !isAgain) return makeBatch(made, turn, takeFor, context, true)
  for (const [call, result] of givenBack) context.onComplete?.(call, result)
  return { results: made.map((each) => context.ended.get(keyOf(each)) ?? (ended[left.indexOf(each)] as ToolResult)) }
}

/**
 * Returns the calls that get a key: all of a stored chain, else those that equal an earlier one of the same answer.
 * Without keys equal calls that ask a person would be one question, and run once.
 */
function keyedPlaces(made: readonly MadeCall[], durable: boolean): ReadonlySet<number> {
  if (durable) return new Set(made.map(({ place }) => place))
  const keyed = new Set<number>()
  if (made.length < 2) return keyed
  const seen = new Set<string>()
  for (const { call, place } of made) {
    const same = sameCallKey(call)
    if (seen.has(same)) keyed.add(place)
    seen.add(same)
  }
  return keyed
}

/** Reports whether a call that has not run ended because its caller waited no longer for the others of its answer. */
function isGivenBack({ code, metadata }: ToolResult): boolean {
  return code === "aborted" && metadata?.["ran"] !== true
}

/** Goes on with a call that has run and whose result people hold. */
async function resumeHeld(
  callId: string,
  toolName: string,
  { app, waitMs, clock, request: { signal, caller } }: CallContext,
): Promise<ToolResult | Ticket> {
  clock?.countChild(1)
  clock?.countWaiting(1)
  try {
    return await app.resume(callId, { waitMs, signal, caller })
  } catch (error) {
    return lostResult(toolName, callId, errorMessage(error))
  } finally {
    clock?.countWaiting(-1)
    clock?.countChild(-1)
  }
}
