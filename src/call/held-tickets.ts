import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { CallRequest } from "../model/call.ts"
import type { Ticket } from "../model/result.ts"
import { plainProblems } from "../schema/json-problems.ts"

/** The oldest one is forgotten beyond this. */
const most = 1000

/**
 * The calls whose callers got a ticket while a person holds their result. The same call made again gets that result; a
 * new one would run the tool a second time. Calls with a key need none of this: the store finds them by their keys.
 */
export class HeldTickets {
  /** One answer may make the same call twice. */
  readonly #calls = new Map<string, string[]>()

  add(request: CallRequest, { state, callId }: Ticket): void {
    if (state !== "held" || request.key !== undefined) return
    const key = fingerprint(request)
    if (this.#calls.size === most && !this.#calls.has(key)) this.#calls.delete(this.#calls.keys().next().value!)
    this.#calls.set(key, [...(this.#calls.get(key) ?? []), callId])
  }

  /** The id of the call to go on with. It is given once. */
  take(request: CallRequest): string | undefined {
    if (this.#calls.size === 0 || isUnknown(request)) return undefined
    const key = fingerprint(request)
    const [callId, ...others] = this.#calls.get(key) ?? []
    if (others.length > 0) this.#calls.set(key, others)
    else this.#calls.delete(key)
    return callId
  }
}

/** Callers may send anything. What is not JSON has never run. */
function isUnknown(request: CallRequest): boolean {
  return typeof request !== "object" || request?.key !== undefined || plainProblems(request.input ?? {}).length > 0
}

function fingerprint({ agentId, sessionId = "", userId = "", tool, input }: CallRequest): string {
  return sha256(canonicalJson([agentId, sessionId, userId, tool, typeof input === "string" ? input : (input ?? {})]))
}
