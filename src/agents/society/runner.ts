import { errorMessage } from "../../lib/error-message.ts"
import type { Events } from "../../core/events.ts"
import type { Approvals } from "../../approvals/queue/approvals.ts"
import type { Conversation, Conversations } from "../../core/conversation.ts"
import type { Logger } from "../../core/logger.ts"
import type { AgentView, Message } from "../../core/organisation.ts"
import type { Messages } from "../../store/port.ts"
import { resumesAutomatically, isSocietyConversation } from "../../core/society-conversation.ts"
import { ClaimLost } from "../chain/log.ts"
import type { ToolChain } from "../chain/tool-chain.ts"

/** The parts of the app that a runner needs. */
export interface RunnerParts {
  messages: Messages
  conversations: Conversations
  viewOf(agentId: string): AgentView | undefined
  isAlive(owner: string): boolean | Promise<boolean>
  owner: string
  approvals: Pick<Approvals, "list">
  on: Events["on"]
  /** A chain for the agent's next run. It can be paused, to go on later. */
  open(work: Work, view: AgentView, options: { waitMs: number | undefined; pause: AbortSignal }): Promise<ToolChain>
  /** Ends the conversations of an agent that is no more, and answers for it. */
  close(agentId: string): Promise<void>
  logger: Logger
  now(): number
  closing: AbortSignal
}

export interface SocietyOptions {
  /** Limit of agents that work at once (default 8). */
  maxRuns?: number
  /** Milliseconds that a run waits for people before it gives its place to others (default 0). */
  waitMs?: number
  /** Run only what this conversation began, and what that began. */
  within?: string
}

/** A conversation that has something to do. */
export interface Work {
  conversationId: string
  agentId: string
  /** Undefined before its first run. */
  conversation: Conversation | undefined
  /** The oldest message that waits for it, if one does. */
  message: Message | undefined
  /** Since when it has something to do. */
  since: number
}

interface Run {
  conversationId: string
  chain: ToolChain | undefined
  pause: AbortController
  done: Promise<void>
}

const busyMs = 100
const idleMs = 250
/** Interval of looking for conversations that another process left, or whose questions it answered. */
const unfinishedMs = 1000
/** Time that a conversation rests after its run could not begin. */
const restMs = 5000

/** Runs the agents that have messages or unfinished work, a few at a time: the one that ran longest ago first, and of its work the oldest. */
export class Runner {
  readonly #parts: RunnerParts
  readonly #options: SocietyOptions
  readonly #running = new Map<string, Run>()
  /** The calls that conversations wait for, and how many turns each had read. */
  readonly #waitsFor = new Map<string, { calls: readonly string[]; turns: number }>()
  readonly #restsUntil = new Map<string, number>()
  readonly #ranLast = new Map<string, number>()
  readonly #stopListening: (() => void)[]
  #runs = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false
  #unfinishedAt = -Infinity
  #isStopped = false
  #whenIdle: (() => void)[] = []

