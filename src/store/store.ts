import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import type { Logger } from "../model/logger.ts"
import type { CallStore, Recorder } from "../model/ports.ts"
import { FileArtifacts } from "./artifacts.ts"
import { openDatabase, unavailable, whenFree, type Database } from "./database.ts"
import { SqliteDocuments } from "./documents.ts"
import { ensureFolder } from "./folder.ts"
import { recordKey, type RecordKey } from "./key.ts"
import { Leases } from "./leases.ts"
import { StoreLimits } from "./limits.ts"
import { SqliteMessages } from "./messages.ts"
import { currentVersion } from "./migrations-version.ts"

export interface StoreOptions {
  dataDir: string
  owner: string
  logger: Logger
  /** *journal* for processes that live, *direct* for the command line. */
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
  readonly limits: StoreLimits
  readonly leases: Leases
  /** Made on first use, because most commands never need it. */
  calls(): Promise<CallStore>
  audit(): Promise<import("./audit.ts").Audit>
  close(): Promise<void>
}

export async function openStore({ dataDir, owner, logger, writes }: StoreOptions): Promise<Store> {
  const file = join(dataDir, "quartermaster.db")
  const journalDir = join(dataDir, "journal")
  const { database, key } = await open(dataDir, file)
  let calls: Promise<CallStore> | undefined
  let callsDatabase: Database | undefined
  let side: Promise<Database> | undefined
  const recorder = await makeRecorder()

  async function makeRecorder(): Promise<Recorder> {
    if (writes === "direct") return new (await import("./direct.ts")).DirectRecorder(database, key, owner)
    const { JournalRecorder } = await import("./recorder.ts")
    return new JournalRecorder({ database, databaseFile: file, dir: journalDir, key, owner, logger })
  }
  /** Windows and heartbeats: a power cut may cost their last second. */
  const openSide = () =>
    (side ??= openDatabase(file).then((opened) => {
      opened.exec("pragma synchronous = normal")
      return opened
    }))
  const openAudit = async () => new (await import("./audit.ts")).Audit(database, key, journalDir)
  const leases = new Leases(owner, openSide, async (dead) => {
    await (await openAudit()).catchUp()
    const { closeEnded } = await import("./last-words.ts")
    await whenFree(() => closeEnded(database, dead))
  })
  async function openCalls(): Promise<CallStore> {
    const { SqliteCalls } = await import("./calls.ts")
    callsDatabase = await openDatabase(file)
    return new SqliteCalls(callsDatabase)
  }

  return {
    database,
    key,
    journalDir,
    recorder,
    artifacts: new FileArtifacts(database, join(dataDir, "artifacts")),
    documents: new SqliteDocuments(database),
    messages: new SqliteMessages(database),
    limits: new StoreLimits(openSide),
    leases,
    calls: () => (calls ??= openCalls()),
    audit: openAudit,
    async close() {
      await recorder.close()
      await leases.close()
      callsDatabase?.close()
      await side?.then((opened) => opened.close())
      // What is in the log goes into the file, so that a copy of the file alone is whole. Somebody else may be busy.
      await whenFree(() => database.exec("pragma wal_checkpoint(truncate)")).catch(() => {})
      database.close()
    },
  }
}

async function open(dataDir: string, file: string): Promise<{ database: Database; key: RecordKey }> {
  try {
    ensureFolder(dataDir)
    closeSync(openSync(file, "a", 0o600)) // SQLite gives its other files the mode of this one.
    const key = recordKey(dataDir)
    const database = await openDatabase(file)
    const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number }
    if (version > currentVersion) {
      throw new Error(`${file} was made by a newer version of Quartermaster (${version}). Update Quartermaster.`)
    }
    if (version < currentVersion) await (await import("./kysely.ts")).migrate(database)
    return { database, key }
  } catch (error) {
    throw unavailable(error)
  }
}
