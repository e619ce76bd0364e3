import { setMaxListeners } from "node:events"
import { newId } from "../../lib/new-id.ts"
import { anyOf, Stop } from "../../lib/stop.ts"
import { contextStatus, type ConversationContext } from "../../tools/context/context.ts"
import type { NewTurn } from "../../core/conversation.ts"
import type { ResultImage } from "../../core/result-image.ts"
import { cutForMessages } from "../context/cut.ts"
import { countTokens, defaultContextTokens } from "../context/tokens.ts"
import type { LanguageModel } from "../models/port.ts"
import { activeChain, type ChainApp } from "./active-chain.ts"
import { attempt } from "./attempt.ts"
import type { CallContext } from "./call-context.ts"
import { runChain, type ActiveChain, type ChainPhase } from "./chain.ts"
import type { InternalOptions, ToolChainOptions } from "./chain-options.ts"
import { resultOf, type ToolChainResult } from "./chain-result.ts"
import { giveUpCalls } from "./give-up-calls.ts"
import { memoryLog, type TurnLog } from "./log.ts"
import { receiveMail } from "./mail.ts"
import { messagesOf } from "../context/messages.ts"
import { isStopped, nextStep } from "./next-step.ts"
import { unanswered, unnamedPerson, type UserTurn } from "../context/turns.ts"

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
  #model: LanguageModel | undefined
  #options: ToolChainOptions
  readonly #internal: InternalOptions
  readonly #log: TurnLog
  readonly #open: Pick<CallContext, "ended" | "held"> = { ended: new Map(), held: new Map() }
  #isAtWork = false
  #stop = new Stop()
  #turnsRead = 0

  /** Without a model, the conversation must remember one. */
  constructor(
    app: ChainApp,
    agentId: string,
    model: LanguageModel | undefined,
    options: ToolChainOptions = {},
    internal: InternalOptions = {},
  ) {
    this.#app = app
    this.#agentId = agentId
    this.#model = model
    this.#options = options
    this.#internal = internal
    this.#log = internal.log ?? memoryLog(newId(), agentId)
  }

  /** The id of the conversation, which is the session of its calls. */
  get id(): string {
    return this.#log.id
  }

  /** The model that reads the next message. Undefined as long as only a stored conversation knows it. */
  get model(): LanguageModel | undefined {
    return this.#model
  }

  /** The number of turns the last run had read when it ended. A stop that came too late for it does not count. */
  get turnsRead(): number {
    return this.#turnsRead
  }

  /**
   * Says something to the model and resolves when it has answered, with all its tool calls made. It takes the place of
   * what the last run still waits for. The images are for a model that sees.
   */
  run(text: string, images: readonly ResultImage[] = []): Promise<ToolChainResult> {
    const body: UserTurn = { text, begins: true, by: this.#speaker, ...(images.length > 0 && { images }) }
    return this.#go({ kind: "user", body })
  }

  /**
   * Goes on where the conversation was: after `waiting`, after the model failed, or after its process ended. A run that
   * was stopped goes on only with `evenStopped`.
   */
  resume({ evenStopped = false }: { evenStopped?: boolean } = {}): Promise<ToolChainResult> {
    return this.#go(undefined, evenStopped)
  }

  /** Tells the model something while it works. It reads it after the tool calls that run now. */
  async steer(text: string): Promise<void> {
    await this.#log.post({ kind: "user", body: { text, begins: false, by: this.#speaker } })
  }

  /** Ends the run: aborts the model and its tool calls. `run` resolves with status `aborted`. */
  stop(): void {
    this.#stop.abort(new Error("The run was stopped."))
  }

  get #speaker(): string {
    return this.#options.userId ?? unnamedPerson
  }

  async #go(first?: NewTurn, evenStopped = false): Promise<ToolChainResult> {
    if (this.#isAtWork)
      throw new Error("This chain is at work. Wait until its run has ended, or tell it something with steer(text).")
    this.#isAtWork = true
    try {
      return await this.#goAlone(first, evenStopped)
    } finally {
      this.#isAtWork = false
    }
  }

  async #goAlone(first: NewTurn | undefined, evenStopped: boolean): Promise<ToolChainResult> {
    const startedAt = Date.now()
    const stop = (this.#stop = new Stop())
    const log = this.#log
    const internal = this.#internal
    let over: AbortController | undefined
    await log.claim(first !== undefined)
    try {
      internal.onRunStart?.()
      const active = this.#claimed(stop)
      await this.#begin(active, first, evenStopped)
      internal.onRunBegun?.()
      if (log.wasWaiting && isStopped(log.turns)) {
        const answers = await giveUpCalls(active, "The run was stopped.")
        await log.append(answers, { spent: active.spent })
      }
      internal.contexts?.set(this.id, this.#context(active))
      if (log.isStored) {
        over = new AbortController()
        void this.#watchForStop(stop, over.signal).catch((error: unknown) => this.#report(error, "store"))
      }
      const ended = await runChain(active)
      log.ends()
      const { turns } = log
      this.#turnsRead = turns.at(-1)?.kind === "stop" ? turns.length - 1 : turns.length
      const result = resultOf(log, active.instructions, ended, Date.now() - startedAt, active.calls.argsOf)
      await internal.onRunEnd?.(result)
      return result
    } finally {
      over?.abort(runIsOver)
      internal.contexts?.delete(this.id)
      await log.release()
      internal.onReleased?.()
    }
  }

  /** Returns the parts of the run, now that the conversation's remembered options are known. */
  #claimed(stop: Stop): ActiveChain {
    const remembered = this.#internal.onClaimed?.()
    if (remembered !== undefined) {
      this.#model = remembered.model
      this.#options = remembered.options
    }
    if (this.#model === undefined) throw new Error("This chain has no model. Give it one.")
    const { signal } = this.#options
    const { closing = neverClosing } = this.#internal
    return activeChain({
      app: this.#app,
      agentId: this.#agentId,
      model: this.#model,
      options: this.#options,
      internal: this.#internal,
      log: this.#log,
      open: this.#open,
      signal: signal === undefined ? stop : anyOf(signal, stop),
      closing,
      report: (error, phase) => this.#report(error, phase),
    })
  }

  /** Stores what the run begins with: a new task, messages, or that the model is asked again. */
  async #begin(active: ActiveChain, first: NewTurn | undefined, evenStopped: boolean): Promise<void> {
    const { log } = active
    if (first !== undefined) {
      const isOpen = unanswered(log.turns) !== undefined
      const answers = isOpen ? await giveUpCalls(active, "The person gave a new task.") : []
      await log.append([...answers, first], { state: "active", spent: active.spent })
      return
    }
    if (active.closing.aborted) return
    const step = nextStep(log.turns, active.limits)
    if (await receiveMail(active.mail, log, step)) return
    if (step.kind === "done" && (step.status === "error" || (evenStopped && step.status === "aborted")))
      await log.append([{ kind: "retry", body: { by: this.#speaker } }], { state: "active" })
  }

  #context({ log, instructions, model, tools }: ActiveChain): ConversationContext {
    const messages = () => messagesOf(log.turns, instructions)
    return {
      agentId: this.#agentId,
      status: () =>
        contextStatus(
          countTokens(log.turns, { messages: messages(), tools: tools() }),
          model.contextTokens ?? defaultContextTokens,
        ),
      async compress(text, keepRecentCount) {
        const originalCount = messages().length
        const before = cutForMessages(log.turns, keepRecentCount)
        if (before !== undefined) await log.append([{ kind: "summary", body: { text, before } }])
        return { compressed: before !== undefined, originalCount, newCount: messages().length }
      },
    }
  }

  /** Another process may stop the run by adding a turn. */
  async #watchForStop(stop: Stop, done: AbortSignal): Promise<void> {
    const seen = this.#log.turns.length
    while (!done.aborted) {
      await this.#log.waitForTurns(done)
      await this.#log.refresh()
      if (this.#log.turns.slice(seen).some(({ kind }) => kind === "stop"))
        return stop.abort(new Error("The run was stopped."))
    }
  }

  #report(error: unknown, phase: ChainPhase): void {
    // An error of reporting itself can be reported to nobody.
    attempt(
      () => this.#options.onError?.(error, phase),
      () => {},
    )
  }
}

const neverClosing = new AbortController().signal
setMaxListeners(0, neverClosing)

/** Made once: an abort without a reason makes a new error with its stack each time. */
const runIsOver = new Error("The run is over.")