  constructor(parts: RunnerParts, options: SocietyOptions = {}) {
    this.#parts = parts
    this.#options = options
    const soon = () => this.look()
    const answered = () => {
      this.#unfinishedAt = -Infinity
      this.look()
    }
    this.#stopListening = [
      parts.on("MESSAGE_SENT", soon),
      parts.on("TOOL_CALL_ANSWERED", answered),
      parts.on("AGENT_CHANGED", answered),
    ]
    parts.closing.addEventListener("abort", () => void this.stop(), { once: true })
    this.look()
  }

  /** The present runs: agent and conversation. */
  get running(): readonly { agentId: string; conversationId: string }[] {
    return Array.from(this.#running, ([agentId, { conversationId }]) => ({ agentId, conversationId }))
  }

  /** Looks for work as soon as possible. */
  look(): void {
    if (this.#isStopped) return
    if (this.#looking !== undefined) {
      this.#lookAgain = true
      return
    }
    clearTimeout(this.#timer)
    this.#looking = this.#lookOnce()
      .catch((error: unknown) => this.#parts.logger.error("Agents with messages could not be looked for.", error))
      .finally(() => {
        this.#looking = undefined
        if (this.#isStopped) return
        if (this.#lookAgain) {
          this.#lookAgain = false
          return this.look()
        }
        this.#timer = setTimeout(() => this.look(), this.#running.size > 0 ? busyMs : idleMs).unref()
      })
  }

  /** The organisation changed: agents that ended are stopped, frozen ones paused. */
  organisationChanged(): void {
    for (const [agentId, { chain, pause }] of this.#running) {
      const view = this.#parts.viewOf(agentId)
      if (view === undefined) chain?.stop()
      else if (view.frozen !== undefined) pause.abort(new Error("The agent is frozen."))
    }
  }

  /** Resolves when nothing runs and nobody has anything to do that does not wait for a person. */
  async idle(): Promise<void> {
    if (this.#isStopped) return
    const idle = new Promise<void>((resolve) => this.#whenIdle.push(resolve))
    this.look()
    await idle
  }

  /** Stops every run where it is. Another process goes on with it, or the next one here. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    for (const stop of this.#stopListening.splice(0)) stop()
    await this.#looking
    const runs = [...this.#running.values()]
    for (const { pause } of runs) pause.abort(new Error("The society was stopped."))
    await Promise.all(runs.map(({ done }) => done))
    this.#tellIdle()
  }

  async #lookOnce(): Promise<void> {
    const { maxRuns = 8 } = this.#options
    // Runs that were settled before this look began cannot be missed by it.
    const isIdleBefore = this.#running.size === 0
    if (this.#running.size >= maxRuns) return
    const work = await this.#findWork()
    let left = 0
    for (const each of work.toSorted((a, b) => this.#lastRun(a) - this.#lastRun(b) || a.since - b.since)) {
      if (this.#isStopped) return
      if (this.#running.size >= maxRuns || this.#running.has(each.agentId)) {
        left++
        // A run that stands still is looked at again once there is a place, or new messages would always come first.
        if (each.conversation !== undefined) this.#unfinishedAt = -Infinity
        continue
      }
      if (await this.#mayRun(each)) this.#start(each)
    }
    if (isIdleBefore && this.#running.size === 0 && left === 0 && !this.#lookAgain) this.#tellIdle()
  }

  #tellIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  #lastRun({ agentId }: Work): number {
    return this.#ranLast.get(agentId) ?? 0
  }

  /** Conversations with messages, then those that a run left unfinished. */
  async #findWork(): Promise<Work[]> {
    const { messages, conversations, approvals, now } = this.#parts
    const at = now()
    const work = new Map<string, Work>()
    for (const message of await messages.unreadConversations("", at)) {
      const conversationId = message.target!
      const isOwn = isSocietyConversation(conversationId)
      const conversation = isOwn ? undefined : await conversations.get(conversationId)
      if (isOwn || (conversation !== undefined && resumesAutomatically(conversation)))
        work.set(conversationId, {
          conversationId,
          agentId: message.to,
          conversation,
          message,
          since: message.deliverAt,
        })
    }
    if (at - this.#unfinishedAt >= unfinishedMs || this.#whenIdle.length > 0) {
      this.#unfinishedAt = at
      // A conversation that nobody has claimed yet is about to be begun by somebody else.
      const unfinished = (await conversations.withPrefix("", ["active", "waiting"])).filter(
        (each) => resumesAutomatically(each) && each.epoch > 0,
      )
      const isWaiting = unfinished.some(({ state }) => state === "waiting")
      const pending = new Set(isWaiting ? (await approvals.list()).map(({ callId }) => callId) : [])
      for (const [id, { calls }] of this.#waitsFor)
        if (!calls.some((callId) => pending.has(callId))) this.#waitsFor.delete(id)
      for (const conversation of unfinished) {
        const { id: conversationId, agentId, length, updatedAt: since } = conversation
        // Somebody said something meanwhile, or stopped it.
        if (length > (this.#waitsFor.get(conversationId)?.turns ?? Infinity)) this.#waitsFor.delete(conversationId)
        const { message } = work.get(conversationId) ?? {}
        work.set(conversationId, { conversationId, agentId, conversation, message, since })
      }
    }
    return [...work.values()].filter(({ conversationId, agentId }) => {
      if (this.#waitsFor.has(conversationId) || (this.#restsUntil.get(conversationId) ?? 0) > at) return false
      return this.#running.get(agentId)?.conversationId !== conversationId
    })
  }

  /** Reports whether a run can begin now. Fills in the conversation. */
  async #mayRun(work: Work): Promise<boolean> {
    const { conversations, viewOf, isAlive, owner } = this.#parts
    const found = (work.conversation ??= await conversations.get(work.conversationId))
    if (!(await this.#isWithin(work))) return false
    const view = viewOf(work.agentId)
    if (view === undefined) {
      // Unread messages are answered for the agent; others' conversations stay as they are.
      if (work.message !== undefined || isSocietyConversation(work.conversationId)) await this.#close(work)
      return false
    }
    if (view.frozen !== undefined || found?.state === "paused") return false
    if (found === undefined || found.owner === "") return true
    // Somebody talks with the agent in this process: what waits is read there.
    return found.owner !== owner && !(await isAlive(found.owner))
  }

  async #isWithin({ conversation, conversationId, message }: Work): Promise<boolean> {
    const { within } = this.#options
    if (within === undefined) return true
    if (conversation?.root === within || conversationId === within) return true
    const { messages, now } = this.#parts
    if (message === undefined) return false
    const unread = await messages.unreadFor(conversationId, { at: now(), limit: 20 })
    return unread.some(({ root }) => root === within)
  }

  #start(work: Work): void {
    const { agentId, conversationId } = work
    const run: Run = { conversationId, chain: undefined, pause: new AbortController(), done: Promise.resolve() }
    this.#ranLast.set(agentId, ++this.#runs)
    this.#running.set(agentId, run)
    run.done = this.#run(work, run)
      .catch((error: unknown) => {
        this.#restsUntil.set(conversationId, this.#parts.now() + restMs)
        if (!(error instanceof ClaimLost))
          this.#parts.logger.error(`Agent ${agentId} could not work: ${errorMessage(error)}`, error)
      })
      .finally(() => {
        this.#running.delete(agentId)
        // A person may have answered just before, and a look that saw the run at work has passed over it.
        if (this.#waitsFor.has(conversationId)) this.#unfinishedAt = -Infinity
        this.look()
      })
  }

  async #run(work: Work, run: Run): Promise<void> {
    const { viewOf, open } = this.#parts
    const view = viewOf(work.agentId)
    if (view === undefined) return
    const { waitMs = 0 } = this.#options
    run.chain = await open(work, view, {
      waitMs: Number.isFinite(waitMs) ? waitMs : undefined,
      pause: run.pause.signal,
    })
    this.organisationChanged()
    const { status, waiting } = await run.chain.resume()
    this.#restsUntil.delete(work.conversationId)
    if (status === "waiting" && waiting.length > 0) {
      const calls = waiting.map(({ callId }) => callId)
      this.#waitsFor.set(work.conversationId, { calls, turns: run.chain.turnsRead })
    }
    if (viewOf(work.agentId) === undefined) await this.#close(work)
  }

  async #close({ agentId, conversationId }: Work): Promise<void> {
    await this.#parts.close(agentId)
    this.#ranLast.delete(agentId)
    this.#restsUntil.delete(conversationId)
    this.#waitsFor.delete(conversationId)
  }
}
