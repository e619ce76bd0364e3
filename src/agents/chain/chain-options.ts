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
  /** What the model is told first. */
  instructions?: string
  /** How many answers with tool calls a run may have (default 50). */
  maxRounds?: number
  /** How many tool calls a run may make (default 200). */
  maxCalls?: number
  /** How many milliseconds a run may take, without the time in which its calls only wait for people (default: an hour). */
  deadlineMs?: number
  /** How many tokens the conversation may use, with those of its sub-agents; then a person is asked for more. */
  maxTokens?: number
  /** How many US dollars it may cost, by the prices of the models; then a person is asked for more. */
  maxCost?: number
  /** How many tool calls it may make, with those of its sub-agents; then a person is asked for more. */
  maxTreeCalls?: number
  /** What its agent may use in it, without sub-agents; then a person is asked for more. */
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
  /** How many milliseconds to wait for people before `run` returns with status `waiting` (default: to the end). */
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

/** What counts for options that are left out. */
export type ChainDefaults = Pick<
  ToolChainOptions,
  "instructions" | "maxRounds" | "maxCalls" | "maxTokens" | "maxCost" | "maxTreeCalls" | "perAgent"
>

/** What only the app gives a chain. */
export interface InternalOptions {
  log?: TurnLog
  defaults?: ChainDefaults
  closing?: AbortSignal
  mail?: ChainMail
  day?: DayBudget
  /** Where the answer is found while it is written. */
  answers?: AnswerCollector
  /** Where the run is found by the tools that look at its context. */
  contexts?: ConversationContexts
  /** The conversation is claimed: what the run goes on with, also of what the conversation remembers. */
  onClaimed?: () => { model: LanguageModel | undefined; options: ToolChainOptions }
  onRunStart?(): void
  /** What it begins with is in the turns. */
  onRunBegun?(): void
  onRunEnd?(result: ToolChainResult): Promise<void>
  /** The run is over and nothing of it is written any more. */
  onReleased?(): void
}
