import type { PendingItem } from "../../model/approval.ts"
import { answerHere } from "../answer-at-terminal.ts"
import { onOneLine } from "../call-line.ts"
import type { CliApp, CliContext } from "../context.ts"
import { itemsInTree } from "../wait-for-agents.ts"

/** How a card takes the terminal from the chat. */
export interface CardStage {
  /** Whether a card may be shown now. */
  mayShow(): boolean
  before(): void
  after(): void
  /** The person pressed Ctrl-C at the card. */
  interrupt(): void
}

/**
 * Shows the approvals, held results and questions of a conversation, and of those that its agent began, in its chat, with the card and the keys of
 * `qm approvals`. What the person leaves for later goes on waiting.
 */
export class WaitingCards {
  readonly #context: CliContext
  readonly #app: CliApp
  readonly #by: string
  #open: AbortController | undefined
  #isLooking = false
  #waiting: readonly PendingItem[] = []
  #left = new Set<string>()

  constructor(context: CliContext, app: CliApp, by: string) {
    // Agents that the chat's agent asked have cards here too.
    this.#context = { ...context, flags: { ...context.flags, agent: undefined } }
    this.#app = app
    this.#by = by
  }

  /** What waits and is not shown, in a few words. */
  waitingText(): string | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const more = this.#waiting.length > 1 ? ` and ${this.#waiting.length - 1} more` : ""
    const what = { call: "needs your approval", result: "has a result that you must release", question: "asks you" }
    return `${onOneLine(first.tool)} ${what[first.kind]}${more}`
  }

  /** Shows again what was left for later. */
  showAgain(): void {
    this.#left.clear()
  }

  /** Takes a card off the terminal without an answer. */
  close(): void {
    this.#open?.abort()
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
        const shown = this.#waiting.filter((item) => !this.#left.has(nameOf(item)))
        if (shown.length === 0 || !stage.mayShow()) return
        await this.#show(shown, stage)
      }
    } finally {
      this.#isLooking = false
    }
  }

  async #show(items: readonly PendingItem[], stage: CardStage): Promise<void> {
    const open = (this.#open = new AbortController())
    const names = new Set(items.map(({ callId }) => callId))
    stage.before()
    try {
      const end = await answerHere(this.#context, this.#app, this.#by, {
        signal: open.signal,
        interrupt: () => stage.interrupt(),
        filter: ({ callId }) => names.has(callId),
        once: true,
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
