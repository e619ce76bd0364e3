import type { Calls } from "../../call/state/calls.ts"
import type { CallClock } from "../../call/state/batch-options.ts"
import type { CallRequest } from "../../core/call.ts"
import type { ToolResult } from "../../core/result.ts"
import type { ModelCall } from "../models/port.ts"

/** The context that the calls of a chain share. */
export interface CallContext {
  app: Pick<Calls, "callMany" | "resume" | "storeText">
  request: Omit<CallRequest, "tool" | "input" | "key" | "userId"> & { sessionId: string }
  /** The person for whom the run works. */
  person(): string | undefined
  /** True if calls with effects need not wait for the questions of their batch. */
  independent: boolean
  /** True if each call gets a key, so that it is made once however often the chain is resumed. */
  durable: boolean
  /** Milliseconds that calls may wait for people before the chain returns with status `waiting`. */
  waitMs: number | undefined
  /** Aborted to get tickets for those that wait. */
  detach?: AbortSignal
  /** The context window of the model, in tokens: the results of one answer fill at most a third of it. */
  contextTokens?: number
  /** True if the model is shown the images in results. */
  seesImages?: boolean
  /** Reports whether the model is offered a tool, by its name. */
  isOffered(name: string): boolean
  /** Told when calls begin and end to wait for people. */
  clock?: CallClock
  /** The results of calls that have ended while others of the same answer still wait, by turn and place. */
  ended: Map<string, ToolResult>
  /** The ids of calls that have run and whose results people hold, by turn and place: they are not made again. */
  held: Map<string, string>
  /** Reports whether a tool only reads, by its name. */
  isRead(name: string): boolean
  /** The arguments of a call, without the reason that the model was asked for. */
  argsOf(call: ModelCall): unknown
  onStart?(call: ModelCall): void
  onComplete?(call: ModelCall, result: ToolResult): void
  /** A call was answered with this sentence instead of being made. */
  onRefused?(call: ModelCall, sentence: string): void
}

/** The place of a call in its conversation. */
export function placeKey(turn: number, place: number): string {
  return `${turn}/${place}`
}

/** A call of the chain. Field by field: adding fields to a spread object takes a microsecond for each of them. */
export function requestOf(
  { request, person }: Pick<CallContext, "request" | "person">,
  tool: string,
  input: unknown,
  key: string | undefined,
  takeSubCall?: () => boolean,
): CallRequest {
  const { agentId, sessionId, taskId, allowedPaths, caller, holdResult, resumableUntil, signal } = request
  return {
    agentId,
    tool,
    input,
    key,
    sessionId,
    taskId,
    userId: person(),
    allowedPaths,
    caller,
    holdResult,
    resumableUntil,
    signal,
    takeSubCall,
  }
}
