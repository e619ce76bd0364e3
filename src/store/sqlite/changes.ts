import type { Change, Changes } from "../change-feed.ts"
import type { Database } from "./database.ts"

/** How often the database is asked whether anything was stored. */
const pollMs = 100
/** Whoever is further behind starts anew. */
const mostChanges = 2000

type Row = Record<string, string | number | null>

interface Source {
  latest: string
  since: string
  change(row: Row): Change
}

/** The tables that are watched, each with a number that only grows. */
const sources: readonly Source[] = [
  {
    latest: "select max(change) as at from calls",
    since: "select change as at, id, state, agent_id, tool, session_id from calls where change > ? order by change",
    change: (row) => ({
      type: "call",
      callId: String(row["id"]),
      state: String(row["state"]),
      agentId: String(row["agent_id"]),
      tool: String(row["tool"]),
      sessionId: String(row["session_id"]),
    }),
  },
  {
    latest: "select max(change) as at from documents",
    since: "select change as at, kind, id from documents where change > ? order by change",
    change: (row) => ({ type: "document", kind: String(row["kind"]), id: String(row["id"]) }),
  },
  {
    latest: "select max(rowid) as at from messages",
    since: "select rowid as at, id, recipient from messages where rowid > ? order by rowid",
    change: (row) => ({ type: "message", id: String(row["id"]), to: String(row["recipient"]) }),
  },
  {
    latest: "select max(rowid) as at from turns",
    since: `select turns.rowid as at, conversation_id, place, kind, agent_id, started_by
      from turns left join conversations on conversations.id = conversation_id where turns.rowid > ? order by turns.rowid`,
    change: (row) => ({
      type: "turn",
      conversationId: String(row["conversation_id"]),
      index: Number(row["place"]),
      kind: String(row["kind"]),
      agentId: String(row["agent_id"] ?? ""),
      startedBy: String(row["started_by"] ?? ""),
    }),
  },
  {
    latest: "select max(change) as at from conversations",
    since: "select change as at, id, agent_id, started_by from conversations where change > ? order by change",
    change: (row) => ({
      type: "conversation",
      conversationId: String(row["id"]),
      agentId: String(row["agent_id"]),
      startedBy: String(row["started_by"]),
    }),
  },
  {
    latest: "select max(rowid) as at from ended",
    since: "select rowid as at, call, agent, tool, ending from ended where rowid > ? order by rowid",
    change: (row) => ({
      type: "audit",
      callId: String(row["call"]),
      agentId: String(row["agent"]),
      tool: String(row["tool"]),
      ending: String(row["ending"]),
    }),
  },
]

/** Reads what was stored from the tables themselves. `database` is a connection of its own, so that it sees every commit. */
export class StoredChanges implements Changes {
  readonly #database: Database
  readonly #listeners = new Set<() => void>()
  #polling: NodeJS.Timeout | undefined
  #seen: unknown

  constructor(database: Database) {
    this.#database = database
  }

  latest(): string {
    return written(sources.map(({ latest }) => this.#latest(latest)))
  }

  since(cursor: string): { changes: Change[]; cursor: string } | undefined {
    const places = read(cursor)
    if (places === undefined) return undefined
    const changes: Change[] = []
    const next: number[] = []
    for (const [index, { latest, since, change }] of sources.entries()) {
      const from = places[index]!
      const rows = this.#database.prepare(`${since} limit ${mostChanges + 1}`).all(from) as unknown as Row[]
      if (rows.length > mostChanges || (rows.length === 0 && from > this.#latest(latest))) return undefined
      changes.push(...rows.map(change))
      next.push(Number(rows.at(-1)?.["at"] ?? from))
    }
    return { changes, cursor: written(next) }
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#seen ??= this.#version()
    this.#polling ??= setInterval(() => this.#poll(), pollMs).unref()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    clearInterval(this.#polling)
    this.#polling = undefined
  }

  #poll(): void {
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const listener of this.#listeners) listener()
  }

  #version(): unknown {
    return (this.#database.prepare("pragma data_version").get() as { data_version: number }).data_version
  }

  #latest(query: string): number {
    return Number((this.#database.prepare(query).get() as { at: number | null }).at ?? 0)
  }
}

function written(places: readonly number[]): string {
  return Buffer.from(JSON.stringify(places)).toString("base64url")
}

function read(cursor: string): number[] | undefined {
  try {
    const places = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown
    const isList = Array.isArray(places) && places.length === sources.length && places.every(Number.isSafeInteger)
    return isList ? (places as number[]) : undefined
  } catch {
    return undefined
  }
}
