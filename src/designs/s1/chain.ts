import type { ChainPhase } from "../../agents/chain/chain.ts"
import type { ChainOptions } from "../../agents/chain/open-chains.ts"
import type { LanguageModel } from "../../agents/models/port.ts"
import type { ToolResult } from "../../core/result.ts"
import { coreAdapter, type ApprovalUIAdapter } from "./adapters.ts"
import { chainResult, type ToolChainResult } from "./chain-result.ts"
import type { ToolExecutor } from "./executor.ts"
import {
  messagesFrom,
  messagesTo,
  modelFrom,
  responseOf,
  withFirstAnswer,
  type Complete,
  type CompletionResponse,
  type Message,
} from "./messages.ts"
import { executeResult, type ToolExecuteResult } from "./result.ts"

export interface ToolChainCallbacks {
  onToolCallStart?(toolName: string, args: unknown, callId: string): void
  onToolCallComplete?(result: ToolExecuteResult, callId: string): void
  /** The text of the model's answer so far. */
  onLLMResponseUpdate?(content: string): void
  onLLMResponseComplete?(response: CompletionResponse): void
  /** Sees the messages before they are sent; messages it returns are sent instead. */
  onBeforeSendToLLM?(messages: Message[]): Message[] | undefined | void
  /** `phase`: llm_response, tool_execution or chain_execution. */
  onError?(error: unknown, phase: string): void
}

/** The callbacks may stand in `callbacks` or beside the other options. */
export interface ToolChainOptions extends ToolChainCallbacks {
  callbacks?: ToolChainCallbacks
  /** S1's function: messages in, an answer out; or a model of ours, or the name of a configured one. */
  model?: LanguageModel | Complete | string
  /** Default 5, as in the design, or the lower limit of the configuration. */
  maxRounds?: number
  /** Default 10, likewise. */
  maxCalls?: number
  /** Have every result approved before the model sees it. */
  checkToolResults?: boolean
  systemPrompt?: string
  /** The former messages. */
  contextMessages?: readonly Message[]
  abortController?: AbortController
  /** Asks the person. Left out: the callbacks of the executor. */
  approvalAdapter?: ApprovalUIAdapter
}

/**
 * S1's chain: a model uses the tools of an executor until it has answered.
 *
 * ```ts
 * const chain = new ToolChain(executor, { model: complete, maxRounds: 5, maxCalls: 10 })
 * const { content, toolCallHistory } = await chain.run("Which mails came today?")
 * ```
 */
export class ToolChain {
  readonly #executor: ToolExecutor
  readonly #options: ToolChainOptions

  constructor(executor: ToolExecutor, options: ToolChainOptions = {}) {
    this.#executor = executor
    this.#options = options
  }

  /** Goes on from what a person says, or from an answer of a model that holds tool calls. */
  async run(input: string | CompletionResponse): Promise<ToolChainResult> {
    const options = this.#options
    const isContinued = typeof input !== "string"
    const { contextMessages = [] } = options
    const { context, text } = isContinued ? asked(contextMessages) : { context: contextMessages, text: input }
    const callbacks = { ...options, ...options.callbacks }
    let rounds = 0
    let calls = 0
    const limits = await this.#limits()
    const model = await this.#model(() => rounds >= limits.maxRounds || calls >= limits.maxCalls)
    const made = new Map<string, { id: string; result: ToolResult }>()
    const startTime = Date.now()
    const chain = await this.#executor.openChain({
      model: isContinued ? withFirstAnswer(model, input) : model,
      ...limits,
      ...chainOptions(options),
      ...(options.approvalAdapter && { approvals: coreAdapter(options.approvalAdapter) }),
      onToolCallStart: (toolName, args, callId) => callbacks.onToolCallStart?.(toolName, args, callId),
      onToolCallComplete(result, id) {
        calls++
        made.set(result.callId, { id, result })
        callbacks.onToolCallComplete?.(executeResult(result), id)
      },
      onLLMResponseUpdate: (said) => callbacks.onLLMResponseUpdate?.(said),
      onLLMResponseComplete(turn) {
        if (turn.calls.length > 0) rounds++
        callbacks.onLLMResponseComplete?.(responseOf(turn))
      },
      onBeforeSendToLLM(messages) {
        const own = messages.flatMap(messagesFrom)
        const system = own.filter(({ role }) => role === "system")
        const all = [...system, ...context, ...own.slice(system.length)]
        const sent = callbacks.onBeforeSendToLLM?.(all) ?? all
        return context.length === 0 && sent === all ? undefined : messagesTo(sent)
      },
      onError: (error, phase) => callbacks.onError?.(error, phases[phase]),
    })
    return chainResult(await chain.run(text), made, { context: contextMessages, isContinued, startTime })
  }

  async #limits(): Promise<typeof designLimits> {
    const configured = await this.#executor.findLimits()
    const { maxRounds, maxCalls } = this.#options
    return {
      maxRounds: maxRounds ?? Math.min(designLimits.maxRounds, configured.maxRounds),
      maxCalls: maxCalls ?? Math.min(designLimits.maxCalls, configured.maxCalls),
    }
  }

  async #model(isLimited: () => boolean): Promise<LanguageModel> {
    const { model } = this.#options
    if (typeof model === "function") return modelFrom(model, isLimited)
    return typeof model === "object" ? model : this.#executor.findModel(model)
  }
}

/** S1's function for a chain that begins with an answer of a model. */
export function executeToolChain(
  toolExecutor: ToolExecutor,
  llmResponseWithToolCalls: CompletionResponse,
  options: ToolChainOptions = {},
): Promise<ToolChainResult> {
  return new ToolChain(toolExecutor, options).run(llmResponseWithToolCalls)
}

/** The design's own defaults. Those of the core are higher. */
const designLimits = { maxRounds: 5, maxCalls: 10 }

const phases: Record<ChainPhase, string> = {
  model: "llm_response",
  tool: "tool_execution",
  store: "chain_execution",
  reflection: "chain_execution",
  callback: "chain_execution",
}

function chainOptions(options: ToolChainOptions): ChainOptions {
  return {
    checkToolResults: options.checkToolResults,
    instructions: options.systemPrompt,
    signal: options.abortController?.signal,
  }
}

/** Returns the message that the model has answered: the last one of a person in the context. */
function asked(context: readonly Message[]): { context: readonly Message[]; text: string } {
  const last = context.at(-1)
  return last?.role === "user" ? { context: context.slice(0, -1), text: last.content } : { context, text: "Go on." }
}
