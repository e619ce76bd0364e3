import { setTimeout as sleep } from "node:timers/promises"
import type {
  Conversation,
  ConversationChange,
  ConversationClaim,
  ConversationFilter,
  Conversations,
  ConversationState,
  ListedConversation,
  NewConversation,
  NewTurn,
  OpenCall,
  PostedTurn,
  ShownState,
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

/** Interval of looking for turns of other processes. */
const pollMs = 100

/** The conversations and turns tables of the embedded store. Every change is one transaction. */
export class SqliteConversations implements Conversations {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async create(given: NewConversation): Promise<Conversation> {
    const at = Date.now()
    const unset = { title: "", preview: "", ending: "", read: 0 }
    const conversation: Conversation = { ...unset, ...given, length: 0, createdAt: at, updatedAt: at }
    const row = toTable(conversation)
    const names = Object.keys(row)
    const insert = () => {
      this.#database
        .prepare(
          `insert into conversations (${names.join(", ")}, change) values (${names.map(() => "?").join(", ")}, ${nextChange})`,
        )
        .run(...Object.values(row), at)
      this.#charge(row, nothingSpent)
    }
    await retryWhileBusy(() => transaction(this.#database, insert))
    return conversation
  }

  async get(id: string): Promise<Conversation | undefined> {
    const row = await retryWhileBusy(() => this.#row(id))
    return row && fromTable(row)
  }

  async list({ cursor, limit = 100, ...filter }: ConversationFilter = {}): Promise<{
    conversations: ListedConversation[]
    cursor?: string
  }> {
    const [at = Number.MAX_SAFE_INTEGER, last = ""] = cursor === undefined ? [] : readCursor(cursor)
    const { conditions, values } = conditionsOf(filter)
    const query = `with asking as materialized (
        select session_id as top from calls where state in ('waiting', 'held')
        union select one.root from calls join conversations one on one.id = calls.session_id
          where calls.state in ('waiting', 'held') and one.root <> ''
      ), busy as materialized (
        select distinct root as top from conversations where state = 'active' and root <> ''
      ), listed as (
        select conversations.*, ${shownState} as shown from conversations
          left join asking on asking.top = conversations.id left join busy on busy.top = conversations.id
      )
      select *, (select sum(json_extract(tree_spent.spent, '$.cost')) from tree_spent where tree_spent.root = listed.id) as cost
      from listed where (updated_at < ? or updated_at = ? and id < ?) ${conditions.map((each) => `and ${each}`).join(" ")}
      order by updated_at desc, id desc limit ?`
    const found = await retryWhileBusy(
      () => this.#database.prepare(query).all(at, at, last, ...values, limit + 1) as unknown as ListedRow[],
    )
    const conversations = found
      .slice(0, limit)
      .map((row) => ({ ...fromTable(row), shown: row.shown, cost: row.cost ?? 0 }))
    const end = conversations.at(-1)
    return found.length > limit && end !== undefined ? { conversations, cursor: cursorAt(end) } : { conversations }
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
        title: change.title ?? row.title,
        preview: change.preview ?? row.preview,
        ending: change.ending ?? row.ending,
        read: change.read ?? row.read,
      }
    })
  }

  post(id: string, given: NewTurn | Parameters<Conversations["post"]>[1]): Promise<number | undefined> {
    const turns: NewTurn[] = []
    return this.#write(id, turns, { reads: [], sends: [] }, (row) => {
      if (row.state === "ended") return undefined
      const before = row.state as ConversationState
      const posted: PostedTurn | undefined =
        typeof given === "function" ? given(before, fromTable(row)) : { turn: given, state: before }
      if (posted === undefined) return undefined
      turns.splice(0, turns.length, posted.turn)
      const { state, root = row.root, title = row.title, preview = row.preview } = posted
      return { ...row, state, root, title, preview }
    })
  }

  async revise(id: string, change: Parameters<Conversations["revise"]>[1]): Promise<Conversation | undefined> {
    return retryWhileBusy(() =>
      transaction(this.#database, () => {
        const row = this.#row(id)
        if (row === undefined) return undefined
        const { title = row.title, settings } = change(fromTable(row))
        const changed = { ...row, title, settings: settings === undefined ? row.settings : JSON.stringify(settings) }
        this.#database
          .prepare(
            `update conversations set title = ?, settings = ?, searched = ?, change = ${nextChange} where id = ?`,
          )
          .run(title, changed.settings, searchedIn(changed), Date.now(), id)
        return fromTable(changed)
      }),
    )
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

  async costSince(at: number): Promise<{ agentId: string; cost: number }[]> {
    const query = `select agent_id as agentId, sum(json_extract(body, '$.cost')) as cost
      from conversations join turns on turns.conversation_id = conversations.id
      where conversations.updated_at >= ?1 and turns.at >= ?1 and turns.kind = 'assistant' group by agent_id`
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(at))
    return (rows as { agentId: string; cost: number | null }[]).map(({ agentId, cost }) => ({
      agentId,
      cost: cost ?? 0,
    }))
  }

  async turns(id: string, from = 0, before = Number.MAX_SAFE_INTEGER): Promise<Turn[]> {
    const query =
      "select * from turns where conversation_id = ? and place >= ? and place < ? and kind <> 'erased' order by place"
    const rows = await retryWhileBusy(
      () => this.#database.prepare(query).all(id, from, before) as unknown as Tables["turns"][],
    )
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

  async callsWith({ id, agentId }: Pick<Conversation, "id" | "agentId">, keys: readonly string[]): Promise<OpenCall[]> {
    const query = `select id as callId, key, state, updated_at as at from calls
      where agent_id = ? and session_id = ? and key in (${keys.map(() => "?").join(", ")})`
    return retryWhileBusy(() => this.#database.prepare(query).all(agentId, id, ...keys) as unknown as OpenCall[])
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

  async eraseOne(id: string, states: readonly ConversationState[]): Promise<boolean> {
    return retryWhileBusy(() =>
      transaction(this.#database, () => {
        const row = this.#row(id)
        if (row === undefined || !states.includes(row.state as ConversationState)) return false
        for (const table of ["turns", "tree_spent"])
          this.#database.prepare(`delete from ${table} where conversation_id = ?`).run(id)
        this.#database.prepare("delete from conversations where id = ?").run(id)
        // Tells other processes, and keeps the numbers of turns growing.
        this.#database
          .prepare("insert into turns (conversation_id, place, kind, body, at) values (?, ?, 'erased', '{}', ?)")
          .run(id, row.length, Date.now())
        return true
      }),
    )
  }

  async erase(olderThan: number): Promise<number> {
    return retryWhileBusy(() =>
      transaction(this.#database, () => {
        const old = "select id from conversations where updated_at < ?"
        for (const table of ["turns", "tree_spent"])
          this.#database.prepare(`delete from ${table} where conversation_id in (${old})`).run(olderThan)
        this.#database.prepare("delete from turns where kind = 'erased' and at < ?").run(olderThan)
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
        const { state, owner, settings, spent, root, title, preview, ending, read } = row
        const isTold = turns.length > 0 && title === before.title && settings === before.settings
        this.#database
          .prepare(
            `update conversations set state = ?, owner = ?, settings = ?, spent = ?, root = ?, title = ?, preview = ?,
               ending = ?, searched = ?, read = ?, length = ?, updated_at = ?, change = ${isTold ? "max(change, ?)" : nextChange}
             where id = ?`,
          )
          .run(
            state,
            owner,
            settings,
            spent,
            root,
            title,
            preview,
            ending,
            searchedIn(row),
            read,
            length,
            at,
            isTold ? 0 : at,
            id,
          )
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

type ListedRow = Row & { shown: ShownState; cost: number | null }

/** The number of a change. It grows with the time too, so that none is given again after the newest was erased. */
const nextChange = "max((select coalesce(max(change), 0) from conversations), ?) + 1"

const shownState = `case
  when asking.top is not null or state = 'waiting' then 'waiting'
  when state = 'active' or busy.top is not null then 'working'
  when state = 'paused' or ending in ('aborted', 'limit') then 'stopped'
  when ending = 'error' then 'failed'
  else 'done' end`

function conditionsOf(filter: Omit<ConversationFilter, "cursor" | "limit">) {
  const { id, agentId, states, shown, startedBy, branchOf, notPrefix, search } = filter
  const given: (readonly [string, readonly string[]] | undefined)[] = [
    id === undefined ? undefined : ["id = ?", [id]],
    agentId === undefined ? undefined : ["agent_id = ?", [agentId]],
    states && [`state in (${states.map(() => "?").join(", ")})`, states],
    shown && ["shown = ?", [shown]],
    startedBy === undefined ? undefined : ["started_by = ?", [startedBy]],
    branchOf === undefined ? undefined : ["branch_of = ?", [branchOf]],
    notPrefix === undefined ? undefined : ["substr(id, 1, length(?)) <> ?", [notPrefix, notPrefix]],
    search === undefined ? undefined : ["instr(searched, ?) > 0", [search.toLowerCase()]],
  ]
  const found = given.filter((each) => each !== undefined)
  return { conditions: found.map(([condition]) => condition), values: found.flatMap(([, values]) => values) }
}

function searchedIn({ title, preview, agent_id }: Pick<Row, "title" | "preview" | "agent_id">): string {
  return `${title}\n${preview}\n${agent_id}`.toLowerCase()
}

const nothingSpent: Spent = { rounds: 0, calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 }

function plus(sum: Spent, more: Spent, times = 1): Spent {
  const added = spentKeys.map((key) => [key, sum[key] + times * more[key]])
  return Object.fromEntries(added) as unknown as Spent
}

function cursorAt({ updatedAt, id }: Conversation): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url")
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
    title: row.title,
    preview: row.preview,
    ending: row.ending,
    read: row.read,
    ...(row.branch_of === null ? {} : { branchOf: { id: row.branch_of, index: row.branch_at ?? 0 } }),
    length: row.length,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function toTable(given: Conversation): Omit<Row, "change"> {
  const { id, agentId, state, owner, epoch, startedBy, settings, spent, root, title, preview, ending, read } = given
  const { branchOf, length, createdAt, updatedAt } = given
  return {
    id,
    state,
    owner,
    epoch,
    root,
    title,
    preview,
    ending,
    read,
    length,
    agent_id: agentId,
    started_by: startedBy,
    settings: JSON.stringify(settings),
    spent: JSON.stringify(spent),
    searched: searchedIn({ title, preview, agent_id: agentId }),
    branch_of: branchOf?.id ?? null,
    branch_at: branchOf?.index ?? null,
    created_at: createdAt,
    updated_at: updatedAt,
  }
}
