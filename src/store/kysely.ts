import { Kysely, Migrator, SqliteDialect } from "kysely"
import { whenFree, type Database } from "./database.ts"
import { currentVersion } from "./migrations-version.ts"
import { migrations } from "./migrations.ts"
import type { Tables } from "./tables.ts"

/** Kysely over the embedded database. Loaded only by what needs queries; the hot path speaks SQL itself. */
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

/** Brings the database to the current version. Of several processes that start at once one does it, the others wait. */
export function migrate(database: Database): Promise<void> {
  return whenFree(async () => {
    // Kysely locks nothing on SQLite and runs each statement by itself, so the whole of it is one transaction here.
    database.exec("begin immediate")
    try {
      const provider = { getMigrations: () => Promise.resolve(migrations) }
      const { error } = await new Migrator({ db: kyselyOver(database), provider }).migrateToLatest()
      if (error !== undefined) throw error
      database.exec(`pragma user_version = ${currentVersion}; commit`)
    } catch (error) {
      try {
        database.exec("rollback")
      } catch {
        // SQLite has rolled back by itself.
      }
      throw error
    }
  })
}
