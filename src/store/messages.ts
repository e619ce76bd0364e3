import type { Message } from "../model/organisation.ts"
import type { Messages } from "../model/ports.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"
import type { Tables } from "./tables.ts"

type Row = Tables["messages"]

const maxMessages = 1000

/** The messages table of the embedded store. Several processes share it. */
export class SqliteMessages implements Messages {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async insert(message: Message): Promise<void> {
    const { id, from, to, taskId, payload, createdAt, deliverAt, readAt } = message
    await retryWhileBusy(() =>
      this.#database
        .prepare(
          `insert into messages (id, sender, recipient, task_id, payload, created_at, deliver_at, read_at)
           values (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, from, to, taskId ?? null, JSON.stringify(payload), createdAt, deliverAt, readAt),
    )
  }

  async inbox(recipient: string, { at, unreadOnly = false }: { at: number; unreadOnly?: boolean }): Promise<Message[]> {
    const arrived = "select * from messages where recipient = ? and deliver_at <= ?"
    const query = unreadOnly
      ? `${arrived} and read_at is null order by deliver_at, id limit ${maxMessages}`
      : `${arrived} order by deliver_at desc, id desc limit ${maxMessages}`
    const rows = await retryWhileBusy(() => this.#database.prepare(query).all(recipient, at) as unknown as Row[])
    const messages = rows.map(fromTable)
    return unreadOnly ? messages : messages.toReversed()
  }

  async markRead(ids: readonly string[], at: number): Promise<void> {
    if (ids.length === 0) return
    await retryWhileBusy(() =>
      transaction(this.#database, () => {
        const mark = this.#database.prepare("update messages set read_at = ? where id = ? and read_at is null")
        for (const id of ids) mark.run(at, id)
      }),
    )
  }
}

function fromTable(row: Row): Message {
  return {
    id: row.id,
    from: row.sender,
    to: row.recipient,
    payload: JSON.parse(row.payload) as unknown,
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
    createdAt: row.created_at,
    deliverAt: row.deliver_at,
    readAt: row.read_at,
  }
}
