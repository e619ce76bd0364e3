import { randomUUID } from "node:crypto"
import type { ApprovalRequest, ApprovalUIAdapter, Saying } from "../../model/approval.ts"
import type { Caller } from "../../model/call.ts"
import type { Ticket, ToolResult } from "../../model/result.ts"
import { ableOf, type Can } from "./capabilities.ts"
import { elicitationFor, sayingFor } from "./forms.ts"
import type { Speaker } from "./speaker.ts"

/** Something the client is asked while a call is on its way. */
export interface Asked {
  readonly key: string
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params: Record<string, unknown> | undefined
  /** What it is about at the desk, for a process that comes after this one. */
  readonly about?: { readonly callId: string; readonly revision: number; readonly until: number } | undefined
  /** Takes what the client said; false where that cannot be used and it is asked again. */
  answer(response: unknown): boolean
  fail(error: Error): void
  /** Aborted when nobody needs the answer any more. */
  readonly signal: AbortSignal
  /** Whether a request for it is under way on a connection that can be asked at any time. */
  isUnderWay: boolean
}

/** Somebody who waits for this call just now. */
export interface Watcher {
  onOutput(chunk: unknown): void
  onWaiting(): void
  onAsked(): void
}

export interface Waiting {
  callId: string
  tool: string
  until: number
}

/** A call that goes on in memory while its caller comes and goes. */
export class OpenCall {
  readonly id = randomUUID()
  /** What makes another call the same as this one. */
  readonly same: string
  readonly speaker: Speaker
  /** What the client has not answered yet. */
  readonly asked = new Map<string, Asked>()
  /** The rounds that were handed out and not used yet, each with what it showed. */
  readonly rounds = new Map<string, ReadonlySet<Asked>>()
  /** What began to wait for a person last. */
  waiting: Waiting | undefined
  /** How it ended, once it has. */
  outcome: ToolResult | Ticket | undefined
  isDelivered = false
  readonly ended: Promise<ToolResult | Ticket>
  readonly #watchers = new Set<Watcher>()
  readonly #controller = new AbortController()
  #numbers = 0

  constructor(
    given: { same: string; speaker: Speaker; can: Can },
    run: (caller: Caller, signal: AbortSignal) => Promise<ToolResult | Ticket>,
  ) {
    this.same = given.same
    this.speaker = given.speaker
    this.ended = run(this.#caller(given.can), this.#controller.signal)
    const over = (outcome: ToolResult | Ticket | undefined) => {
      this.outcome = outcome
      for (const asked of this.asked.values()) asked.fail(new Error("The call has ended."))
    }
    this.ended.then(over, () => over(undefined))
  }

  /** Adds somebody who waits; the returned function takes them away again and says whether nobody is left. */
  watch(watcher: Watcher): () => boolean {
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      return this.#watchers.size === 0
    }
  }

  cancel(): void {
    this.#controller.abort()
  }

  #caller(can: Can): Caller {
    const { person } = this.speaker
    return {
      ...(person === undefined || !can.form ? {} : { approvals: this.#approvals(person, can) }),
      ...(can.sampling || can.roots ? { ask: (...asked) => this.#ask(can, ...asked) } : {}),
      able: ableOf(can),
      onOutput: (chunk) => {
        for (const watcher of this.#watchers) watcher.onOutput(chunk)
      },
      onWaiting: (waiting) => {
        this.waiting = waiting
        for (const watcher of this.#watchers) watcher.onWaiting()
      },
    }
  }

  /**
   * The person at the client, asked by forms of the protocol. Not about results: the client is the model's side, and
   * nothing of what is held back goes there.
   */
  #approvals(by: string, can: Can): Partial<ApprovalUIAdapter> {
    const put = (request: ApprovalRequest) => this.#elicit(request, can)
    return {
      async showToolExecutionApproval(_tool, _description, _input, _level, request) {
        const saying = await put(request)
        if (saying.say === "approve")
          return { approved: true, by, ...(saying.remember && { remember: saying.remember }) }
        return { approved: false, by, ...reasonOf(saying) }
      },
      async showQuestion(_question, request) {
        const saying = await put(request)
        return saying.say === "answer" ? { answer: saying.value, by } : { by, ...reasonOf(saying) }
      },
    }
  }

  #elicit({ signal, ...item }: ApprovalRequest, can: Can): Promise<Saying> {
    const elicitation = elicitationFor(item)
    return new Promise((resolve, reject) => {
      // Whoever can open an address answers it at another door.
      if (signal.aborted || !can[elicitation.mode]) return
      const { callId, revision, until } = item
      const key = this.#free(item.kind === "question" ? keyIn(item.input) : undefined, `${callId}.${revision}`)
      signal.addEventListener("abort", () => this.asked.delete(key), { once: true })
      this.#put({
        key,
        method: "elicitation/create",
        params: { ...elicitation },
        about: { callId, revision, until },
        answer: (response) => {
          const saying = sayingFor(item, response)
          if (saying !== undefined) resolve(saying)
          return saying !== undefined
        },
        fail: reject,
        signal,
        isUnderWay: false,
      })
    })
  }

  /** What is no person's decision goes to the client's program. */
  #ask(can: Can, method: string, params: unknown, signal: AbortSignal, name?: string): Promise<unknown> {
    const isSampling = method === "sampling/createMessage"
    if (isSampling ? !can.sampling : method !== "roots/list" || !can.roots) {
      return Promise.reject(new Error(`The program that made the call does not take ${method}.`))
    }
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error("The call was cancelled."))
      const key = this.#free(keyIn({ key: name }), `${isSampling ? "sampling" : "roots"}.${++this.#numbers}`)
      const gone = () => {
        this.asked.delete(key)
        reject(new Error("The call was cancelled."))
      }
      signal.addEventListener("abort", gone, { once: true })
      this.#put({
        key,
        method: isSampling ? "sampling/createMessage" : "roots/list",
        params: params as Record<string, unknown> | undefined,
        answer: (response) => {
          if (typeof response !== "object" || response === null) return false
          resolve(response)
          return true
        },
        fail: reject,
        signal,
        isUnderWay: false,
      })
    })
  }

  /** What a server calls its question, where nothing else is called so. */
  #free(wished: string | undefined, otherwise: string): string {
    if (wished !== undefined && !this.asked.has(wished)) return wished
    return this.asked.has(otherwise) ? `${otherwise}.${++this.#numbers}` : otherwise
  }

  #put(asked: Asked): void {
    this.asked.set(asked.key, asked)
    for (const watcher of this.#watchers) watcher.onAsked()
  }
}

/** What a server named its question, as it stands in the input of the call that asks it. */
function keyIn(input: unknown): string | undefined {
  const { key } = (input ?? {}) as { key?: unknown }
  return typeof key === "string" && key !== "__proto__" && /^[\w.:-]{1,200}$/.test(key) ? key : undefined
}

function reasonOf(saying: Saying): { rejectReason?: string } {
  const reason = "reason" in saying ? saying.reason : undefined
  return reason === undefined ? {} : { rejectReason: reason }
}
