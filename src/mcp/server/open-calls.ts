import { randomUUID } from "node:crypto"
import type { App } from "../../model/app.ts"
import { isTicket, type Ticket } from "../../model/result.ts"
import { badState } from "./errors.ts"
import { sayingFor } from "./forms.ts"
import type { Asked, OpenCall } from "./open-call.ts"
import { seal, unseal } from "./seal.ts"
import type { Speaker } from "./speaker.ts"

/** How many calls go on in memory without anybody attached, and how long one that ended is kept for its caller. */
export interface OpenCallLimits {
  most: number
  keptMs: number
}

/** One agent has at most this part of the room, so that it cannot keep the people of others from being asked. */
const share = 10

/** What travels through the client between two rounds of a call. */
interface RoundState {
  open: string
  round: string
  agentId: string
  person: string | null
  same: string
  until: number
  /** What was asked, where it stands at the desk. */
  asked: readonly { key: string; callId: string; revision: number }[]
}

/** The calls whose callers were told to come back. */
export class OpenCalls {
  readonly #app: App
  readonly #limits: OpenCallLimits
  readonly #onTicket: (open: OpenCall, ticket: Ticket) => void
  readonly #key: Buffer
  readonly #open = new Map<string, OpenCall>()
  readonly #timers = new Set<NodeJS.Timeout>()

  /** `onTicket` is told of a call that became a ticket while nobody was with it. */
  constructor(app: App, limits: OpenCallLimits, onTicket: (open: OpenCall, ticket: Ticket) => void = () => {}) {
    this.#app = app
    this.#limits = limits
    this.#onTicket = onTicket
    this.#key = app.sealKey("mcp request state")
  }

  /** Whether another call of that agent may be begun that could have to be kept. Those that ended make room first. */
  hasRoom(agentId: string): boolean {
    if (this.#countOf(agentId) >= Math.max(1, Math.ceil(this.#limits.most / share))) return false
    if (this.#open.size < this.#limits.most) return true
    for (const [id, open] of this.#open) {
      if (open.outcome !== undefined) this.#open.delete(id)
      if (this.#open.size < this.#limits.most) return true
    }
    return false
  }

  #countOf(agentId: string): number {
    let count = 0
    for (const { speaker, outcome } of this.#open.values()) {
      if (outcome === undefined && speaker.agentId === agentId) count++
    }
    return count
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Keeps a call for the caller who was told to come back. */
  park(open: OpenCall): void {
    if (this.#open.has(open.id)) return
    this.#open.set(open.id, open)
    const forget = () => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        this.#open.delete(open.id)
      }, this.#limits.keptMs)
      timer.unref()
      this.#timers.add(timer)
    }
    open.ended.then(
      (outcome) => void (isTicket(outcome) && this.#onTicket(open, outcome)),
      () => {},
    )
    open.ended.then(forget, forget)
  }

  /** The same call, where it goes on or has ended and nobody was told. */
  find(same: string): OpenCall | undefined {
    for (const open of this.#open.values()) {
      const isTold = open.isDelivered || (open.outcome !== undefined && isTicket(open.outcome))
      if (open.same === same && !isTold) return open
    }
    return undefined
  }

  /** What the client sends back with its answers: good once, for this call of this caller, as long as it waits. */
  state(open: OpenCall, asked: readonly Asked[]): string {
    const round = randomUUID()
    open.rounds.set(round, new Set(asked))
    const { agentId, person = null } = open.speaker
    const until = Math.max(...asked.map(({ about }) => about?.until ?? Date.now() + this.#limits.keptMs))
    const desk = asked.flatMap(({ key, about }) =>
      about === undefined ? [] : [{ key, callId: about.callId, revision: about.revision }],
    )
    const state: RoundState = { open: open.id, round, agentId, person, same: open.same, until, asked: desk }
    return seal(this.#key, state)
  }

  /**
   * Takes a client's answers to the call its state names. Undefined when this process does not have that call: then what
   * was said has been told to the desk, and the same call joins what stands there. Throws for any state that does not fit.
   */
  async resume(
    text: string,
    given: { speaker: Speaker; same: string; responses: Record<string, unknown> },
  ): Promise<OpenCall | undefined> {
    const state = this.#read(text)
    const { agentId, person = null } = given.speaker
    const fits = state.agentId === agentId && state.person === person && state.same === given.same
    if (!fits || state.until <= Date.now()) throw badState()
    const open = this.#open.get(state.open)
    if (open === undefined) {
      await this.#tellDesk(state, given.responses)
      return undefined
    }
    const shown = open.rounds.get(state.round)
    if (shown === undefined) throw badState()
    open.rounds.delete(state.round)
    for (const [key, response] of Object.entries(given.responses)) {
      const asked = open.asked.get(key)
      // A server may call another question by the same name: an answer is for the one its round showed.
      if (asked !== undefined && shown.has(asked) && asked.answer(response)) open.asked.delete(key)
    }
    return open
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const open of this.#open.values()) if (open.outcome === undefined) open.cancel()
    this.#open.clear()
  }

  #read(text: string): RoundState {
    const state = unseal(this.#key, text)
    if (typeof state !== "object" || state === null) throw badState()
    return state as RoundState
  }

  /** Each answer counts for the revision that was shown, and once. Nobody can say anything to what does not wait. */
  async #tellDesk({ asked, person }: RoundState, responses: Record<string, unknown>): Promise<void> {
    let waits = false
    for (const { key, callId, revision } of asked) {
      const item = await this.#app.desk.show(callId)
      if (item === undefined || item.callId !== callId || item.revision !== revision) continue
      const saying = Object.hasOwn(responses, key) ? sayingFor(item, responses[key]) : undefined
      if (saying === undefined || person === null) waits = true
      else if ((await this.#app.desk.say(callId, saying, person, revision)).ok) waits = true
    }
    if (!waits) throw badState()
  }
}
