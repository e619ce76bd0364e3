import type { Quartermaster } from "../../app/quartermaster.ts"
import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Ticket } from "../../core/result.ts"
import type { ClientIdentity } from "./client-identity.ts"

/** The parts that identify a call for its caller. */
export interface FingerprintedCall {
  readonly identity: ClientIdentity
  /** The tool's internal or wire name. */
  readonly tool: string
  readonly input: unknown
}

/** Two calls are the same when agent, person at the client, tool and input are equal. */
export function callFingerprint(app: Quartermaster, { identity, tool, input }: FingerprintedCall): string {
  return sha256(canonicalJson([identity.agentId, identity.person ?? null, wireNameOf(app, tool), input ?? {}]))
}

/** Without a ticket a repeated call still joins a waiting one and finds a held result, but not one that has ended. */
const maxTicketsPerAgent = 1000
/** A ticket gives the result for this long after its deadline. */
const keepAfterEndMs = 10 * 60_000

/** The issued tickets, by agent and fingerprint of the call. */
export class Tickets {
  readonly #app: Quartermaster
  readonly #tickets = new Map<string, Map<string, Ticket>>()

  constructor(app: Quartermaster) {
    this.#app = app
  }

  add(call: FingerprintedCall, ticket: Ticket): void {
    this.addByFingerprint(call.identity.agentId, callFingerprint(this.#app, call), ticket)
  }

  addByFingerprint(agentId: string, fingerprint: string, ticket: Ticket): void {
    const tickets = this.#tickets.get(agentId) ?? new Map<string, Ticket>()
    this.#tickets.set(agentId, tickets)
    forgetOld(tickets)
    if (tickets.size >= maxTicketsPerAgent) tickets.delete(tickets.keys().next().value!)
    tickets.set(fingerprint, ticket)
  }

  /** True when the agent certainly has no ticket. False before its held results were loaded. */
  hasNone(agentId: string): boolean {
    const tickets = this.#tickets.get(agentId)
    if (tickets !== undefined && tickets.size > 0) forgetOld(tickets)
    return tickets?.size === 0
  }

  /** Removes the ticket for a call and returns the id of the call to continue. */
  async redeem(call: FingerprintedCall): Promise<string | undefined> {
    const { agentId } = call.identity
    const tickets = this.#tickets.get(agentId) ?? (await this.#loadHeldResults(agentId))
    if (tickets.size === 0) return undefined
    const fingerprint = callFingerprint(this.#app, call)
    const ticket = tickets.get(fingerprint)
    tickets.delete(fingerprint)
    return ticket?.callId
  }

  /** Loads held results from earlier processes. A repeated call finds a waiting one without a ticket. */
  async #loadHeldResults(agentId: string): Promise<Map<string, Ticket>> {
    const tickets = new Map<string, Ticket>()
    this.#tickets.set(agentId, tickets)
    for (const { callId, kind, tool, input, userId, until } of await this.#app.approvals.list({ agentId })) {
      if (kind !== "result") continue
      const fingerprint = callFingerprint(this.#app, { identity: { agentId, person: userId }, tool, input })
      tickets.set(fingerprint, { callId, state: "held", until })
    }
    return tickets
  }
}

function forgetOld(tickets: Map<string, Ticket>): void {
  const now = Date.now()
  for (const [fingerprint, { until }] of tickets) if (until + keepAfterEndMs < now) tickets.delete(fingerprint)
}

function wireNameOf(app: Quartermaster, tool: string): string {
  try {
    return app.wireName(tool)
  } catch {
    return tool
  }
}
