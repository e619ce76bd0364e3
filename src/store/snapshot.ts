import type { Database } from "./database.ts"

/** Reads from one moment: what others write meanwhile is not seen by any of the statements. Writes nothing. */
export function snapshot<T>(database: Database, read: () => T): T {
  database.exec("begin")
  try {
    return read()
  } finally {
    database.exec("rollback")
  }
}
