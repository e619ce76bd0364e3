import { setMaxListeners } from "node:events"
import { newId } from "../../lib/new-id.ts"
import type { App } from "../../model/app.ts"
import { contextStatus, type ConversationContext } from "../../model/context.ts"
import type { NewTurn } from "../../model/conversation.ts"
import { errorOf } from "../../model/errors.ts"
import type { EndingCode, ToolResult } from "../../model/result.ts"
import { cutForMessages } from "../context/cut.ts"
import { countTokens, defaultContextTokens } from "../context/tokens.ts"
import type { LanguageModel, ModelTool } from "../models/port.ts"
import { ruleReflector } from "../reflection/rules.ts"
import { offeredTools, runChain, type ActiveChain, type ChainPhase } from "./chain.ts"
import { resultOf, type ToolChainResult } from "./chain-result.ts"
import { attempt } from "./attempt.ts"
import { giveUpCalls } from "./give-up-calls.ts"
import { memoryLog, type TurnLog } from "./log.ts"
import { receiveMail } from "./mail.ts"
import { messagesOf } from "./messages.ts"
import { nextStep, type RunLimits } from "./next-step.ts"
import { toolsGivenUp } from "./reflect.ts"
import { RunTime } from "./run-time.ts"
import { currentRun, personOf, unanswered, unnamedPerson } from "./turns.ts"
import type { InternalOptions, ToolChainOptions } from "./chain-options.ts"

/** What a chain needs of the app. */
export type ChainApp = Pick<App, "callBatch" | "mcpTools" | "visibleTool" | "storeText">

/**
 * Lets a model use the tools of an agent until it has answered.
 *
 * ```ts
 * const chain = app.chain("dev", { model: "claude" })
 * const { content, toolCallHistory } = await chain.run("Which tests fail, and why?")
 * ```
 */
export class ToolChain {
  readonly #app: ChainApp
  readonly #agentId: string
  #model: LanguageModel
  #options: ToolChainOptions & InternalOptions
  readonly #log: TurnLog
  readonly #ran = new Map<string, ToolResult>()
  #isAtWork = false
  #stop = new AbortController()
  #turnsRead = 0

  constructor(app: ChainApp, agentId: string, model: LanguageModel, options: ToolChainOptions & InternalOptions = {}) {
    this.#app = app
    this.#agentId = agentId
    this.#model = model
    this.#options = options
    this.#log = options.log ?? memoryLog(newId(), agentId)
  }

  /** The id of the conversation, which is the session of its calls. */
  get id(): string {
    return this.#log.id
  }

  /** How many turns the last run had read when it ended. A stop that came too late for it does not count. */
  get turnsRead(): number {
    return this.#turnsRead
  }

  /**
   * Says something to the model and resolves when it has answered, with all its tool calls made. It takes the place of
   * what the last run still waits for.
   */
  run(text: string): Promise<ToolChainResult> {
    return this.#go({ kind: "user", body: { text, begins: true, by: this.#speaker } })
  }

  /** Goes on where the conversation was: after `waiting`, after the model failed, or after its process ended. */
  resume(): Promise<ToolChainResult> {
    return this.#go()
  }

  /** Tells the model something while it works. It reads it after the tool calls that run now. */
  async steer(text: string): Promise<void> {
    await this.#log.post({ kind: "user", body: { text, begins: false, by: this.#speaker } })
  }

  /** Ends the run: aborts the model and its tool calls. `run` resolves with status `aborted`. */
  stop(): void {
    this.#stop.abort(new Error("The run was stopped."))
  }

