import type { Spent } from "../../core/conversation.ts"
import type { Ticket } from "../../core/result.ts"
import type { FinishReason, ModelCall, ModelMessage } from "../models/port.ts"
import type { Reflection } from "../reflection/reflector.ts"
import type { ChainEnd } from "./chain.ts"
import type { TurnLog } from "./log.ts"
import { messagesOf } from "../context/messages.ts"
import { currentRun, type ChainTurn } from "../context/turns.ts"

/** One tool call of a chain, as the model was told about it. */
export interface ToolCallHistoryEntry {
  /** The answer of the model it belongs to, from 1. */
  round: number
  toolName: string
  args: unknown
  /** Our id of the call, for the audit log. Undefined when the call was answered without being made. */
  callId?: string
  status: string
  code?: string
  /** The text that the model was given. */
  text: string
  durationMs?: number
}

export interface ToolChainResult {
  /** The id of the conversation: the session of its calls. */
  id: string
  /** The last answer of the model. */
  content: string
  messages: readonly ModelMessage[]
  toolCallHistory: readonly ToolCallHistoryEntry[]
  /** `waiting`: calls wait for people; `resume` goes on once they have answered. */
  status: ChainEnd["status"]
  /** The ending of the last answer. `length` and `content-filter`: the provider cut it off. */
  finishReason?: FinishReason
  /** The problem, for `error`; for `limit`, the limit that was reached and the key that raises it. */
  error?: string
  /** The last decision after failed calls of this run, if any failed. With `complete`, part of the work is done. */
  reflection?: Reflection
  /** The calls that wait, for `waiting`. */
  waiting: readonly Ticket[]
  stats: Spent & { durationMs: number }
}

/** Returns the result of a run, from the turns of its conversation. */
export function resultOf(
  { id, turns, spent }: TurnLog,
  instructions: string | undefined,
  ended: ChainEnd,
  durationMs: number,
  argsOf: (call: ModelCall) => unknown,
): ToolChainResult {
  const { rounds, calls, inputTokens, outputTokens, cost } = spent
  const run = currentRun(turns)
  const answer = run.findLast((turn) => turn.kind === "assistant")
  return {
    id,
    content: answer?.body.text ?? "",
    messages: messagesOf(turns, instructions),
    toolCallHistory: historyOf(turns, argsOf),
    status: ended.status,
    finishReason: answer?.body.finishReason,
    error: "error" in ended ? ended.error : undefined,
    reflection: run.findLast((turn) => turn.kind === "reflection")?.body,
    waiting: ended.status === "waiting" ? ended.tickets : [],
    stats: { rounds, calls, inputTokens, outputTokens, cost, durationMs },
  }
}

function historyOf(turns: readonly ChainTurn[], argsOf: (call: ModelCall) => unknown): ToolCallHistoryEntry[] {
  const history: ToolCallHistoryEntry[] = []
  let round = 0
  let asked: readonly ModelCall[] = []
  for (const turn of turns) {
    if (turn.kind === "assistant" && turn.body.calls.length > 0) {
      round++
      asked = turn.body.calls
    } else if (turn.kind === "results") {
      for (const [place, { name, callId, status, code, text, durationMs }] of turn.body.results.entries()) {
        const call = asked[place]
        const args = call && argsOf(call)
        history.push({ round, toolName: name, args, callId, status: status ?? "not_executed", code, text, durationMs })
      }
    }
  }
  return history
}
