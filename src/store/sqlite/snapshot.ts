import type { Database } from "./database.ts"

/** All statements in `read` see the database at one moment, whatever other processes write. For reading only. */
export function snapshot<T>(database: Database, read: () => T): T {
  database.exec("begin")
  try {
    return read()
  } finally {
    database.exec("rollback")
  }
}
