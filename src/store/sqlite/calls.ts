import { onAbort } from "../../lib/on-abort.ts"
import type { CancelSignal } from "../../lib/stop.ts"
import { sql, type Kysely, type Selectable } from "kysely"
import { totalWaiting, type WaitingCounts, type Vote } from "../../core/approval.ts"
import type { SettledAnswer, CallRow, CallState } from "../../core/call.ts"
import { readStoredReasons, type StoredReason } from "../../core/reason.ts"
import type { Changes } from "../change-feed.ts"
import type { CallStore } from "../port.ts"
import { retryWhileBusy, type Database } from "./database.ts"
import { kyselyOver } from "./kysely.ts"
import type { Tables } from "./tables.ts"

/** The calls table of the embedded store. Several processes share it; every change is one statement. */
export class SqliteCalls implements CallStore {
  readonly #database: Database
  readonly #kysely: Kysely<Tables>
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #changes: Pick<Changes, "listen">
  #stopListening: (() => void) | undefined
  /** Settles in the turn of the event loop after the last write. */
  #lastWrite: Promise<void> = Promise.resolve()
  #lastSeen = 0

  constructor(database: Database, changes: Pick<Changes, "listen">) {
    this.#database = database
    this.#changes = changes
    this.#kysely = kyselyOver(database)
  }

