import type { Change, Changes } from "../change-feed.ts"
import type { Database } from "./database.ts"

/** Interval at which the database is asked for changes. */
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

/**
 * Reads changes from the tables themselves, and is the one watcher of this process: everybody else listens to it. The
 * connection is its own, so that it sees every commit, and is opened on first use.
 */
export class StoredChanges implements Changes {
  readonly #open: () => Promise<Database>
  readonly #listeners = new Set<() => void>()
  #opened: Promise<Database> | undefined
  #polling: NodeJS.Timeout | undefined
  #isClosed = false
  #seen: unknown

  constructor(open: () => Promise<Database>) {
    this.#open = open
  }

  async latest(): Promise<string> {
    const database = await this.#database()
    return written(sources.map(({ latest }) => latestIn(database, latest)))
  }

  async since(cursor: string): Promise<{ changes: Change[]; cursor: string } | undefined> {
    const database = await this.#database()
    const places = read(cursor)
    if (places === undefined) return undefined
    const changes: Change[] = []
    const next: number[] = []
    for (const [index, { latest, since, change }] of sources.entries()) {
      const from = places[index]!
      const rows = database.prepare(`${since} limit ${mostChanges + 1}`).all(from) as unknown as Row[]
      if (rows.length > mostChanges || (rows.length === 0 && from > latestIn(database, latest))) return undefined
      changes.push(...rows.map(change))
      next.push(Number(rows.at(-1)?.["at"] ?? from))
    }
    return { changes, cursor: written(next) }
  }

  readonly listen = (listener: () => void): (() => void) => {
    const own = () => listener()
    this.#listeners.add(own)
    void this.#startPolling()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#stopPolling()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopPolling()
    await this.#opened?.then((database) => database.close())
  }

  #database(): Promise<Database> {
    return (this.#opened ??= this.#isClosed ? Promise.reject(new Error("The store is closed.")) : this.#open())
  }

  async #startPolling(): Promise<void> {
    const database = await this.#database().catch(() => undefined)
    if (database === undefined || this.#isClosed || this.#polling !== undefined || this.#listeners.size === 0) return
    // Something may have been stored before the connection was open.
    this.#seen = undefined
    this.#polling = setInterval(() => this.#poll(database), pollMs)
    this.#poll(database)
  }

  #stopPolling(): void {
    clearInterval(this.#polling)
    this.#polling = undefined
  }

  #poll(database: Database): void {
    try {
      const { data_version: version } = database.prepare("pragma data_version").get() as { data_version: number }
      if (version === this.#seen) return
      for (const listener of this.#listeners) listener()
      this.#seen = version
    } catch {
      // Another process holds the lock. The next poll tells of the change.
    }
  }
}

function latestIn(database: Database, query: string): number {
  return Number((database.prepare(query).get() as { at: number | null }).at ?? 0)
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