  get #limits(): RunLimits {
    const { maxRounds = 5, maxCalls = 10, reflect } = this.#options
    return { maxRounds, maxCalls, reflects: reflect !== false }
  }

  get #speaker(): string {
    return this.#options.userId ?? unnamedPerson
  }

  async #go(first?: NewTurn): Promise<ToolChainResult> {
    if (this.#isAtWork)
      throw new Error("This chain is at work. Wait until its run has ended, or tell it something with steer(text).")
    this.#isAtWork = true
    try {
      return await this.#goAlone(first)
    } finally {
      this.#isAtWork = false
    }
  }

  async #goAlone(first: NewTurn | undefined): Promise<ToolChainResult> {
    const startedAt = Date.now()
    const stop = (this.#stop = new AbortController())
    const { signal: given, closing = neverClosing } = this.#options
    const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal])
    let over: AbortController | undefined
    await this.#log.claim()
    const { model = this.#model, options } = this.#options.onClaimed?.() ?? {}
    this.#model = model
    this.#options = { ...this.#options, ...options }
    try {
      this.#options.onRunStart?.()
      const active = this.#active({ signal, closing })
      await this.#begin(active, first)
      this.#options.onRunBegun?.()
      if (this.#log.wasWaiting && currentRun(this.#log.turns).some(({ kind }) => kind === "stop")) {
        const answers = await giveUpCalls(active, "The run was stopped.", this.#options.endCalls)
        await this.#log.append(answers, { spent: active.spent })
      }
      this.#options.contexts?.set(this.id, this.#context())
      if (this.#log.isStored) {
        over = new AbortController()
        void this.#watchForStop(stop, over.signal).catch((error: unknown) => this.#report(error, "store"))
      }
      const ended = await runChain(active)
      const { turns } = this.#log
      this.#turnsRead = turns.at(-1)?.kind === "stop" ? turns.length - 1 : turns.length
      const result = resultOf(this.#log, this.#options.instructions, ended, Date.now() - startedAt)
      await this.#options.onRunEnd?.(result)
      return result
    } finally {
      over?.abort(runIsOver)
      this.#options.contexts?.delete(this.id)
      await this.#log.release()
      this.#options.onReleased?.()
    }
  }

  /** Stores what the run begins with: a new task, messages, or that a model that failed is asked again. */
  async #begin(active: ActiveChain, first: NewTurn | undefined): Promise<void> {
    const log = this.#log
    if (first !== undefined) {
      const isOpen = unanswered(log.turns) !== undefined
      const answers = isOpen ? await giveUpCalls(active, "The person gave a new task.", this.#options.endCalls) : []
      await log.append([...answers, first], { state: "active", spent: active.spent })
      return
    }
    if (active.closing.aborted) return
    const step = nextStep(log.turns, this.#limits)
    if (await receiveMail(this.#options.mail, log, step)) return
    if (step.kind === "done" && step.status === "error")
      await log.append([{ kind: "retry", body: { by: this.#speaker } }], { state: "active" })
  }

  #context(): ConversationContext {
    const log = this.#log
    const { instructions } = this.#options
    const count = () => messagesOf(log.turns, instructions).length
    return {
      agentId: this.#agentId,
      status: () =>
        contextStatus(
          countTokens(log.turns, { messages: messagesOf(log.turns, instructions), tools: this.#offered() }),
          this.#model.contextTokens ?? defaultContextTokens,
        ),
      async compress(text, keepRecentCount) {
        const originalCount = count()
        const before = cutForMessages(log.turns, keepRecentCount)
        if (before !== undefined) await log.append([{ kind: "summary", body: { text, before } }])
        return { compressed: before !== undefined, originalCount, newCount: count() }
      },
    }
  }

  #offered(): readonly ModelTool[] {
    const { tools } = this.#options
    const givenUp = toolsGivenUp(this.#log.turns)
    const offered = offeredTools(this.#app, this.#agentId, tools && new Set(tools))
    return givenUp.size === 0 ? offered : offered.filter(({ name }) => !givenUp.has(name))
  }

  /** Another process may stop the run by adding a turn. */
  async #watchForStop(stop: AbortController, done: AbortSignal): Promise<void> {
    const seen = this.#log.turns.length
    while (!done.aborted) {
      await this.#log.waitForTurns(done)
      await this.#log.refresh()
      if (this.#log.turns.slice(seen).some(({ kind }) => kind === "stop"))
        return stop.abort(new Error("The run was stopped."))
    }
  }

  /** Calls a callback of the program. One that fails is reported, and the run goes on. */
  #tell(callback: () => unknown): void {
    attempt(callback, (error) => this.#report(error, "callback"))
  }

  #report(error: unknown, phase: ChainPhase): void {
    // Where reporting fails too, nobody is left to be told.
    attempt(
      () => this.#options.onError?.(error, phase),
      () => {},
    )
  }

  #active(signals: Pick<ActiveChain, "signal" | "closing">): ActiveChain {
    const { signal } = signals
    const log = this.#log
    const options = this.#options
    const time = new RunTime(Date.now() + (options.deadlineMs ?? 3_600_000))
    let text = ""
    return {
      log: this.#log,
      model: this.#model,
      app: this.#app,
      instructions: options.instructions,
      limits: this.#limits,
      reflector: typeof options.reflect === "object" ? options.reflect : ruleReflector,
      budgets: {
        tree: { maxTokens: options.maxTokens, maxCost: options.maxCost, maxCalls: options.maxTreeCalls },
        agent: options.perAgent ?? {},
      },
      time,
      tools: () => this.#offered(),
      spent: this.#log.spent,
      mail: options.mail,
      ...signals,
      calls: {
        app: this.#app,
        request: {
          agentId: this.#agentId,
          sessionId: this.#log.id,
          taskId: options.taskId,
          get userId() {
            return personOf(currentRun(log.turns))
          },
          allowedPaths: options.allowedPaths,
          caller: options.approvals && { approvalUI: options.approvals },
          holdResult: options.checkToolResults,
          resumableUntil: this.#log.resumableUntil,
          signal,
        },
        independent: options.independent ?? false,
        durable: this.#log.isStored,
        detach: signals.closing,
        waitMs: options.waitMs,
        contextTokens: this.#model.contextTokens,
        seesImages: this.#model.seesImages,
        isOffered: (name) => this.#offered().some((tool) => tool.name === name),
        clock: time,
        ran: this.#ran,
        isRead: (name) => {
          const tool = this.#app.mcpTools(this.#agentId).find((each) => each.name === name)
          return tool?.annotations?.["readOnlyHint"] === true
        },
        onStart: ({ name, input, id }) => this.#tell(() => options.onToolCallStart?.(name, input, id)),
        onComplete: ({ id }, result) => {
          this.#tell(() => options.onToolCallComplete?.(result, id))
          if (unexpected.has(result.code)) this.#report(errorOf(result), "tool")
        },
      },
      hooks: {
        beforeRequest: (messages) => {
          text = ""
          return options.onBeforeSendToLLM?.(messages)
        },
        onPart: (part) => {
          this.#tell(() => options.onLLMResponsePart?.(part))
          if (part.type !== "text") return
          text += part.text
          this.#tell(() => options.onLLMResponseUpdate?.(text))
        },
        onRetry: () => void (text = ""),
        onTurn: (turn) => this.#tell(() => options.onLLMResponseComplete?.(turn)),
        onError: (error, phase) => this.#report(error, phase),
      },
    }
  }
}

/** How calls end that neither the model nor a person or rule is to blame for. */
const unexpected = new Set<EndingCode | undefined>(["tool_failed", "timeout", "output_invalid", "record_unavailable"])

const neverClosing = new AbortController().signal
setMaxListeners(0, neverClosing)

/** Made once: an abort without a reason makes a new error with its stack each time. */
const runIsOver = new Error("The run is over.")