  async insert(
    row: CallRow,
    maxWaiting = Infinity,
  ): Promise<{ inserted: true } | { inserted: false; existing: CallRow | undefined }> {
    for (;;) {
      // Writes come one after the other, so that calls of the same moment are counted too.
      const added = await this.#write(async () => {
        if (await this.#isFull(row.agentId, maxWaiting)) return undefined
        return this.#kysely
          .insertInto("calls")
          .values({ ...toTable(row), change: nextChange })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst()
      })
      if (Number(added?.numInsertedOrUpdatedRows ?? 0) > 0) return { inserted: true }
      const existing = await this.#conflicting(row)
      if (existing !== undefined || added === undefined) return { inserted: false, existing }
    }
  }

  async countWaiting({ agentId, at, since }: { agentId?: string; at: number; since?: number }): Promise<WaitingCounts> {
    const kind = sql<keyof WaitingCounts>`case when state = 'held' then 'result'
      when json_extract(card, '$.question') is null then 'call' else 'question' end`
    let query = this.#kysely
      .selectFrom("calls")
      .select(({ fn }) => [kind.as("kind"), fn.countAll<number>().as("count")])
      .where("state", "in", ["waiting", "held"])
      .where((where) => where.or([where("deadline", "is", null), where("deadline", ">", at)]))
      .groupBy("kind")
    if (agentId !== undefined) query = query.where("agent_id", "=", agentId)
    if (since !== undefined) query = query.where("created_at", ">=", since)
    const counts: WaitingCounts = { call: 0, result: 0, question: 0 }
    for (const { kind: each, count } of await retryWhileBusy(() => query.execute())) counts[each] = Number(count)
    return counts
  }

  async #isFull(agentId: string, maxWaiting: number): Promise<boolean> {
    if (maxWaiting === Infinity) return false
    return totalWaiting(await this.countWaiting({ agentId, at: Date.now() })) >= maxWaiting
  }

  async get(id: string): Promise<CallRow | undefined> {
    const row = await retryWhileBusy(() =>
      this.#kysely.selectFrom("calls").selectAll().where("id", "=", id).executeTakeFirst(),
    )
    return row && fromTable(row)
  }

  async swap(
    id: string,
    expected: { state: CallState; owner: string; epoch: number },
    change: Partial<Omit<CallRow, "id">>,
  ): Promise<boolean> {
    const updated = await this.#write(() =>
      this.#kysely
        .updateTable("calls")
        .set({ ...toTable(change), updated_at: Date.now(), change: nextChange })
        .where("id", "=", id)
        .where("state", "=", expected.state)
        .where("owner", "=", expected.owner)
        .where("epoch", "=", expected.epoch)
        .executeTakeFirst(),
    )
    return this.#changed(id, updated.numUpdatedRows)
  }

  async recordAnswer(
    id: string,
    expected: { revision: number; votes: readonly Vote[] },
    result: { votes: readonly Vote[]; answer: SettledAnswer | null },
  ): Promise<boolean> {
    const settled = result.answer !== null
    const updated = await this.#write(() =>
      this.#kysely
        .updateTable("calls")
        .set({
          ...(settled ? { state: sql<string>`case state when 'held' then 'released' else 'ready' end` } : {}),
          votes: JSON.stringify(result.votes),
          answer: settled ? JSON.stringify(result.answer) : null,
          updated_at: Date.now(),
          change: nextChange,
        })
        .where("id", "=", id)
        .where("state", "in", ["waiting", "held"])
        .where("answer", "is", null)
        .where("revision", "=", expected.revision)
        .where("votes", "=", JSON.stringify(expected.votes))
        .executeTakeFirst(),
    )
    return this.#changed(id, updated.numUpdatedRows)
  }

  async list(filter: {
    states?: readonly CallState[]
    agentId?: string
    sessionId?: string
    inputDigest?: string
    deadlineAfter?: number
    after?: Pick<CallRow, "id" | "createdAt">
    limit?: number
  }): Promise<CallRow[]> {
    let query = this.#kysely.selectFrom("calls").selectAll().orderBy("created_at").orderBy("id")
    if (filter.states !== undefined) query = query.where("state", "in", [...filter.states])
    if (filter.agentId !== undefined) query = query.where("agent_id", "=", filter.agentId)
    if (filter.sessionId !== undefined) query = query.where("session_id", "=", filter.sessionId)
    if (filter.inputDigest !== undefined) query = query.where("input_digest", "=", filter.inputDigest)
    const { after, deadlineAfter } = filter
    if (deadlineAfter !== undefined) {
      query = query.where((where) => where.or([where("deadline", "is", null), where("deadline", ">", deadlineAfter)]))
    }
    if (after !== undefined) {
      query = query.where((where) =>
        where.or([
          where("created_at", ">", after.createdAt),
          where.and([where("created_at", "=", after.createdAt), where("id", ">", after.id)]),
        ]),
      )
    }
    const rows = await retryWhileBusy(() => query.limit(filter.limit ?? 1000).execute())
    return rows.map(fromTable)
  }

  async changesSince(cursor: number): Promise<{ ids: string[]; cursor: number }> {
    const rows = await retryWhileBusy(() =>
      this.#kysely
        .selectFrom("calls")
        .select(["id", "change"])
        .where("change", ">", cursor)
        .orderBy("change")
        .limit(1000)
        .execute(),
    )
    return { ids: rows.map((row) => row.id), cursor: Number(rows.at(-1)?.change ?? cursor) }
  }

  waitForChange(id: string, milliseconds: number, signals: readonly (CancelSignal | undefined)[] = []): Promise<void> {
    return new Promise((resolve) => {
      const watchers = this.#watchers.get(id) ?? new Set()
      this.#watchers.set(id, watchers)
      const done = () => {
        clearTimeout(timer)
        for (const signal of signals) signal?.removeEventListener("abort", done)
        watchers.delete(done)
        if (watchers.size === 0) this.#watchers.delete(id)
        if (this.#watchers.size === 0) this.#stopWatching()
        resolve()
      }
      const timer = setTimeout(done, milliseconds)
      watchers.add(done)
      this.#watch()
      for (const signal of signals) if (signal !== undefined) onAbort(signal, done)
      if (signals.some((signal) => signal?.aborted)) done()
    })
  }

  async erase(olderThan: number): Promise<number> {
    const gone = await retryWhileBusy(() =>
      this.#kysely
        .deleteFrom("calls")
        .where("state", "=", "ended")
        .where("updated_at", "<", olderThan)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("conversations")
                .select("conversations.id")
                .whereRef("conversations.id", "=", "calls.session_id")
                .where("conversations.state", "<>", "ended"),
            ),
          ),
        )
        .executeTakeFirst(),
    )
    return Number(gone.numDeletedRows)
  }

  clock(): Promise<number> {
    return Promise.resolve(Date.now())
  }

  /** The row that prevented an insert: the same id, the same key, or the same call that waits already. */
  async #conflicting(row: CallRow): Promise<CallRow | undefined> {
    const found = await retryWhileBusy(() =>
      this.#kysely
        .selectFrom("calls")
        .selectAll()
        .where((where) =>
          where.or([
            where("id", "=", row.id),
            row.key === null
              ? where
                  .and({ agent_id: row.agentId, tool: row.tool, input_digest: row.inputDigest })
                  .and("key", "is", null)
                  .and("state", "in", ["waiting", "ready"])
              : where.and({ agent_id: row.agentId, session_id: row.sessionId, key: row.key }),
          ]),
        )
        .executeTakeFirst(),
    )
    return found && fromTable(found)
  }

  /**
   * A write is synced to the disk and blocks this thread meanwhile. Under load there is one in each turn of the event loop,
   * so that requests are read and answered in between.
   */
  async #write<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#lastWrite
    let end: () => void = () => {}
    this.#lastWrite = new Promise((resolve) => (end = resolve))
    await before
    try {
      return await retryWhileBusy(work)
    } finally {
      setImmediate(end)
    }
  }

  #changed(id: string, rows: bigint): boolean {
    if (rows === 0n) return false
    for (const wake of this.#watchers.get(id) ?? []) wake()
    return true
  }

  /** Listens once for all watchers and wakes only those whose call changed. */
  #watch(): void {
    if (this.#stopListening !== undefined) return
    this.#lastSeen = this.#lastChange()
    this.#stopListening = this.#changes.listen(() => this.#wakeChanged())
  }

  #wakeChanged(): void {
    const rows = this.#database
      .prepare("select id, change from calls where change > ? order by change")
      .all(this.#lastSeen) as { id: string; change: number }[]
    this.#lastSeen = rows.at(-1)?.change ?? this.#lastSeen
    for (const { id } of rows) for (const wake of this.#watchers.get(id) ?? []) wake()
  }

  #stopWatching(): void {
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  #lastChange(): number {
    const row = this.#database.prepare("select max(change) as change from calls").get() as { change: number | null }
    return row.change ?? 0
  }
}

