import type { DatabaseSyncInstance } from "@photostructure/sqlite"
import { StoreUnavailable } from "../../core/ending.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { loadSqlite } from "../../lib/load-sqlite.ts"

export type Database = DatabaseSyncInstance

/** True if SQLite waits for the disk. Only the fast tests switch it off. */
export const disk = { syncs: true }

/** Opens the embedded database, with Node's own SQLite from version 24 on, else with the packaged one. */
export async function openDatabase(file: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite()
  return retryWhileBusy(() => {
    const database = new DatabaseSync(file)
    try {
      database.exec(
        `pragma busy_timeout = 20; pragma journal_mode = wal; pragma synchronous = ${disk.syncs ? "full" : "off"}; pragma wal_autocheckpoint = 4000`,
      )
      return database
    } catch (error) {
      database.close()
      throw error
    }
  })
}

/** Copies a database file as it is at one moment, while other processes write to it. Does not block this thread. */
export async function copyDatabase(file: string, target: string): Promise<void> {
  const { backup } = await loadSqlite()
  // The copy occupies its connection, so it gets its own. It copies all pages at once, because a write would restart it.
  const source = await openDatabase(file)
  try {
    await backup(source, target, { rate: 2 ** 31 - 1 })
  } catch (error) {
    throw toStoreUnavailable(error)
  } finally {
    source.close()
  }
}

/** Reports whether SQLite failed because another process held the lock longer than the busy timeout. */
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

/** Retries the work, without blocking, while another process holds the lock. Gives up after ten seconds. */
export async function retryWhileBusy<T>(work: () => T | Promise<T>): Promise<T> {
  for (let waited = 0, pause = 2; ; waited += pause, pause = Math.min(50, pause * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || waited > 10_000) throw toStoreUnavailable(error)
      await new Promise((resolve) => setTimeout(resolve, pause + Math.random() * pause))
    }
  }
}

/** Runs the work in one transaction that takes the write lock at the beginning. */
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
      // SQLite has already rolled back.
    }
    throw error
  }
}

const chosen = "--data <folder>, or data.dir in the configuration."

/** Returns advice for a full disk, with a space before it; SQLite reports that by its code 13, or only in words. */
export function moreSpace(error: unknown): string {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const isFull = code === "ENOSPC" || code === "EDQUOT" || errcode === 13 || /disk is full/.test(errorMessage(error))
  return isFull ? ` Free some space on that disk, or choose a folder on another one: ${chosen}` : ""
}

export function toStoreUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error
  const what = errorMessage(error)
  const { code = "" } = error as NodeJS.ErrnoException
  const next = ["EACCES", "EPERM", "EROFS"].includes(code)
    ? ` Choose a folder that you may write: ${chosen}`
    : code === "ENOTDIR"
      ? ` There is a file where the data folder or one above it should be: remove or rename it, or choose another folder: ${chosen}`
      : moreSpace(error)
  return new StoreUnavailable(`The store cannot be used (${what}).${next}`, { cause: error })
}
