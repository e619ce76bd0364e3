import type { Message } from "../../core/organisation.ts"
import type { Messages } from "../port.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"
import type { Tables } from "./tables.ts"

type Row = Tables["messages"]

const maxMessages = 1000

/** Of a message that was sent to an agent: its answer has not come, or is not read. */
const isOpen = `sent.kind = 'message' and sent.recipient <> 'user'
  and not exists (select 1 from messages where about = sent.id and read_at is not null)`

/** The messages table of the embedded store. Several processes share it. */
export class SqliteMessages implements Messages {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async insert(message: Message): Promise<void> {
    await retryWhileBusy(() => insertMessage(this.#database, message))
  }

  async inbox(recipient: string, { at, unreadOnly = false }: { at: number; unreadOnly?: boolean }): Promise<Message[]> {
    const arrived = "select * from messages where recipient = ? and deliver_at <= ?"
    const query = unreadOnly
      ? `${arrived} and read_at is null order by deliver_at, id limit ${maxMessages}`
      : `${arrived} order by deliver_at desc, id desc limit ${maxMessages}`
    const messages = await this.#all(query, recipient, at)
    return unreadOnly ? messages : messages.toReversed()
  }

  correspondence(agentId: string, { at, limit }: { at: number; limit: number }): Promise<Message[]> {
    const query = `select * from messages where (recipient = ? or sender = ?) and deliver_at <= ?
      order by deliver_at desc, id desc limit ?`
    return this.#all(query, agentId, agentId, at, limit)
  }

  async markRead(ids: readonly string[], at: number): Promise<void> {
    await this.settle(ids, [], at)
  }

  unreadFor(conversationId: string, { at, limit }: { at: number; limit: number }): Promise<Message[]> {
    const query = `select * from messages where target = ? and deliver_at <= ? and read_at is null
      order by deliver_at, id limit ?`
    return this.#all(query, conversationId, at, limit)
  }

  unreadConversations(prefix: string, at: number): Promise<Message[]> {
    // One message for each conversation: SQLite takes the other columns from the row with the smallest time.
    const query = `select *, min(deliver_at) from messages
      where target >= ? and target < ? and read_at is null and deliver_at <= ? group by target order by deliver_at, id`
    return this.#all(query, prefix, `${prefix}\u{10ffff}`, at)
  }

  unreadTo(recipient: string): Promise<Message[]> {
    return this.#all(
      "select * from messages where recipient = ? and read_at is null order by deliver_at, id",
      recipient,
    )
  }

  openFrom(conversationId: string): Promise<Message[]> {
    const query = `select * from messages sent where conversation = ? and ${isOpen} order by id`
    return this.#all(query, conversationId)
  }

  openByAgent(): Promise<{ agentId: string; to: string }[]> {
    const query = `select distinct conversations.agent_id as agentId, recipient as "to" from messages sent
      join conversations on conversations.id = sent.conversation and conversations.state <> 'ended'
      where sent.conversation is not null and ${isOpen} order by 1, 2`
    return this.#rows(query)
  }

  unreadCounts(): Promise<{ agentId: string; unread: number }[]> {
    const query = `select recipient as agentId, count(*) as unread from messages
      where read_at is null and target is not null group by recipient`
    return this.#rows(query)
  }

  async answerTo(messageId: string): Promise<Message | undefined> {
    return (await this.#all("select * from messages where about = ?", messageId))[0]
  }

  async lastConversation(from: string, to: string): Promise<string | undefined> {
    const query = `select * from messages where recipient = ? and sender = ? and conversation is not null
      order by deliver_at desc, id desc limit 1`
    return (await this.#all(query, to, from))[0]?.conversationId
  }

  async settle(ids: readonly string[], answers: readonly Message[], at: number): Promise<void> {
    if (ids.length === 0 && answers.length === 0) return
    await retryWhileBusy(() => transaction(this.#database, () => moveMessages(this.#database, ids, answers, at)))
  }

  #rows<T>(query: string): Promise<T[]> {
    return retryWhileBusy(() => this.#database.prepare(query).all() as T[])
  }

  async #all(query: string, ...values: (string | number)[]): Promise<Message[]> {
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(...values) as unknown as Row[])
    return rows.map(fromTable)
  }
}

/** Marks messages as read and stores others, inside the caller's transaction. */
export function moveMessages(
  database: Database,
  reads: readonly string[],
  sends: readonly Message[],
  at: number,
): void {
  const mark = database.prepare("update messages set read_at = ? where id = ? and read_at is null")
  for (const id of reads) mark.run(at, id)
  for (const message of sends)
    insertMessage(database, message, "on conflict (about) where about is not null do nothing")
}

function insertMessage(database: Database, message: Message, orElse = ""): void {
  const { id, from, to, taskId, payload, createdAt, deliverAt, readAt, kind, about, userId, hops } = message
  const { conversationId, target, root } = message
  database
    .prepare(
      `insert into messages (id, sender, recipient, task_id, payload, created_at, deliver_at, read_at,
         kind, about, user_id, hops, conversation, target, root)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${orElse}`,
    )
    .run(
      id,
      from,
      to,
      taskId ?? null,
      JSON.stringify(payload),
      createdAt,
      deliverAt,
      readAt,
      kind,
      about ?? null,
      userId ?? null,
      hops,
      conversationId ?? null,
      target ?? null,
      root ?? null,
    )
}

function fromTable(row: Row): Message {
  return {
    id: row.id,
    from: row.sender,
    to: row.recipient,
    payload: JSON.parse(row.payload) as unknown,
    kind: row.kind as Message["kind"],
    hops: row.hops,
    ...(row.about === null ? {} : { about: row.about }),
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    ...(row.conversation === null ? {} : { conversationId: row.conversation }),
    ...(row.target === null ? {} : { target: row.target }),
    ...(row.root === null ? {} : { root: row.root }),
    createdAt: row.created_at,
    deliverAt: row.deliver_at,
    readAt: row.read_at,
  }
}
