import { setTimeout as sleep } from "node:timers/promises"
import type {
  Conversation,
  ConversationChange,
  ConversationClaim,
  Conversations,
  ConversationState,
  NewTurn,
  PostedTurn,
  Spent,
  StoredBelow,
  Turn,
} from "../../core/conversation.ts"
import { retryWhileBusy, transaction, type Database } from "./database.ts"
import { readBelow } from "./conversations-below.ts"
import { moveMessages } from "./messages.ts"
import type { Tables } from "./tables.ts"

type Row = Tables["conversations"]

const spentKeys = ["rounds", "calls", "inputTokens", "outputTokens", "cost"] as const satisfies (keyof Spent)[]

/** How often turns of other processes are looked for. */
const pollMs = 100

/** The conversations and turns tables of the embedded store. Every change is one transaction. */
export class SqliteConversations implements Conversations {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async create(given: Omit<Conversation, "length" | "createdAt" | "updatedAt">): Promise<Conversation> {
    const at = Date.now()
    const conversation = { ...given, length: 0, createdAt: at, updatedAt: at }
    const { id, agentId, state, owner, epoch, startedBy, settings, spent, root } = given
    const row = { id, root, spent: JSON.stringify(spent) }
    const insert = () => {
      this.#database
        .prepare(
          `insert into conversations
             (id, agent_id, state, owner, epoch, started_by, settings, spent, root, length, created_at, updated_at)
           values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
        )
        .run(id, agentId, state, owner, epoch, startedBy, JSON.stringify(settings), row.spent, root, at, at)
      this.#charge(row, nothingSpent)
    }
    await retryWhileBusy(() => transaction(this.#database, insert))
    return conversation
  }

  async get(id: string): Promise<Conversation | undefined> {
    const row = await retryWhileBusy(() => this.#row(id))
    return row && fromTable(row)
  }

  async list({ agentId, states, cursor, limit = 100 }: Parameters<Conversations["list"]>[0] = {}): Promise<{
    conversations: Conversation[]
    cursor?: string
  }> {
    const [at = Number.MAX_SAFE_INTEGER, id = ""] = cursor === undefined ? [] : readCursor(cursor)
    const conditions = ["(created_at < ? or created_at = ? and id < ?)"]
    const values: (string | number)[] = [at, at, id]
    if (agentId !== undefined) {
      conditions.push("agent_id = ?")
      values.push(agentId)
    }
    if (states !== undefined) {
      conditions.push(`state in (${states.map(() => "?").join(", ")})`)
      values.push(...states)
    }
    const query = `select * from conversations where ${conditions.join(" and ")} order by created_at desc, id desc limit ?`
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(...values, limit + 1) as unknown as Row[])
    const conversations = rows.slice(0, limit).map(fromTable)
    const last = conversations.at(-1)
    return rows.length > limit && last !== undefined ? { conversations, cursor: cursorAt(last) } : { conversations }
  }

  async withPrefix(prefix: string, states: readonly ConversationState[]): Promise<Conversation[]> {
    const query = `select * from conversations where id >= ? and id < ? and state in (${states.map(() => "?").join(", ")})
      order by updated_at, id`
    const values = [prefix, `${prefix}\u{10ffff}`, ...states]
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(...values) as unknown as Row[])
    return rows.map(fromTable)
  }

  async claim(id: string, expected: ConversationClaim, owner: string): Promise<ConversationClaim | undefined> {
    const { changes } = await retryWhileBusy(() =>
      this.#database
        .prepare(
          `update conversations set owner = ?, epoch = epoch + 1, updated_at = ?
           where id = ? and owner = ? and epoch = ? and state <> 'ended'`,
        )
        .run(owner, Date.now(), id, expected.owner, expected.epoch),
    )
    return Number(changes) === 0 ? undefined : { owner, epoch: expected.epoch + 1 }
  }

  append(
    id: string,
    { owner, epoch }: ConversationClaim,
    turns: readonly NewTurn[],
    change: ConversationChange = {},
  ): Promise<number | undefined> {
    const mail = { reads: change.reads ?? [], sends: change.sends ?? [] }
    return this.#write(id, turns, mail, (row) => {
      if (row.owner !== owner || row.epoch !== epoch || row.state === "ended") return undefined
      if (change.length !== undefined && row.length !== change.length) return undefined
      return {
        ...row,
        state: change.state ?? row.state,
        owner: change.owner ?? row.owner,
        spent: change.spent === undefined ? row.spent : JSON.stringify(change.spent),
        settings: change.settings === undefined ? row.settings : JSON.stringify(change.settings),
        root: change.root ?? row.root,
      }
    })
  }

  post(id: string, given: NewTurn | ((state: ConversationState) => PostedTurn)): Promise<number | undefined> {
    const turns: NewTurn[] = []
    return this.#write(id, turns, { reads: [], sends: [] }, (row) => {
      if (row.state === "ended") return undefined
      const before = row.state as ConversationState
      const posted: PostedTurn = typeof given === "function" ? given(before) : { turn: given, state: before }
      turns.splice(0, turns.length, posted.turn)
      return { ...row, state: posted.state, root: posted.root ?? row.root }
    })
  }

  async spentInTree(root: string): Promise<Spent> {
    const query = "select spent from tree_spent where root = ?"
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(root) as { spent: string }[])
    return rows.reduce((sum, { spent }) => plus(sum, JSON.parse(spent) as Spent), nothingSpent)
  }

  async spentByAgent(): Promise<{ agentId: string; spent: Spent }[]> {
    const sums = spentKeys.map((key) => `sum(json_extract(spent, '$.${key}')) as "${key}"`).join(", ")
    const query = `select agent_id as agentId, ${sums} from conversations group by agent_id`
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all() as (Spent & { agentId: string })[])
    return rows.map(({ agentId, ...spent }) => ({ agentId, spent }))
  }

  async turns(id: string, from = 0): Promise<Turn[]> {
    const query = "select * from turns where conversation_id = ? and place >= ? order by place"
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(id, from) as unknown as Tables["turns"][])
    return rows.map((row) => ({
      conversationId: row.conversation_id,
      index: row.place,
      kind: row.kind,
      body: JSON.parse(row.body) as unknown,
      at: row.at,
    }))
  }

  below(id: string, after: { row: number; change: number }): Promise<StoredBelow> {
    return retryWhileBusy(() => readBelow(this.#database, id, after))
  }

  async waitForTurns(
    id: string,
    length: number,
    milliseconds: number,
    signals: readonly (AbortSignal | undefined)[] = [],
  ): Promise<void> {
    const until = Date.now() + milliseconds
    while (Date.now() < until && !signals.some((signal) => signal?.aborted)) {
      if ((this.#row(id)?.length ?? Infinity) > length) return
      await sleep(pollMs)
    }
  }

  async erase(olderThan: number): Promise<number> {
    return retryWhileBusy(() =>
      transaction(this.#database, () => {
        const old = "select id from conversations where updated_at < ?"
        for (const table of ["turns", "tree_spent"])
          this.#database.prepare(`delete from ${table} where conversation_id in (${old})`).run(olderThan)
        const erased = this.#database.prepare("delete from conversations where updated_at < ?").run(olderThan)
        const isGone = "target is null or not exists (select 1 from conversations where id = target)"
        this.#database.prepare(`delete from messages where read_at < ? and (${isGone})`).run(olderThan)
        return Number(erased.changes)
      }),
    )
  }

  /** Changes a conversation as `changed` says, adds the turns and moves messages, in one transaction. */
  #write(
    id: string,
    turns: readonly NewTurn[],
    { reads, sends }: Required<Pick<ConversationChange, "reads" | "sends">>,
    changed: (row: Row) => Row | undefined,
  ): Promise<number | undefined> {
    return retryWhileBusy(() =>
      transaction(this.#database, () => {
        const before = this.#row(id)
        const row = before && changed(before)
        if (before === undefined || row === undefined) return undefined
        const at = Date.now()
        const insert = this.#database.prepare(
          "insert into turns (conversation_id, place, kind, body, at) values (?, ?, ?, ?, ?)",
        )
        turns.forEach(({ kind, body }, place) => insert.run(id, row.length + place, kind, JSON.stringify(body), at))
        const length = row.length + turns.length
        this.#database
          .prepare(
            `update conversations set state = ?, owner = ?, settings = ?, spent = ?, root = ?, length = ?, updated_at = ?
             where id = ?`,
          )
          .run(row.state, row.owner, row.settings, row.spent, row.root, length, at, id)
        if (row.spent !== before.spent) this.#charge(row, JSON.parse(before.spent) as Spent)
        moveMessages(this.#database, reads, sends, at)
        return length
      }),
    )
  }

  /** Counts what a conversation has used since `before` in the tree of its run. */
  #charge({ id, root, spent }: Pick<Row, "id" | "root" | "spent">, before: Spent): void {
    const key = [root || id, id] as const
    const known = this.#database
      .prepare("select spent from tree_spent where root = ? and conversation_id = ?")
      .get(...key) as { spent: string } | undefined
    const sum = plus(
      known === undefined ? nothingSpent : (JSON.parse(known.spent) as Spent),
      JSON.parse(spent) as Spent,
    )
    this.#database
      .prepare("insert or replace into tree_spent (root, conversation_id, spent) values (?, ?, ?)")
      .run(...key, JSON.stringify(plus(sum, before, -1)))
  }

  #row(id: string): Row | undefined {
    return this.#database.prepare("select * from conversations where id = ?").get(id) as unknown as Row | undefined
  }
}

const nothingSpent: Spent = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }

function plus(sum: Spent, more: Spent, times = 1): Spent {
  const added = spentKeys.map((key) => [key, sum[key] + times * more[key]])
  return Object.fromEntries(added) as unknown as Spent
}

function cursorAt({ createdAt, id }: Conversation): string {
  return Buffer.from(JSON.stringify([createdAt, id])).toString("base64url")
}

/** A cursor that is not one of ours begins at the newest. */
function readCursor(cursor: string): [at?: number, id?: string] {
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[]
    return typeof at === "number" && typeof id === "string" ? [at, id] : []
  } catch {
    return []
  }
}

function fromTable(row: Row): Conversation {
  return {
    id: row.id,
    agentId: row.agent_id,
    state: row.state as ConversationState,
    owner: row.owner,
    epoch: row.epoch,
    startedBy: row.started_by,
    settings: JSON.parse(row.settings) as unknown,
    spent: JSON.parse(row.spent) as Spent,
    root: row.root,
    length: row.length,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
