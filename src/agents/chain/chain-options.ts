import type { ApprovalUIAdapter } from "../../core/approval.ts"
import type { CallRequest } from "../../core/call.ts"
import type { ConversationContexts } from "../../tools/context/context.ts"
import type { ToolResult } from "../../core/result.ts"
import type { LanguageModel, ModelMessage, ModelPart, ModelTurn } from "../models/port.ts"
import type { Reflector } from "../reflection/reflector.ts"
import type { AnswerCollector } from "./answers-in-progress.ts"
import type { ChainPhase } from "./chain.ts"
import type { Budget } from "./budget.ts"
import type { DayBudget } from "./day-budget.ts"
import type { ToolChainResult } from "./chain-result.ts"
import type { TurnLog } from "./log.ts"
import type { ChainMail } from "./mail.ts"

/** The limits and callbacks of a chain. */
export interface ToolChainOptions extends Pick<CallRequest, "taskId" | "userId" | "allowedPaths"> {
  /** The first text that the model is told. */
  instructions?: string
  /** Limit of answers with tool calls in a run (default 50). */
  maxRounds?: number
  /** Limit of tool calls in a run (default 200). */
  maxCalls?: number
  /** Time limit of a run in milliseconds, without the time its calls only wait for people (default: an hour). */
  deadlineMs?: number
  /** Limit of tokens of the conversation, with those of its sub-agents; then a person is asked for more. */
  maxTokens?: number
  /** Limit of its cost in US dollars, by the prices of the models; then a person is asked for more. */
  maxCost?: number
  /** Limit of its tool calls, with those of its sub-agents; then a person is asked for more. */
  maxTreeCalls?: number
  /** The budget of its agent in it, without sub-agents; then a person is asked for more. */
  perAgent?: Budget
  /** The only tools the model is offered, by name. */
  tools?: readonly string[]
  /**
   * Decide how to go on after calls failed: by our rules (true, the default), by a reflector of your own, or not at all
   * (false: the model only sees the errors).
   */
  reflect?: boolean | Reflector
  /** Let calls with effects run while another call of the same answer still waits for a person. */
  independent?: boolean
  /** Milliseconds to wait for people before `run` returns with status `waiting` (default: to the end). */
  waitMs?: number
  /** Asks the person at this program. Without it, calls wait in the approval queue. */
  approvals?: Partial<ApprovalUIAdapter>
  /** Have every result approved before the model sees it. It can only add approvals. */
  checkToolResults?: boolean
  onToolCallStart?(toolName: string, args: unknown, callId: string): void
  onToolCallComplete?(result: ToolResult, callId: string): void
  /** A call was answered with this sentence instead of being made: broken arguments, over a limit, or made twice before. */
  onToolCallRefused?(toolName: string, args: unknown, sentence: string, callId: string): void
  /** The text of the model's answer so far. */
  onLLMResponseUpdate?(text: string): void
  /** Each piece of the model's answer as it comes: text, reasoning, the beginning of a call. */
  onLLMResponsePart?(part: ModelPart): void
  onLLMResponseComplete?(turn: ModelTurn): void
  /** The model failed for a reason that may pass, and is asked again after this many milliseconds. */
  onLLMRetry?(error: Error, waitMs: number): void
  /** Sees the messages before they are sent; messages it returns are sent instead. */
  onBeforeSendToLLM?(
    messages: readonly ModelMessage[],
  ): readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>
  /**
   * The model failed; a tool threw, took too long or returned something other than it promises; or one of these callbacks
   * failed itself. Only a model that fails, or `onBeforeSendToLLM`, ends the run.
   */
  onError?(error: unknown, phase: ChainPhase): void
  signal?: AbortSignal
}

/** The defaults of options that are left out. */
export type ChainDefaults = Pick<
  ToolChainOptions,
  "instructions" | "maxRounds" | "maxCalls" | "maxTokens" | "maxCost" | "maxTreeCalls" | "perAgent"
>

/** Options of a chain that only the app sets. */
export interface InternalOptions {
  log?: TurnLog
  defaults?: ChainDefaults
  closing?: AbortSignal
  mail?: ChainMail
  day?: DayBudget
  /** Collects the answer while it is written. */
  answers?: AnswerCollector
  /** The contexts of runs, for the tools that look at them. */
  contexts?: ConversationContexts
  /** The conversation is claimed: what the run goes on with, also of what the conversation remembers. */
  onClaimed?: () => { model: LanguageModel | undefined; options: ToolChainOptions }
  onRunStart?(): void
  /** Called when the beginning of the run is in the turns. */
  onRunBegun?(): void
  onRunEnd?(result: ToolChainResult): Promise<void>
  /** The run is over and nothing of it is written any more. */
  onReleased?(): void
}
