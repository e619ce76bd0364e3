import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import { failure } from "../../core/ending.ts"
import type { Database, DatabaseKind, Databases, MatchingRows, Statement } from "./database-access.ts"
import { dialectText, toolRef } from "../../core/dialect-text.ts"
import { needsVariables } from "../../core/unset-variables.ts"
import { affectedRows, selectOf } from "./affected-rows.ts"
import { checkStatement } from "./check-statement.ts"
import { postgresDatabase } from "./postgres.ts"
import { sqliteDatabase } from "./sqlite.ts"
import { SqliteProcesses } from "./sqlite-processes.ts"

/** An entry of `databases` in the configuration. */
export interface DatabaseSettings {
  readonly url: string
  readonly readOnly?: boolean
  readonly roles?: readonly string[]
  readonly description?: string
}

export interface DatabasesOptions {
  readonly settings: Readonly<Record<string, DatabaseSettings>>
  /** Databases whose settings need variables that are not set. */
  readonly unset?: Readonly<Record<string, readonly string[]>>
  readonly dataFolder: string
  readonly workspace: string
  /** Time limit of a statement, in milliseconds. The database ends it later by itself. */
  readonly timeoutMs: number
  /** Reports whether the agent has one of the roles. */
  hasRole(agentId: string, roles: readonly string[]): boolean
}

const previewRows = 10
const previewMs = 8000

/** Opens nothing before the first use. */
export function openDatabases(options: DatabasesOptions): Databases {
  const { settings, unset = {}, hasRole } = options
  const processes = new SqliteProcesses()
  const opened = new Map<string, Database>()

  const find = (name: string): { database: Database; readOnly: boolean } => {
    if (Object.hasOwn(unset, name))
      throw failure(`The database '${name}' ${needsVariables(unset[name]!)}. A person must set it.`, {
        toolCode: "database_unreachable",
      })
    const entry = Object.hasOwn(settings, name) ? settings[name] : undefined
    if (entry === undefined)
      throw failure(dialectText`There is no database '${name}'. Call ${toolRef("list_databases")} for their names.`, {
        toolCode: "database_not_found",
      })
    const database = opened.get(name) ?? open(name, entry, options, processes)
    opened.set(name, database)
    return { database, readOnly: entry.readOnly ?? false }
  }

  return {
    list: (agentId) =>
      Object.entries(settings)
        .filter(([, { roles }]) => roles === undefined || hasRole(agentId, roles))
        .map(([name, { url, readOnly = false, description }]) => ({ name, kind: kindOf(url), readOnly, description })),
    rolesOf: (name) => (Object.hasOwn(settings, name) ? settings[name]?.roles : undefined),
    describe: async (name, request) => find(name).database.describe(request),
    query: async (name, request) => find(name).database.query(request),
    async change(name, request) {
      const { database, readOnly } = find(name)
      if (readOnly) throw failure(readOnlySentence(name), { toolCode: "read_only" })
      return database.change(request)
    },
    async matchingRows(name, statement) {
      const { database, readOnly } = find(name)
      return readOnly ? { unknown: readOnlySentence(name) } : readMatching(database, statement)
    },
    async close() {
      await Promise.all([processes.close(), ...[...opened.values()].map((database) => database.close())])
    },
  }
}

function open(
  name: string,
  { url }: DatabaseSettings,
  { dataFolder, workspace, timeoutMs }: DatabasesOptions,
  processes: SqliteProcesses,
): Database {
  if (kindOf(url) === "PostgreSQL") return postgresDatabase({ name, url, timeoutMs })
  return sqliteDatabase({ name, path: sqlitePath(url), dataFolder, workspace, processes })
}

/** The files of SQLite's databases, as written and by their real paths. */
export function filesOfDatabases(settings: Readonly<Record<string, DatabaseSettings>>): string[] {
  const urls = Object.values(settings).map(({ url }) => url)
  const written = urls.filter((url) => kindOf(url) === "SQLite").map(sqlitePath)
  return [...new Set(written.flatMap((path) => [path, realPath(path)]))]
}

/** Returns the files SQLite writes beside a database. It takes over those that it finds there. */
export function journalsOf(file: string): string[] {
  return [`${file}-wal`, `${file}-shm`, `${file}-journal`]
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function sqlitePath(url: string): string {
  return resolve(url.slice("sqlite:".length))
}

function kindOf(url: string): DatabaseKind {
  return url.startsWith("sqlite:") ? "SQLite" : "PostgreSQL"
}

function readOnlySentence(name: string): string {
  return `The database '${name}' is read-only here (databases.${name}.readOnly).`
}

/** Counts and reads the rows that an UPDATE or DELETE is about, with a SELECT that has the same condition. */
async function readMatching(database: Database, statement: Statement): Promise<MatchingRows> {
  const tokens = checkStatement(statement, database.kind, "change")
  const affected = affectedRows(statement, tokens, database.kind)
  if (affected === undefined)
    return {
      unknown:
        "Which rows it changes cannot be shown without running it: it is no plain UPDATE or DELETE of one table.",
    }
  const { table, condition } = affected
  const signal = AbortSignal.timeout(previewMs)
  const read = (columns: string, limit: number) =>
    database.query({ ...selectOf(affected, columns), limit, offset: 0, signal })
  try {
    const { rows } = await read("count(*)", 1)
    const first = await read("*", previewRows)
    return { table, count: Number(rows[0]?.[0]), first, isWholeTable: condition === undefined }
  } catch (error) {
    return { unknown: `Which rows it changes could not be read. ${(error as Error).message}` }
  }
}
