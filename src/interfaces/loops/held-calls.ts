import { canonicalJson } from "../../lib/canonical-json.ts"
import type { LoopApp, LoopCall, LoopOptions } from "./governed-calls.ts"

/** The oldest one is forgotten beyond this. */
const most = 1000

/** The calls of each app that have run and whose results people hold, by what makes two calls the same. */
const heldCalls = new WeakMap<LoopApp, Map<string, string>>()

/** One call of a loop, which may have been made before: then the model was told to make it again for its result. */
export class RepeatableCall {
  readonly #held: Map<string, string>
  readonly #key: string

  constructor(app: LoopApp, agentId: string, { name, input }: LoopCall, options: LoopOptions) {
    this.#held = heldCalls.get(app) ?? new Map<string, string>()
    heldCalls.set(app, this.#held)
    const { sessionId = null, userId = null, taskId = null } = options
    this.#key = canonicalJson([agentId, sessionId, userId, taskId, name, input])
  }

  /** The id of the call, while its result is held or after it was released. */
  get heldId(): string | undefined {
    return this.#held.get(this.#key)
  }

  remember(callId: string): void {
    if (this.#held.size >= most && this.heldId === undefined) this.#held.delete(this.#held.keys().next().value!)
    this.#held.set(this.#key, callId)
  }

  forget(): void {
    this.#held.delete(this.#key)
  }
}
