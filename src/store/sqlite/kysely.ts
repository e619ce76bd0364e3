import { Kysely, Migrator, SqliteDialect } from "kysely"
import { retryWhileBusy, type Database } from "./database.ts"
import { currentVersion } from "./migrations-version.ts"
import { migrations } from "./migrations.ts"
import { rebuildSums } from "./sums.ts"
import type { Tables } from "./tables.ts"

/** Kysely over the embedded database. Loaded only where its queries are used; the hot path uses plain SQL. */
export function kyselyOver(database: Database): Kysely<Tables> {
  const dialect = new SqliteDialect({
    database: {
      close: () => {},
      prepare(sql: string) {
        const statement = database.prepare(sql)
        const reader = statement.columns().length > 0
        return {
          reader,
          all: (parameters: readonly unknown[]) => statement.all(...(parameters as never[])),
          run: (parameters: readonly unknown[]) => statement.run(...(parameters as never[])) as never,
          iterate: (parameters: readonly unknown[]) => statement.iterate(...(parameters as never[])) as never,
        }
      },
    },
  })
  return new Kysely<Tables>({ dialect })
}

/** The version that has sums of the audit log. */
const sumsVersion = 13

/** Migrates the database to the current version. When several processes start at once, one migrates and the others wait. */
export function migrate(database: Database): Promise<void> {
  return retryWhileBusy(async () => {
    // Kysely takes no lock on SQLite and runs each statement separately, so all migrations run in one transaction here.
    database.exec("begin immediate")
    try {
      const { user_version: before } = database.prepare("pragma user_version").get() as { user_version: number }
      const provider = { getMigrations: () => Promise.resolve(migrations) }
      const { error } = await new Migrator({ db: kyselyOver(database), provider }).migrateToLatest()
      if (error !== undefined) throw error
      if (before < sumsVersion) rebuildSums(database)
      database.exec(`pragma user_version = ${currentVersion}; commit`)
    } catch (error) {
      try {
        database.exec("rollback")
      } catch {
        // SQLite has already rolled back.
      }
      throw error
    }
  })
}
