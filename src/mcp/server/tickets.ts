import type { App } from "../../model/app.ts"
import { canonicalJson, sha256 } from "../../model/plain.ts"
import type { Ticket } from "../../model/result.ts"
import type { Speaker } from "./speaker.ts"

/** A call as its caller repeats it. */
export interface SameCall {
  readonly speaker: Speaker
  /** By its name outside or inside. */
  readonly tool: string
  readonly input: unknown
}

/** What makes two calls the same for their caller: the agent, the person at the other end, the tool and the input. */
export function sameCall(app: App, { speaker, tool, input }: SameCall): string {
  return sha256(canonicalJson([speaker.agentId, speaker.person ?? null, outsideName(app, tool), input ?? {}]))
}

/** How many tickets of one agent are remembered; the walk finds what waits without them, only not what is held. */
const mostTickets = 1000
/** After its wait is over a ticket is good for hearing how it ended. */
const hearMs = 10 * 60_000

/** The tickets that were handed out, by the call they are for. */
export class Tickets {
  readonly #app: App
  readonly #kept = new Map<string, Map<string, Ticket>>()

  constructor(app: App) {
    this.#app = app
  }

  keep(call: SameCall, ticket: Ticket): void {
    this.keepFor(call.speaker.agentId, sameCall(this.#app, call), ticket)
  }

  /** The same for a call that is known by what makes others the same. */
  keepFor(agentId: string, same: string, ticket: Ticket): void {
    const kept = this.#kept.get(agentId) ?? new Map<string, Ticket>()
    this.#kept.set(agentId, kept)
    forgetOld(kept)
    if (kept.size >= mostTickets) kept.delete(kept.keys().next().value!)
    kept.set(same, ticket)
  }

  /** Whether no call of this agent could be the redeeming of a ticket. */
  isQuiet(agentId: string): boolean {
    const kept = this.#kept.get(agentId)
    if (kept !== undefined && kept.size > 0) forgetOld(kept)
    return kept?.size === 0
  }

  /** Whether this call may be the redeeming of a ticket. */
  has(call: SameCall): boolean {
    const kept = this.#kept.get(call.speaker.agentId)
    return kept === undefined || kept.has(sameCall(this.#app, call))
  }

  /** The id of the call that this one goes on with. The ticket is used up by that. */
  async redeem(call: SameCall): Promise<string | undefined> {
    const { agentId } = call.speaker
    const kept = this.#kept.get(agentId) ?? (await this.#left(agentId))
    if (kept.size === 0) return undefined
    const same = sameCall(this.#app, call)
    const ticket = kept.get(same)
    kept.delete(same)
    return ticket?.callId
  }

  /** What a process that ended has left held. What waits is found by the walk itself. */
  async #left(agentId: string): Promise<Map<string, Ticket>> {
    const kept = new Map<string, Ticket>()
    this.#kept.set(agentId, kept)
    for (const { callId, kind, tool, input, userId, until } of await this.#app.desk.list({ agentId })) {
      if (kind !== "result") continue
      const same = sameCall(this.#app, { speaker: { agentId, person: userId }, tool, input })
      kept.set(same, { callId, state: "held", until })
    }
    return kept
  }
}

function forgetOld(kept: Map<string, Ticket>): void {
  const now = Date.now()
  for (const [same, { until }] of kept) if (until + hearMs < now) kept.delete(same)
}

function outsideName(app: App, tool: string): string {
  try {
    return app.wireName(tool)
  } catch {
    return tool
  }
}
