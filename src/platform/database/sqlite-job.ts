import { existsSync } from "node:fs"
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite"
import { errorMessage } from "../../lib/error-message.ts"
import type { Sqlite } from "../../lib/load-sqlite.ts"
import type { Change, Column, Description, RowPage } from "../../model/databases.ts"
import { parsedJson } from "./json-text.ts"
import { checkRowSize, PageBuilder, pageLimits } from "./page-builder.ts"
import { describeTables } from "./sqlite-tables.ts"

/** What the process that runs SQLite is asked to do. The statement was checked before. */
export type SqliteJob = { readonly file: string; readonly lockMs: number } & (
  | ({ readonly kind: "query"; readonly limit: number; readonly offset: number } & BoundStatement)
  | ({ readonly kind: "change" } & BoundStatement)
  | { readonly kind: "describe"; readonly table?: string | undefined; readonly limit: number; readonly offset: number }
)

export interface BoundStatement {
  readonly sql: string
  /** A list for `?`, values by placeholder for `?1` and `$1`. */
  readonly values: readonly SqliteValue[] | Readonly<Record<string, SqliteValue>>
}

export type SqliteValue = string | number | bigint | null

export type SqliteAnswer =
  | { readonly result: RowPage | Change | Description }
  | { readonly error: string; readonly errcode?: number | undefined; readonly tooLarge?: true }

/** Memory that a statement may use inside SQLite. */
const memoryBytes = 256 * 1024 * 1024

/** Runs one job on a connection of its own. */
export function runSqliteJob(job: SqliteJob, { DatabaseSync }: Sqlite): SqliteAnswer {
  let database: DatabaseSyncInstance | undefined
  try {
    // Opening for writing would create it.
    if (!existsSync(job.file)) return { error: "unable to open database file", errcode: 14 }
    database = new DatabaseSync(job.file, { readOnly: job.kind !== "change", timeout: job.lockMs })
    database.exec(`pragma hard_heap_limit = ${memoryBytes}; pragma trusted_schema = off`)
    if (job.kind === "change") return { result: change(database, job) }
    database.exec("pragma query_only = on")
    if (job.kind === "describe") return { result: describeTables(database, job) }
    return { result: readPage(prepare(database, job), job) }
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message, tooLarge: true }
    return { error: errorMessage(error), errcode: codeOf(error) }
  } finally {
    database?.close()
  }
}

/** Errors while rows are read have no code, only SQLite's own words. */
function codeOf(error: unknown): number | undefined {
  const { errcode, message } = error as { errcode?: number; message?: string }
  return errcode ?? (message === undefined ? undefined : codesByText[message])
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
