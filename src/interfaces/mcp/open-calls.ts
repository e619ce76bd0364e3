import { randomUUID } from "node:crypto"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { isTicket, type Ticket } from "../../core/result.ts"
import { badState } from "./errors.ts"
import { answerFromForm } from "./elicitation-forms.ts"
import type { ClientQuestion, OpenCall } from "./open-call.ts"
import { seal, unseal } from "./seal.ts"
import type { ClientIdentity } from "./client-identity.ts"

/** Limits of parked calls: their number, and the time that an ended one stays for its caller. */
export interface OpenCallLimits {
  maxOpen: number
  keepEndedMs: number
  /** An answer that comes sooner is not a person's. */
  fastestMs: number
}

/** One agent may use at most a tenth of the room, so that it cannot block the approvals of others. */
const agentShare = 10

/** The encrypted state that a client sends back with its answers. The field names outlive a restart: do not rename. */
interface RequestState {
  open: string
  round: string
  agentId: string
  person: string | null
  same: string
  until: number
  /** The time the client was asked. */
  at: number
  /** The pending items the client was asked about. */
  asked: readonly { key: string; callId: string; revision: number }[]
}

/** The calls whose callers are expected to come back. */
export class OpenCalls {
  readonly #app: Quartermaster
  readonly #limits: OpenCallLimits
  readonly #onTicket: (open: OpenCall, ticket: Ticket) => void
  readonly #key: Buffer
  readonly #open = new Map<string, OpenCall>()
  readonly #timers = new Set<NodeJS.Timeout>()

  /** `onTicket` is called when a parked call ends with a ticket. */
  constructor(
    app: Quartermaster,
    limits: OpenCallLimits,
    onTicket: (open: OpenCall, ticket: Ticket) => void = () => {},
  ) {
    this.#app = app
    this.#limits = limits
    this.#onTicket = onTicket
    this.#key = app.sealKey("mcp request state")
  }

  /** Tests whether the agent may begin another call that might have to be parked. Removes ended calls if that makes room. */
  hasRoom(agentId: string): boolean {
    if (this.#countOf(agentId) >= Math.max(1, Math.ceil(this.#limits.maxOpen / agentShare))) return false
    if (this.#open.size < this.#limits.maxOpen) return true
    for (const [id, open] of this.#open) {
      if (open.outcome !== undefined) this.#open.delete(id)
      if (this.#open.size < this.#limits.maxOpen) return true
    }
    return false
  }

  #countOf(agentId: string): number {
    let count = 0
    for (const { identity, outcome } of this.#open.values()) {
      if (outcome === undefined && identity.agentId === agentId) count++
    }
    return count
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Stores a call until its caller comes back. */
  park(open: OpenCall): void {
    if (this.#open.has(open.id)) return
    this.#open.set(open.id, open)
    const forget = () => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        this.#open.delete(open.id)
      }, this.#limits.keepEndedMs)
      timer.unref()
      this.#timers.add(timer)
    }
    open.ended.then(
      (outcome) => void (isTicket(outcome) && this.#onTicket(open, outcome)),
      () => {},
    )
    open.ended.then(forget, forget)
  }

  /** The parked call with that fingerprint, if it still runs or its result was not delivered. */
  find(fingerprint: string): OpenCall | undefined {
    for (const open of this.#open.values()) {
      const isSettled = open.isDelivered || (open.outcome !== undefined && isTicket(open.outcome))
      if (open.fingerprint === fingerprint && !isSettled) return open
    }
    return undefined
  }

  /** The state the client sends back with its answers. It is valid once, for this call and caller, while the call waits. */
  issueState(open: OpenCall, questions: readonly ClientQuestion[]): string {
    const round = randomUUID()
    open.issuedStates.set(round, new Set(questions))
    const { agentId, person = null } = open.identity
    const until = Math.max(...questions.map(({ about }) => about?.until ?? Date.now() + this.#limits.keepEndedMs))
    const pending = questions.flatMap(({ key, about }) =>
      about === undefined ? [] : [{ key, callId: about.callId, revision: about.revision }],
    )
    const same = open.fingerprint
    const state: RequestState = { open: open.id, round, agentId, person, same, until, at: Date.now(), asked: pending }
    return seal(this.#key, state)
  }

  /**
   * Passes a client's answers to the call that its state names. Undefined when another process has that call: then the
   * answers went to the approval queue, and repeating the call joins the waiting one. Throws if the state does not fit.
   */
  async resume(
    text: string,
    request: { identity: ClientIdentity; fingerprint: string; responses: Record<string, unknown> },
  ): Promise<OpenCall | undefined> {
    const state = this.#read(text)
    const { agentId, person = null } = request.identity
    const fits = state.agentId === agentId && state.person === person && state.same === request.fingerprint
    if (!fits || state.until <= Date.now()) throw badState()
    const open = this.#open.get(state.open)
    if (open === undefined) {
      await this.#answerPending(state, request.responses)
      return undefined
    }
    const shownQuestions = open.issuedStates.get(state.round)
    if (shownQuestions === undefined) throw badState()
    open.issuedStates.delete(state.round)
    for (const [key, response] of Object.entries(request.responses)) {
      const question = open.questions.get(key)
      // A server may reuse a key: an answer is only for the question it was issued with.
      if (question !== undefined && shownQuestions.has(question) && question.answer(response, Date.now() - state.at))
        open.questions.delete(key)
    }
    return open
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const open of this.#open.values()) if (open.outcome === undefined) open.cancel()
    this.#open.clear()
  }

  #read(text: string): RequestState {
    const state = unseal(this.#key, text)
    if (typeof state !== "object" || state === null) throw badState()
    return state as RequestState
  }

  /** Answers the pending items in the revision the client saw. Throws when none of them waits any more. */
  async #answerPending({ asked, person, at }: RequestState, responses: Record<string, unknown>): Promise<void> {
    let waits = false
    for (const { key, callId, revision } of asked) {
      const item = await this.#app.approvals.show(callId)
      if (item === undefined || item.callId !== callId || item.revision !== revision) continue
      const timing = { tookMs: Date.now() - at, fastestMs: this.#limits.fastestMs }
      const read = Object.hasOwn(responses, key) ? answerFromForm(item, responses[key], timing) : undefined
      const answer = read !== undefined && "answer" in read ? read.answer : undefined
      if (answer === undefined || person === null) waits = true
      else if ((await this.#app.approvals.answer(callId, answer, person, revision)).ok) waits = true
    }
    if (!waits) throw badState()
  }
}
