import { openDatabase } from "./database.ts"

/** The package and the version of the SQLite that opens databases here. */
export async function sqliteVersion(): Promise<{ name: string; version: string }> {
  const database = await openDatabase(":memory:")
  try {
    const { version } = database.prepare("select sqlite_version() as version").get() as { version: string }
    const packaged = await import("@photostructure/sqlite").catch(() => undefined)
    const isPackaged = packaged !== undefined && database instanceof packaged.DatabaseSync
    return { name: isPackaged ? "@photostructure/sqlite" : "node:sqlite", version }
  } finally {
    database.close()
  }
}
