import type { ToolChainResult as CoreResult } from "../../agents/chain/chain-result.ts"
import type { ToolResult } from "../../core/result.ts"
import { messagesFrom, type Message } from "./messages.ts"
import { executeResult, type ToolExecuteResult } from "./result.ts"

/** One tool call of a chain. */
export interface ToolCallHistoryEntry {
  /** The model's id of the call. */
  callId: string
  toolName: string
  args: unknown
  result: ToolExecuteResult
  startTime: number
  endTime: number
  roundIndex: number
  resultRejected?: boolean
  resultRejectReason?: string
}

export interface ToolChainResult {
  /** The last answer of the model. */
  content: string
  messages: { context: Message[]; toolChain: Message[]; complete: Message[] }
  toolCallHistory: ToolCallHistoryEntry[]
  status: "completed" | "aborted" | "error" | "timeout"
  error?: string
  stats: { totalRounds: number; totalCalls: number; totalTime: number; startTime: number; endTime: number }
}

/** The calls that a chain made, by our id. */
export type MadeCalls = ReadonlyMap<string, { id: string; result: ToolResult }>

/** The beginning of a chain. */
export interface ChainBeginning {
  context: readonly Message[]
  /** True if the first message of the chain is in the context already. */
  isContinued: boolean
  startTime: number
}

/** A result of ours in S1's form. */
export function chainResult(ended: CoreResult, made: MadeCalls, began: ChainBeginning): ToolChainResult {
  const { content, error, stats } = ended
  const { context, isContinued, startTime } = began
  const endTime = Date.now()
  const said = ended.messages.filter(({ role }) => role !== "system").slice(isContinued ? 1 : 0)
  const toolChain = said.flatMap(messagesFrom)
  const toolCallHistory = ended.toolCallHistory.map((entry) => historyEntry(entry, made, startTime))
  return {
    content,
    messages: { context: [...context], toolChain, complete: [...context, ...toolChain] },
    toolCallHistory,
    status: statusOf(ended.status),
    // In S1 a chain that reached a limit is no failure.
    ...(error === undefined || ended.status === "limit" ? {} : { error }),
    stats: {
      // The calls of a round after the limit are answered without being made.
      totalRounds: Math.max(0, ...ended.toolCallHistory.map(({ round, callId }) => (callId === undefined ? 0 : round))),
      totalCalls: stats.calls,
      totalTime: endTime - startTime,
      startTime,
      endTime,
    },
  }
}

/** A chain that reached a limit has answered with what it had, which S1 calls completed. */
function statusOf(status: CoreResult["status"]): ToolChainResult["status"] {
  if (status === "waiting") return "aborted"
  return status === "limit" ? "completed" : status
}

function historyEntry(
  { round, toolName, args, callId = "", text, durationMs = 0 }: CoreResult["toolCallHistory"][number],
  made: MadeCalls,
  startedAt: number,
): ToolCallHistoryEntry {
  const call = made.get(callId)
  const result: ToolExecuteResult = call === undefined ? { status: "error", error: text } : executeResult(call.result)
  const startTime = call?.result.startedAt ?? startedAt
  return {
    callId: call?.id ?? "",
    toolName,
    args,
    result,
    startTime,
    endTime: call?.result.completedAt ?? startTime + durationMs,
    roundIndex: round,
    ...(result.status === "result_rejected" && {
      resultRejected: true,
      ...(result.rejectReason === undefined ? {} : { resultRejectReason: result.rejectReason }),
    }),
  }
}
