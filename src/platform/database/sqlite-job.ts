import { existsSync } from "node:fs"
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite"
import { errorMessage } from "../../lib/error-message.ts"
import type { Sqlite } from "../../lib/load-sqlite.ts"
import type { Change, Column, Description, RowPage } from "./database-access.ts"
import { isSame, type CheckedFile } from "./own-files.ts"
import { parsedJson } from "./json-text.ts"
import { checkRowSize, PageBuilder, pageLimits } from "./page-builder.ts"
import { describeTables } from "./sqlite-tables.ts"

/** The job of the process that runs SQLite. The statement was checked before. */
export type SqliteJob = { readonly file: CheckedFile; readonly lockMs: number } & (
  | ({ readonly kind: "query"; readonly limit: number; readonly offset: number } & BoundStatement)
  | ({ readonly kind: "change"; readonly shownRows?: number } & BoundStatement)
  | { readonly kind: "describe"; readonly table?: string; readonly limit: number; readonly offset: number }
)

export interface BoundStatement {
  readonly sql: string
  /** A list for `?`, values by placeholder for `?1`. */
  readonly values: readonly SqliteValue[] | Readonly<Record<string, SqliteValue>>
}

export type SqliteValue = string | number | bigint | null

export type SqliteAnswer =
  | { readonly result: RowPage | Change | Description }
  | {
      readonly error: string
      readonly errcode?: number
      readonly tooLarge?: true
      /** The number of rows it would have changed: more than were shown. */
      readonly moreRows?: number
    }

class MoreRowsError extends Error {
  readonly rows: number

  constructor(rows: number) {
    super("more rows than were shown")
    this.rows = rows
  }
}

/** Runs one job on a connection of its own. */
export function runSqliteJob(job: SqliteJob, sqlite: Sqlite): SqliteAnswer {
  try {
    return { result: resultOf(job, sqlite) }
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message, tooLarge: true }
    if (error instanceof MoreRowsError) return { error: error.message, moreRows: error.rows }
    return { error: errorMessage(error), errcode: codeOf(error) }
  }
}

function resultOf(job: SqliteJob, sqlite: Sqlite): RowPage | Change | Description {
  if (job.kind === "change") return withDatabase(job, sqlite, "change", (database) => change(database, job))
  const read = () =>
    withDatabase(job, sqlite, "read", (database) =>
      job.kind === "describe" ? describeTables(database, job) : readPage(prepare(database, job), job),
    )
  try {
    return read()
  } catch (error) {
    if (codeOf(error) !== leftUnfinished) throw error
    // A connection that only reads cannot undo what a stopped change has left in the file.
    withDatabase(job, sqlite, "change", (database) => database.exec("begin immediate; rollback"))
    return read()
  }
}

/** SQLITE_READONLY_ROLLBACK: a change was stopped in the middle. */
const leftUnfinished = 776

function withDatabase<Result>(
  { file, lockMs }: SqliteJob,
  { DatabaseSync }: Sqlite,
  use: "read" | "change",
  work: (database: DatabaseSyncInstance) => Result,
): Result {
  // Opening for writing would create it.
  if (!existsSync(file.path)) throw cannotOpen()
  const database = new DatabaseSync(file.path, { readOnly: use === "read", timeout: lockMs })
  try {
    // A link may have been put in its place after the check.
    if (!isSame(file.path, file)) throw cannotOpen()
    database.exec(`pragma trusted_schema = off${use === "read" ? "; pragma query_only = on" : ""}`)
    return work(database)
  } finally {
    database.close()
  }
}

function cannotOpen(): Error {
  return Object.assign(new Error("unable to open database file"), { errcode: 14 })
}

/** The extended code, which the two builds name differently. Errors while rows are read have only SQLite's own words. */
function codeOf(error: unknown): number | undefined {
  const { errcode, sqliteExtendedCode, message } = error as SqliteError
  return sqliteExtendedCode ?? errcode ?? (message === undefined ? undefined : codesByText[message])
}

interface SqliteError {
  readonly errcode?: number
  readonly sqliteExtendedCode?: number
  readonly message?: string
}

const codesByText: Readonly<Record<string, number>> = {
  "database is locked": 5,
  "attempt to write a readonly database": 8,
}

function prepare(database: DatabaseSyncInstance, { sql }: BoundStatement): StatementSyncInstance {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

function readPage(
  statement: StatementSyncInstance,
  { values, limit, offset }: Extract<SqliteJob, { kind: "query" }>,
): RowPage {
  const page = new PageBuilder(limit)
  const columns = columnsOf(statement)
  let skipped = 0
  for (const row of rowsOf(statement, values)) {
    if (skipped++ < offset) continue
    if (!page.add(jsonRow(row, columns))) break
  }
  return page.finish(columns)
}

function change(database: DatabaseSyncInstance, job: Extract<SqliteJob, { kind: "change" }>): Change {
  database.exec("begin immediate")
  const statement = prepare(database, job)
  const columns = columnsOf(statement)
  const page = new PageBuilder(pageLimits.returnedRows)
  for (const row of rowsOf(statement, job.values)) page.add(jsonRow(row, columns))
  const { changed } = database.prepare("select changes() as changed").get() as { changed: number }
  if (changed > (job.shownRows ?? Infinity)) {
    database.exec("rollback")
    throw new MoreRowsError(changed)
  }
  database.exec("commit")
  return { changedRows: changed, ...(columns.length === 0 ? {} : { returned: page.finish(columns) }) }
}

function rowsOf(statement: StatementSyncInstance, values: BoundStatement["values"]): Iterable<unknown[]> {
  const given = Array.isArray(values) ? (values as SqliteValue[]) : [values as Record<string, SqliteValue>]
  return statement.iterate(...(given as never[])) as unknown as Iterable<unknown[]>
}

function columnsOf(statement: StatementSyncInstance): Column[] {
  return statement.columns().map(({ name, type }) => ({ name, type: (type ?? "").toLowerCase() }))
}

function jsonRow(row: readonly unknown[], columns: readonly Column[]): unknown[] {
  checkRowSize(row)
  return row.map((value, index) => jsonValue(value, columns[index]?.type ?? ""))
}

/** A value of SQLite as JSON keeps it. */
function jsonValue(value: unknown, type: string): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64")
  return typeof value === "string" && type === "json" ? parsedJson(value) : value
}
