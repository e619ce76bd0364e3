import { setTimeout as sleep } from "node:timers/promises"
import type { Answer, AnswerResult, PendingItem } from "../../core/approval.ts"
import { oneLine, trustedRows } from "./card-rows.ts"
import { choose, withScreen, writeLines, type CardListener, type Screen, type Terminal } from "./dialog.ts"
import { enterKey } from "./keys.ts"
import { answeredText, itemText } from "./item-text.ts"
import { askAboutItem, chooseItem, mostListed, withNote, type GivenAnswer } from "./queue-dialog.ts"
import { pollMs, watchedDialog } from "./watched-dialog.ts"

/** Lists what waits and takes answers. */
export interface Queue {
  list(): Promise<readonly PendingItem[]>
  /** Answers the revision of the item that was shown. */
  answer(item: PendingItem, answer: Answer): Promise<AnswerResult>
  /** Set for a person who may add the rule that a card offers: approves the call and adds it. */
  rules?: Screen["rules"] & { approve(item: PendingItem, duration: string): Promise<AnswerResult> }
}

export interface QueueOptions {
  terminal: Terminal
  queue: Queue
  /** Aborted to stop. What waits goes on waiting. */
  signal: AbortSignal
  /** Called when the person presses Ctrl-C. */
  onInterrupt(): void
  /** Is told what the person types at a card and is no answer. */
  listener?: CardListener
  /** Reports whether the terminal may be used now: a shell stops a background job that reads it. */
  isAttended(): boolean
  /** Ends after one answer, or when the person leaves. */
  once: boolean
  /** The caller looks again by itself, so nothing is waited for that may come back after an edit elsewhere. */
  looksAgain?: boolean
  /** Stands before the question of each list, so that it is always at the end of the terminal: where the console is. */
  note?: string
  /** The sentence while nothing waits. */
  idleText?: string
}

/** The end: an answer counted or did not, the person left, nothing waits, or it was stopped. */
export type QueueEnd = "accepted" | "refused" | "left" | "nothing" | "stopped"

/** Shows what waits in a terminal, one card after the other, and takes the answers. */
export function answerQueue(options: QueueOptions): Promise<QueueEnd> {
  return new TerminalQueue(options).run()
}

/** An edited call comes back as a new revision within this time. */
const editMs = 5000

class TerminalQueue {
  readonly #options: QueueOptions
  /** Items that the person has seen and left, or answered. */
  readonly #seen = new Set<string>()
  readonly #putOff = new Set<string>()
  /** Shows the list before a card, so that no key that was meant for another card answers it. */
  #listFirst: boolean | undefined
  #isIdle = false
  #end: QueueEnd | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  async run(): Promise<QueueEnd> {
    const { queue, once, isAttended } = this.#options
    for (;;) {
      const waiting = await queue.list()
      const open = this.#open(waiting)
      if (this.#isOver()) return "stopped"
      if (once && open.length === 0) return waiting.length === 0 ? "nothing" : "left"
      if (!isAttended()) await this.#pause()
      else if (open.length > 0)
        await this.#present(open, waiting.filter((item) => this.#putOff.has(nameOf(item))).length)
      else await this.#rest(waiting)
      if (once && this.#end !== undefined) return this.#end
    }
  }

  #open(items: readonly PendingItem[]): PendingItem[] {
    return items.filter((item) => !this.#seen.has(nameOf(item)))
  }

  #isOver(): boolean {
    const { signal, terminal } = this.#options
    return signal.aborted || terminal.input.readableEnded || terminal.input.destroyed
  }

  async #present(open: readonly PendingItem[], putOff: number): Promise<void> {
    this.#isIdle = false
    this.#listFirst ??= open.length > 1
    if (!this.#listFirst) return this.#ask(open[0]!, open)
    const item = await this.#pick(open, putOff)
    if (item === undefined) return
    const now = this.#open(await this.#options.queue.list())
    if (namesOf(now).includes(nameOf(item))) return this.#ask(item, now)
    await this.#screen(this.#options.signal, async (screen) => tell(screen, notWaiting))
  }

  /** Lets the person choose from the list. Only what changes is written below it: what arrives gets the next number. */
  async #pick(open: readonly PendingItem[], putOff: number): Promise<PendingItem | undefined> {
    const listed = [...open]
    const gone = new Set<string>()
    const tellChanges = (now: readonly PendingItem[], { interject }: Screen) => {
      if (interject === undefined) return
      const names = new Set(now.map(nameOf))
      const left = listed.filter((item) => !names.has(nameOf(item)) && !gone.has(nameOf(item)))
      const news = this.#open(now).filter((item) => !namesOf(listed).includes(nameOf(item)))
      for (const item of left) gone.add(nameOf(item))
      const sentences = [
        ...left.map((item) => `No longer waits: ${itemText(item)}`),
        ...news.map((item) => alsoWaits(item, listed.push(item))),
      ]
      if (sentences.length > 0) interject(sentences.join(". "))
    }
    const { answer, wasClosed } = await this.#watched(
      (now, screen) => {
        if (!now.some((item) => namesOf(listed).includes(nameOf(item)))) return "None of these waits any more."
        tellChanges(now, screen)
        return undefined
      },
      (screen) => chooseItem(screen, listed, { putOff, note: this.#options.note }),
    )
    if (answer === undefined && !wasClosed) {
      this.#end ??= "left"
      this.#leave(listed)
    }
    return answer
  }

