import { onTestFinished } from "vitest"
import { newId } from "../../lib/new-id.ts"
import type { Message } from "../../core/organisation.ts"
import { databaseFile } from "../../testing/test-app.ts"
import { openDatabase } from "../sqlite/database.ts"
import { SqliteMessages } from "../sqlite/messages.ts"

export async function openTwoMessages(): Promise<[SqliteMessages, SqliteMessages]> {
  const file = await databaseFile()
  const opened = []
  for (let index = 0; index < 2; index++) {
    const database = await openDatabase(file)
    onTestFinished(() => database.close())
    opened.push(new SqliteMessages(database))
  }
  return opened as [SqliteMessages, SqliteMessages]
}

export function someMessage(fields: Partial<Message> = {}): Message {
  const sent = { from: "ann", to: "bob", payload: "hello", kind: "message", hops: 0 } as const
  return { id: newId(), ...sent, createdAt: 1, deliverAt: 1, readAt: null, ...fields }
}
