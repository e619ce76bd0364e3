import type { AgentEvent } from "./agent-event.ts"
import type { Conversations, SentBelow, TurnBelow } from "../../core/conversation.ts"
import { chainTurns, type EndTurn, type UserTurn } from "../context/turns.ts"

/** Returns the events of the agents below a conversation after a cursor, oldest first, and the next cursor. */
export async function agentEvents(
  conversations: Pick<Conversations, "below">,
  id: string,
  cursor?: string,
): Promise<{ events: AgentEvent[]; cursor: string }> {
  const after = readCursor(cursor)
  const { turns, waiting, sent } = await conversations.below(id, after)
  const reader = new TurnReader(id, sent)
  const events = turns.flatMap((turn) => {
    const event = reader.next(turn)
    return event === undefined || turn.row <= after.row ? [] : [event]
  })
  for (const { change: _change, tool, ...call } of waiting) {
    const depth = reader.depthOf(call.conversationId)
    if (depth !== undefined) events.push({ type: "waiting", ...call, depth, tools: [tool] })
  }
  const row = turns.at(-1)?.row ?? 0
  const change = waiting.at(-1)?.change ?? 0
  return { events, cursor: `${Math.max(row, after.row)}.${Math.max(change, after.change)}` }
}

function readCursor(cursor = "0.0"): { row: number; change: number } {
  const [row = 0, change = 0] = cursor.split(".").map(Number)
  return { row, change }
}

/** A conversation below, as far as its turns were read. */
interface Below {
  depth: number
  /**
   * Since when its runs are for the conversation at the top, or for others, oldest first: an agent may work for several in
   * one conversation.
   */
  runs: { since: number; isOurs: boolean }[]
  /** The messages that it has not answered yet. */
  owed: Set<string>
}

/** Goes through the turns of conversations in the order in which they were stored. */
class TurnReader {
  readonly #below = new Map<string, Below>()
  readonly #sent: ReadonlyMap<string, SentBelow>

  constructor(id: string, sent: readonly SentBelow[]) {
    this.#sent = new Map(sent.map((message) => [message.id, message]))
    this.#below.set(id, { depth: 0, runs: [{ since: 0, isOurs: true }], owed: new Set() })
  }

  /** Returns the depth of a conversation below the one at the top. */
  depthOf(conversationId: string, at = Infinity): number | undefined {
    const found = this.#below.get(conversationId)
    return found?.runs.findLast(({ since }) => since <= at)?.isOurs === true ? found.depth : undefined
  }

  /** Returns the event of the turn, if the turn belongs to a run for the conversation at the top. */
  next(turn: TurnBelow): AgentEvent | undefined {
    const { conversationId, agentId, at, spent } = turn
    const [read] = chainTurns([turn])
    if (read?.kind === "user") this.#read(conversationId, read.body, at)
    const depth = this.depthOf(conversationId)
    if (read === undefined || depth === undefined) return undefined
    const about = { agentId, conversationId, depth, at, spent }
    if (read.kind === "user") return read.body.begins ? { type: "woken", ...about } : undefined
    if (read.kind === "assistant" && read.body.calls.length > 0)
      return { type: "calling", ...about, tools: read.body.calls.map(({ name }) => name) }
    if (read.kind !== "end") return undefined
    const { owed } = this.#below.get(conversationId)!
    for (const answered of read.body.answered ?? []) owed.delete(answered)
    const type = endType(read.body, owed.size > 0)
    return { type, ...about, ...(type !== "delegated" && { status: read.body.status }) }
  }

  /** An answer belongs to the work that the agent asked for it; a message, to the work that it was sent for. */
  #read(conversationId: string, { begins, message }: UserTurn, at: number): void {
    if (message?.kind !== "message" || this.#below.get(conversationId)?.depth === 0) return
    const sent = this.#sent.get(message.id)
    const above = sent && this.depthOf(sent.conversationId, sent.at)
    const known = this.#below.get(conversationId)
    if (above === undefined) {
      if (begins) known?.runs.push({ since: at, isOurs: false })
      return
    }
    const below = known ?? { depth: above + 1, runs: [], owed: new Set<string>() }
    below.runs.push({ since: at, isOurs: true })
    below.owed.add(message.id)
    this.#below.set(conversationId, below)
  }
}

function endType({ status, error }: EndTurn, owes: boolean): "failed" | "delegated" | "answered" {
  if (status === "error" || status === "aborted" || error !== undefined) return "failed"
  return owes ? "delegated" : "answered"
}
