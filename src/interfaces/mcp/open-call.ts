import { randomUUID } from "node:crypto"
import type { ApprovalRequest, ApprovalUIAdapter, Answer, PendingItem } from "../../core/approval.ts"
import type { Caller } from "../../core/call.ts"
import { wholeCharacters } from "../../core/model-text.ts"
import { NobodyAsked } from "../../approvals/nobody-asked.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import { toCallerAble, type ClientAbilities } from "./capabilities.ts"
import { elicitationFor, answerFromForm } from "./elicitation-forms.ts"
import type { ClientIdentity } from "./client-identity.ts"

/** A request to the client while its call runs. */
export interface ClientQuestion {
  readonly key: string
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params: Record<string, unknown> | undefined
  /** The pending item it asks about, so that another process can take the answer. */
  readonly about?: { readonly callId: string; readonly revision: number; readonly until: number }
  /** Takes the client's response after so many milliseconds; false when it cannot be used and the client is asked again. */
  answer(response: unknown, tookMs: number): boolean
  fail(error: Error): void
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal
  /** True once it was sent over a connection that takes requests at any time. */
  isSent: boolean
}

/** The items that the person at a client is asked about there, and the time after which an answer counts as theirs. */
export interface ClientForms {
  shows(item: PendingItem): boolean
  readonly fastestMs: number
}

/** A request that currently waits for this call. */
export interface Watcher {
  onOutput(chunk: unknown): void
  onWaiting(): void
  onAsked(): void
}

export interface WaitingCall {
  callId: string
  tool: string
  until: number
}

/** A call that continues in memory while its caller sends one request after another about it. */
export class OpenCall {
  readonly id = randomUUID()
  readonly identity: ClientIdentity
  /** Questions the client has not answered yet, by key. */
  readonly questions = new Map<string, ClientQuestion>()
  /** Issued request states that were not used yet, each with the questions it was sent with. */
  readonly issuedStates = new Map<string, ReadonlySet<ClientQuestion>>()
  /** The call, this one or one below it, that most recently began to wait for a person. */
  waiting: WaitingCall | undefined
  /** Set when the call has ended. */
  outcome: ToolResult | Ticket | undefined
  isDelivered = false
  readonly ended: Promise<ToolResult | Ticket>
  readonly #watchers = new Set<Watcher>()
  readonly #controller = new AbortController()
  readonly #options: { readonly fingerprint: string; readonly forms: ClientForms }
  #counter = 0

  constructor(
    options: {
      readonly fingerprint: string
      identity: ClientIdentity
      abilities: ClientAbilities
      readonly forms: ClientForms
    },
    run: (caller: Caller, signal: AbortSignal) => Promise<ToolResult | Ticket>,
  ) {
    this.#options = options
    this.identity = options.identity
    this.ended = run(this.#caller(options.abilities), this.#controller.signal)
    const onEnded = (outcome: ToolResult | Ticket | undefined) => {
      this.outcome = outcome
      for (const question of this.questions.values()) question.fail(new Error("The call has ended."))
    }
    this.ended.then(onEnded, () => onEnded(undefined))
  }

  /** Two calls with the same fingerprint are the same for their caller. */
  get fingerprint(): string {
    return this.#options.fingerprint
  }

  /** Adds a watcher. The returned function removes it and returns whether it was the last. */
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

  #caller(abilities: ClientAbilities): Caller {
    const { person } = this.identity
    return {
      ...(person === undefined || !abilities.form ? {} : { approvalUI: this.#approvals(person, abilities) }),
      ...(abilities.sampling || abilities.roots
        ? { sendRequest: (...question) => this.#sendRequest(abilities, ...question) }
        : {}),
      able: toCallerAble(abilities),
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
   * Asks the person at the client with elicitation forms. Held results are not shown there: the client belongs to the
   * model's side, which must not see them.
   */
  #approvals(by: string, abilities: ClientAbilities): Partial<ApprovalUIAdapter> {
    const elicit = (request: ApprovalRequest) => this.#elicit(request, abilities)
    return {
      async showToolExecutionApproval(_tool, _description, _input, _level, request) {
        const answer = await elicit(request)
        if (answer.kind === "approve") return { approved: true, by }
        return { approved: false, by, ...reasonOf(answer) }
      },
      async showQuestion(_question, request) {
        const answer = await elicit(request)
        return answer.kind === "answer" ? { answer: answer.value, by } : { by, ...reasonOf(answer) }
      },
    }
  }

  #elicit({ signal, ...item }: ApprovalRequest, abilities: ClientAbilities): Promise<Answer> {
    const elicitation = elicitationFor(item)
    const { forms } = this.#options
    if (!abilities[elicitation.mode] || !forms.shows(item)) return Promise.reject(new NobodyAsked())
    return new Promise((resolve, reject) => {
      if (signal.aborted) return
      const { callId, revision, until } = item
      const key = this.#freeKey(item.kind === "question" ? keyIn(item.input) : undefined, `${callId}.${revision}`)
      signal.addEventListener("abort", () => this.questions.delete(key), { once: true })
      this.#addQuestion({
        key,
        method: "elicitation/create",
        params: { ...elicitation },
        about: { callId, revision, until },
        answer: (response, tookMs) => {
          const read = answerFromForm(item, response, { tookMs, fastestMs: forms.fastestMs })
          if (read === undefined) return false
          if ("answer" in read) resolve(read.answer)
          else reject(read.nobody)
          return true
        },
        fail: ({ message }) => reject(new NobodyAsked(`The client asked nobody: ${wholeCharacters(message, 300)}`)),
        signal,
        isSent: false,
      })
    })
  }

  /** Sends a request to the client program itself; no person decides on it. */
  #sendRequest(
    abilities: ClientAbilities,
    method: string,
    params: unknown,
    signal: AbortSignal,
    name?: string,
  ): Promise<unknown> {
    const isSampling = method === "sampling/createMessage"
    if (isSampling ? !abilities.sampling : method !== "roots/list" || !abilities.roots) {
      return Promise.reject(new Error(`The program that made the call does not take ${method}.`))
    }
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error("The call was cancelled."))
      const key = this.#freeKey(keyIn({ key: name }), `${isSampling ? "sampling" : "roots"}.${++this.#counter}`)
      const onAbort = () => {
        this.questions.delete(key)
        reject(new Error("The call was cancelled."))
      }
      signal.addEventListener("abort", onAbort, { once: true })
      this.#addQuestion({
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
        isSent: false,
      })
    })
  }

  /** The key the server gave its question, or the fallback when that is taken. */
  #freeKey(wanted: string | undefined, fallback: string): string {
    if (wanted !== undefined && !this.questions.has(wanted)) return wanted
    return this.questions.has(fallback) ? `${fallback}.${++this.#counter}` : fallback
  }

  #addQuestion(question: ClientQuestion): void {
    this.questions.set(question.key, question)
    for (const watcher of this.#watchers) watcher.onAsked()
  }
}

/** The key a server gave its question, from the input of the call that asks it. */
function keyIn(input: unknown): string | undefined {
  const { key } = (input ?? {}) as { key?: unknown }
  return typeof key === "string" && key !== "__proto__" && /^[\w.:-]{1,200}$/.test(key) ? key : undefined
}

function reasonOf(answer: Answer): { rejectReason?: string } {
  const reason = "reason" in answer ? answer.reason : undefined
  return reason === undefined ? {} : { rejectReason: reason }
}
