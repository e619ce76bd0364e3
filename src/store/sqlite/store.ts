import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import type { Logger } from "../../core/logger.ts"
import type { CallStore, Recorder } from "../port.ts"
import type { Changes } from "../change-feed.ts"
import { StoredChanges } from "./changes.ts"
import { FileArtifacts } from "./artifacts.ts"
import { disk, openDatabase, toStoreUnavailable, retryWhileBusy, type Database } from "./database.ts"
import { SqliteConversations } from "./conversations.ts"
import { SqliteDocuments } from "./documents.ts"
import { ensureDataFolder } from "../../lib/ensure-folder.ts"
import { listJournals } from "./journal-files.ts"
import { loadRecordKey, type RecordKey } from "./record-key.ts"
import { Leases } from "./leases.ts"
import { StoreLimits } from "./limits.ts"
import { SqliteMessages } from "./messages.ts"
import { currentVersion } from "./migrations-version.ts"

export interface StoreOptions {
  dataDir: string
  owner: string
  logger: Logger
  /** *journal* for long-lived processes, *direct* for the command line. */
  writes: "journal" | "direct"
}

/** The embedded store: one folder, one database file that several processes share. */
export interface Store {
  readonly database: Database
  readonly key: RecordKey
  readonly journalDir: string
  readonly recorder: Recorder
  readonly artifacts: FileArtifacts
  readonly documents: SqliteDocuments
  readonly messages: SqliteMessages
  readonly conversations: SqliteConversations
  readonly limits: StoreLimits
  readonly leases: Leases
  readonly changes: Changes
  /** Opened on first use, because most commands never need it. */
  calls(): Promise<CallStore>
  close(): Promise<void>
}

export async function openStore({ dataDir, owner, logger, writes }: StoreOptions): Promise<Store> {
  const file = join(dataDir, "quartermaster.db")
  const journalDir = join(dataDir, "journal")
  const { database, key } = await open(dataDir, file, journalDir)
  let calls: Promise<CallStore> | undefined
  let callsDatabase: Database | undefined
  let unsynced: Promise<Database> | undefined
  let openedUnsynced: Database | undefined
  const changes = new StoredChanges(() => openDatabase(file))
  const recorder = await createRecorder()

  async function createRecorder(): Promise<Recorder> {
    if (writes === "direct") return new (await import("./direct-recorder.ts")).DirectRecorder(database, key, owner)
    const { JournalRecorder } = await import("./journal-recorder.ts")
    return new JournalRecorder({ database, databaseFile: file, dir: journalDir, key, owner, logger })
  }
  /** The connection for rate limits and heartbeats. They are not synced, so a power cut may lose the last second. */
  const openUnsynced = () =>
    (unsynced ??= openDatabase(file).then((opened) => {
      if (disk.syncs) opened.exec("pragma synchronous = normal")
      return (openedUnsynced = opened)
    }))
  const leases = new Leases(owner, openUnsynced, async (dead) => {
    const { catchUp } = await import("./recovery.ts")
    await retryWhileBusy(() => catchUp({ database, key, dir: journalDir }))
    const { closeOrphanedRows } = await import("./close-orphaned-rows.ts")
    await retryWhileBusy(() => closeOrphanedRows(database, dead))
  })
  async function openCalls(): Promise<CallStore> {
    const { SqliteCalls } = await import("./calls.ts")
    callsDatabase = await openDatabase(file)
    return new SqliteCalls(callsDatabase, changes)
  }

  return {
    database,
    key,
    journalDir,
    recorder,
    artifacts: new FileArtifacts(database, join(dataDir, "artifacts")),
    documents: new SqliteDocuments(database, () => openedUnsynced),
    messages: new SqliteMessages(database),
    conversations: new SqliteConversations(database),
    limits: new StoreLimits(openUnsynced),
    leases,
    calls: () => (calls ??= openCalls()),
    changes,
    async close() {
      await recorder.close()
      await leases.close()
      callsDatabase?.close()
      await changes.close()
      await unsynced?.then((opened) => {
        openedUnsynced = undefined
        opened.close()
      })
      // Moves SQLite's log into the file, so that a copy of the file alone is complete. Fails while another process writes.
      await retryWhileBusy(() => database.exec("pragma wal_checkpoint(truncate)")).catch(() => {})
      database.close()
    },
  }
}

async function open(
  dataDir: string,
  file: string,
  journalDir: string,
): Promise<{ database: Database; key: RecordKey }> {
  let database: Database | undefined
  try {
    ensureDataFolder(dataDir)
    closeSync(openSync(file, "a", 0o600)) // SQLite gives its other files the mode of this one.
    const opened = (database = await openDatabase(file))
    const { user_version: version } = opened.prepare("pragma user_version").get() as { user_version: number }
    const key = loadRecordKey(dataDir, () => hasAuditLog(opened, version) || listJournals(journalDir).length > 0)
    if (version > currentVersion) {
      throw new Error(`${file} was created by a newer version of Quartermaster (${version}). Update Quartermaster.`)
    }
    if (version < currentVersion) await (await import("./kysely.ts")).migrate(database)
    return { database, key }
  } catch (error) {
    database?.close()
    throw toStoreUnavailable(error)
  }
}

function hasAuditLog(database: Database, version: number): boolean {
  return version > 0 && database.prepare("select 1 from chains limit 1").get() !== undefined
}
