import { onTestFinished } from "vitest"
import type { QuartermasterEvent } from "../../core/events.ts"
import type { ChangedBy } from "../organisation-admin.ts"
import { openDatabase, type Database } from "../../store/sqlite/database.ts"
import { SqliteDocuments } from "../../store/sqlite/documents.ts"
import { SqliteMessages } from "../../store/sqlite/messages.ts"
import { databaseFile } from "../../testing/test-app.ts"
import { Directory, type DirectoryOptions } from "../directory.ts"

export const ann: ChangedBy = { kind: "person", id: "ann" }
export const agent = (id: string): ChangedBy => ({ kind: "agent", id })

export const groupIds = ["org_management", "data", "system", "network", "command"]

type Options = Partial<Omit<DirectoryOptions, "documents" | "messages">>

/** A directory over its own database, with the events it emitted and the agents it stopped. `again` opens it anew. */
export async function openDirectory(options: Options = {}, existing?: string) {
  const file = existing ?? (await databaseFile())
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  return { ...directoryOver(database, options), again: (other: Options = options) => openDirectory(other, file) }
}

/** A directory over an open database. */
export function directoryOver(database: Database, options: Options = {}) {
  const events: QuartermasterEvent[] = []
  const stopped: string[][] = []
  const documents = new SqliteDocuments(database)
  const messages = new SqliteMessages(database)
  const directory = new Directory({
    documents,
    messages,
    groups: {
      has: (id) => groupIds.includes(id),
      list: () => groupIds.map((id) => ({ id, description: `${id} tools` })),
    },
    levelOrder: "asc",
    emit: (event) => void events.push(event),
    ...options,
  })
  directory.onTerminated((ids) => void stopped.push([...ids]))
  return { directory, documents, messages, database, events, stopped }
}

/** The error code the change was refused with, or undefined. */
export async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