  /** Shows a card. It is closed when it is answered elsewhere or changes, and tells what arrives meanwhile. */
  async #ask(item: PendingItem, open: readonly PendingItem[]): Promise<void> {
    const known = new Set(open.map(nameOf))
    const tellNews = (now: readonly PendingItem[], { interject }: Screen) => {
      const news = this.#open(now).filter((each) => each.callId !== item.callId && !known.has(nameOf(each)))
      if (news.length === 0 || interject === undefined) return
      for (const each of news) known.add(nameOf(each))
      interject(news.map((each) => `Also waits now: ${itemText(each)}`).join(" "))
    }
    const { answer, wasClosed } = await this.#watched(
      (now, screen) => {
        tellNews(now, screen)
        return closeReason(item, now)
      },
      (screen) => {
        const others = open.length - 1
        if (others > 0) tell(screen, others === 1 ? "1 more waits besides this:" : `${others} more wait besides this:`)
        return askAboutItem(screen, item)
      },
    )
    if (answer !== undefined) await this.#send(item, answer)
    else if (wasClosed) await this.#afterClosing(item)
    else this.#leave([item])
  }

  async #send(item: PendingItem, { answer, ruleFor }: GivenAnswer): Promise<void> {
    const { queue } = this.#options
    const withRule = ruleFor === undefined ? undefined : queue.rules?.approve(item, ruleFor)
    const result = await (withRule ?? queue.answer(item, answer))
    await this.#screen(this.#options.signal, async (screen) =>
      tell(screen, result.ok ? answeredText(item, result.sentence) : result.sentence),
    )
    this.#seen.add(nameOf(item))
    this.#listFirst = !result.ok
    if (result.ok && answer.kind === "edit") await this.#nextRevision(item)
    else this.#end = result.ok ? "accepted" : "refused"
  }

  /** A key that was meant for the closed card must not answer the next one. What was edited elsewhere comes back. */
  async #afterClosing(item: PendingItem): Promise<void> {
    const { queue, once, looksAgain = false } = this.#options
    this.#listFirst = true
    if (once && !looksAgain && this.#open(await queue.list()).length === 0) await this.#nextRevision(item)
  }

  /** The person leaves these for later. Where one answer is wanted, that ends it, or leads back to the list. */
  #leave(items: readonly PendingItem[]): void {
    if (!this.#options.once) {
      for (const item of items) {
        this.#seen.add(nameOf(item))
        this.#putOff.add(nameOf(item))
      }
    } else if (this.#listFirst !== true) this.#end ??= "left"
  }

  /** Waits for something new, or until the person wants to see again what was left for later. */
  async #rest(waiting: readonly PendingItem[]): Promise<void> {
    if (waiting.length === 0) {
      const { terminal, idleText } = this.#options
      if (!this.#isIdle && idleText !== undefined) terminal.output.write(`${idleText}\n`)
      this.#isIdle = true
      return this.#pause()
    }
    const left = waiting.length === 1 ? "1 is left for later." : `${waiting.length} are left for later.`
    const title = withNote(this.#options.note, left)
    const { answer } = await this.#watched(
      (now) => (namesOf(now).join() === namesOf(waiting).join() ? undefined : ""),
      (screen) => choose(screen, [], title, { [enterKey]: "show" }, "wait"),
    )
    if (answer === undefined) return
    this.#seen.clear()
    this.#putOff.clear()
    this.#listFirst = true
  }

  /** An edited call is checked again and comes back as a new revision. */
  async #nextRevision({ callId, revision }: PendingItem): Promise<void> {
    for (const end = Date.now() + editMs; Date.now() < end && !this.#isOver(); await this.#pause()) {
      const now = (await this.#options.queue.list()).find((item) => item.callId === callId)
      if (now !== undefined && now.revision > revision) return
    }
  }

  #pause(): Promise<void> {
    return sleep(pollMs, undefined, { signal: this.#options.signal }).catch(() => {})
  }

  /** Runs a dialog and looks at what waits meanwhile. */
  #watched<T>(
    look: (now: readonly PendingItem[], screen: Screen) => string | undefined,
    dialog: (screen: Screen) => Promise<T>,
  ): Promise<{ answer: T; wasClosed: boolean }> {
    const { queue, signal } = this.#options
    let open: Screen | undefined
    return watchedDialog(
      signal,
      async () => open && look(await queue.list(), open),
      (closing) => this.#screen(closing, (screen) => dialog((open = screen))),
    )
  }

  #screen<T>(signal: AbortSignal, work: (screen: Screen) => Promise<T>): Promise<T> {
    const onInterrupt = () => {
      this.#end = "left"
      this.#options.onInterrupt()
    }
    return withScreen(this.#options.terminal, signal, work, {
      escape: "later",
      onInterrupt,
      listener: this.#options.listener,
      rules: this.#options.queue.rules,
    })
  }
}

function alsoWaits(item: PendingItem, place: number): string {
  return `Also waits now${place > mostListed ? "" : `, as ${place}`}: ${itemText(item)}`
}

const notWaiting = "It was answered elsewhere, or its time is over."

function closeReason(item: PendingItem, now: readonly PendingItem[]): string | undefined {
  const current = now.find(({ callId, kind }) => callId === item.callId && kind === item.kind)
  if (current === undefined) return notWaiting
  return current.revision === item.revision ? undefined : "It has changed meanwhile, so nothing was answered."
}

function tell(screen: Screen, sentence: string): void {
  writeLines(screen, trustedRows(oneLine(sentence), screen.columns))
}

/** One question to a person: an item at one revision. */
function nameOf({ callId, kind, revision }: PendingItem): string {
  return `${callId} ${kind} ${revision}`
}

function namesOf(items: readonly PendingItem[]): string[] {
  return items.map(nameOf)
}
