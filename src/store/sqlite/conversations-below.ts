import type { SentBelow, Spent, StoredBelow, TurnBelow, WaitingBelow } from "../../core/conversation.ts"
import type { Database } from "./database.ts"

/** The conversations that were written to from one, directly or through others. */
const below = `with recursive below (id) as (
  select ?1 union
  select messages.target from messages join below on messages.conversation = below.id
    where messages.kind = 'message' and messages.target is not null
)`

type Row = Record<string, string | number>

/** The turns, the waiting calls and the messages of the conversations below one. */
export function readBelow(database: Database, id: string, after: { row: number; change: number }): StoredBelow {
  // In this order: the turns that led to a call are read after it, and the messages that led to a turn after that.
  const calls = database
    .prepare(
      `${below} select calls.*, conversations.spent from calls
       join below on below.id = calls.session_id join conversations on conversations.id = below.id
       where calls.state in ('waiting', 'held') and calls.change > ?2 and below.id <> ?1 order by calls.change`,
    )
    .all(id, after.change) as unknown as Row[]
  const turns = database
    .prepare(
      `${below} select turns.rowid as row, turns.*, conversations.agent_id, conversations.spent from below
       join turns on turns.conversation_id = below.id join conversations on conversations.id = below.id
       where below.id <> ?1 and (turns.rowid > ?2 or turns.kind in ('user', 'end')) order by turns.rowid`,
    )
    .all(id, after.row) as unknown as Row[]
  const sent = database
    .prepare(
      `${below} select messages.id, messages.conversation as conversationId, messages.created_at as at from messages
       join below on below.id = messages.conversation where messages.kind = 'message'`,
    )
    .all(id) as unknown as SentBelow[]
  return { turns: turns.map(turnOf), waiting: calls.map(callOf), sent }
}

function turnOf(row: Row): TurnBelow {
  return {
    row: Number(row["row"]),
    conversationId: String(row["conversation_id"]),
    agentId: String(row["agent_id"]),
    index: Number(row["place"]),
    kind: String(row["kind"]),
    body: JSON.parse(String(row["body"])) as unknown,
    at: Number(row["at"]),
    spent: JSON.parse(String(row["spent"])) as Spent,
  }
}

function callOf(row: Row): WaitingBelow {
  return {
    change: Number(row["change"]),
    callId: String(row["id"]),
    tool: String(row["tool"]),
    agentId: String(row["agent_id"]),
    conversationId: String(row["session_id"]),
    at: Number(row["updated_at"]),
    spent: JSON.parse(String(row["spent"])) as Spent,
  }
}
