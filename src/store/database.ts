import type { DatabaseSyncInstance } from "@photostructure/sqlite"
import { StoreUnavailable } from "../model/ending.ts"
import { messageOf } from "../model/message.ts"

export type Database = DatabaseSyncInstance

/** Opens the embedded database: the runtime's own SQLite where it has one without a warning, else the packaged one. */
export async function openDatabase(file: string): Promise<Database> {
  const { DatabaseSync } = await sqlite()
  return whenFree(() => {
    const database = new DatabaseSync(file)
    try {
      database.exec(
        "pragma busy_timeout = 20; pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 4000",
      )
      return database
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/** Copies a database file as it is at one moment, while others write to it. Runs beside this thread. */
export async function copyDatabase(file: string, target: string): Promise<void> {
  const { backup } = await sqlite()
  // A connection of its own: the copy keeps it busy. All pages at once, because a write in between starts it anew.
  const source = await openDatabase(file)
  try {
    await backup(source, target, { rate: 2 ** 31 - 1 })
  } catch (error) {
    throw unavailable(error)
  } finally {
    source.close()
  }
}

interface Sqlite {
  DatabaseSync: new (file: string) => Database
  backup(source: Database, target: string, options: { rate: number }): Promise<number>
}

async function sqlite(): Promise<Sqlite> {
  const major = Number(process.versions.node.split(".")[0])
  const builtin: string = "node:sqlite"
  return (major >= 24 ? await import(builtin) : await import("@photostructure/sqlite")) as never
}

/** SQLite's answer when another process has the lock for longer than we stand still. */
export function isBusy(error: unknown): boolean {
  const { errcode, code, message } = error as { errcode?: number; code?: string; message?: string }
  return (
    errcode === 5 ||
    errcode === 261 ||
    errcode === 517 ||
    code === "SQLITE_BUSY" ||
    /database is locked/.test(message ?? "")
  )
}

/** Does the work again, without blocking, while another process holds the lock; gives up after ten seconds. */
export async function whenFree<T>(work: () => T | Promise<T>): Promise<T> {
  for (let waited = 0, pause = 2; ; waited += pause, pause = Math.min(50, pause * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || waited > 10_000) throw unavailable(error)
      await new Promise((resolve) => setTimeout(resolve, pause + Math.random() * pause))
    }
  }
}

/** One transaction that is a writer from its first statement on. */
export function transaction<T>(database: Database, work: () => T): T {
  database.exec("begin immediate")
  try {
    const value = work()
    database.exec("commit")
    return value
  } catch (error) {
    try {
      database.exec("rollback")
    } catch {
      // SQLite has rolled back by itself.
    }
    throw error
  }
}

export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const what = messageOf(error)
  return new StoreUnavailable(`The store cannot be used (${what}).`, { cause: error })
}