const nextChange = sql<number>`(select coalesce(max(change), 0) + 1 from calls)`

function toTable(row: Partial<CallRow>): Omit<Selectable<Tables["calls"]>, "change"> {
  const columns: [keyof Tables["calls"], unknown][] = [
    ["id", row.id],
    ["state", row.state],
    ["owner", row.owner],
    ["epoch", row.epoch],
    ["agent_id", row.agentId],
    ["session_id", row.sessionId],
    ["key", row.key],
    ["tool", row.tool],
    ["definition_hash", row.definitionHash],
    ["input", row.input],
    ["input_digest", row.inputDigest],
    ["request", row.request],
    ["asks", json(row.asks)],
    ["card", json(row.card)],
    ["revision", row.revision],
    ["votes", json(row.votes)],
    ["wanted", row.wanted === undefined ? undefined : Number(row.wanted)],
    ["workspace", row.workspace],
    ["preview", json(row.preview)],
    ["deadline", row.deadline],
    ["answer", json(row.answer)],
    ["result", json(row.result)],
    ["created_at", row.createdAt],
    ["updated_at", row.updatedAt],
  ]
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined)) as never
}

function json(value: unknown): string | null | undefined {
  return value === undefined || value === null ? value : JSON.stringify(value)
}

function fromTable(row: Selectable<Tables["calls"]>): CallRow {
  return {
    id: row.id,
    state: row.state as CallState,
    owner: row.owner,
    epoch: row.epoch,
    agentId: row.agent_id,
    sessionId: row.session_id,
    key: row.key,
    tool: row.tool,
    definitionHash: row.definition_hash,
    input: row.input,
    inputDigest: row.input_digest,
    request: row.request,
    asks: readStoredReasons(JSON.parse(row.asks) as StoredReason[]),
    card: JSON.parse(row.card),
    revision: row.revision,
    votes: JSON.parse(row.votes),
    wanted: row.wanted === 1,
    workspace: row.workspace,
    preview: row.preview === null ? null : JSON.parse(row.preview),
    deadline: row.deadline,
    answer: row.answer === null ? null : JSON.parse(row.answer),
    result: row.result === null ? null : JSON.parse(row.result),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
