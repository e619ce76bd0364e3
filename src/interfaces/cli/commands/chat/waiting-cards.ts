import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { setTimeout as sleep } from "node:timers/promises"
import type { PendingItem } from "../../../../core/approval.ts"
import { answerHere, type AnswerHere } from "../approvals/answer-at-terminal.ts"
import { inCallOrder } from "./call-order.ts"
import { onOneLine } from "../../terminal/call-line.ts"
import type { CliContext } from "../../common/context.ts"
import { itemsInTree } from "../agents/wait-for-agents.ts"

/** Time in which a call may begin to wait after another one of the same answer. */
const togetherMs = 200

/** The stage on which a card takes the terminal from the chat. */
export interface CardStage {
  /** Reports whether a card may be shown now. */
  mayShow(): boolean
  before(): void
  after(): void
  /** The person pressed Ctrl-C at the card. */
  interrupt(): void
  /** Receives the text that the person types at the card and that is no answer. */
  listener?: AnswerHere["listener"]
}

/**
 * Shows the approvals, held results and questions of a conversation, and of those that its agent began, in its chat, with the cards of
 * `qm approvals`. What the person leaves for later goes on waiting.
 */
export class WaitingCards {
  readonly #context: CliContext
  readonly #app: Quartermaster
  readonly #by: string
  #open: AbortController | undefined
  #isLooking = false
  #waiting: readonly PendingItem[] = []
  #left = new Set<string>()

  constructor(context: CliContext, app: Quartermaster, by: string) {
    // Agents that the chat's agent asked have cards here too.
    this.#context = { ...context, flags: { ...context.flags, agent: undefined } }
    this.#app = app
    this.#by = by
  }

  /** Describes the items that wait and are not shown, in a few words. */
  waitingText(): string | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const more = this.#waiting.length > 1 ? ` and ${this.#waiting.length - 1} more` : ""
    const what = { call: "needs your approval", result: "has a result that you must release", question: "asks you" }
    return `${onOneLine(first.tool)} ${what[first.kind]}${more}`
  }

  /** True if something waits that the person has left for later. */
  get hasLeft(): boolean {
    return this.#waiting.some((item) => this.#left.has(nameOf(item)))
  }

  /** Shows again what was left for later. */
  showAgain(): void {
    this.#left.clear()
  }

  /** Takes a card off the terminal without an answer. */
  close(): void {
    this.#open?.abort({ sentence: "It is over; there is nothing to answer." })
    this.#waiting = []
    this.#left.clear()
  }

  /** Shows what waits in this conversation, one card after the other, until nothing is left or it may not. */
  async look(sessionId: string, stage: CardStage): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      for (;;) {
        this.#waiting = await itemsInTree(this.#app, sessionId)
        const shown = this.#waiting.filter((item) => !this.#left.has(nameOf(item)) && !this.#hasAgreed(item))
        if (shown.length === 0 || !stage.mayShow()) return
        // Other calls of the same answer begin to wait in the same moment, and the first of them is shown first.
        const age = Date.now() - Math.max(...shown.map(({ createdAt }) => createdAt))
        if (age >= 0 && age < togetherMs) await sleep(togetherMs - age)
        else await this.#show(shown, stage)
      }
    } finally {
      this.#isLooking = false
    }
  }

  /** Reports whether the person has agreed, and others must too. */
  #hasAgreed({ votes }: PendingItem): boolean {
    return votes.some(({ by }) => by === this.#by)
  }

  async #show(items: readonly PendingItem[], stage: CardStage): Promise<void> {
    const open = (this.#open = new AbortController())
    const names = new Set(items.map(({ callId }) => callId))
    stage.before()
    try {
      const end = await answerHere(this.#context, this.#app, this.#by, {
        signal: open.signal,
        interrupt: () => stage.interrupt(),
        listener: stage.listener,
        select: (all) =>
          inCallOrder(
            this.#app,
            all.filter(({ callId }) => names.has(callId)),
          ),
        once: true,
        looksAgain: true,
      })
      if (end === "left" || end === "refused") for (const item of items) this.#left.add(nameOf(item))
    } finally {
      this.#open = undefined
      stage.after()
    }
  }
}

/** An item at one revision: what changed is shown again. */
function nameOf({ callId, kind, revision }: PendingItem): string {
  return `${callId} ${kind} ${revision}`
}
