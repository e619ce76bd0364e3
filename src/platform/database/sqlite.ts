import { failure } from "../../core/ending.ts"
import type { Change, Database, Description, RowPage, Statement } from "./database-access.ts"
import { checkStatement, moreRowsFailure, placeholdersOf } from "./check-statement.ts"
import { databaseFile, type OwnFolders } from "./own-files.ts"
import type { BoundStatement, SqliteAnswer, SqliteJob, SqliteValue } from "./sqlite-job.ts"
import type { SqliteProcesses } from "./sqlite-processes.ts"
import type { Token } from "./tokens.ts"

export interface SqliteOptions extends OwnFolders {
  readonly name: string
  readonly path: string
  readonly processes: SqliteProcesses
  /** Time to wait while another program holds the lock. */
  readonly lockMs?: number
}

/** A SQLite file. Queries use a read-only connection with `query_only`. */
export function sqliteDatabase(options: SqliteOptions): Database {
  const { name, path, processes, lockMs = 5000 } = options
  const run = async <Result>(job: WithoutFile<SqliteJob>, signal: AbortSignal): Promise<Result> => {
    const file = databaseFile(name, path, options)
    const answer = await processes.run({ ...job, file, lockMs } as SqliteJob, signal)
    if ("error" in answer) throw asFailure(name, answer)
    return answer.result as Result
  }
  return {
    kind: "SQLite",
    describe: ({ table, limit, offset, signal }) =>
      run<Description>({ kind: "describe", table, limit, offset }, signal),
    async query({ limit, offset, signal, ...statement }) {
      const tokens = checkStatement(statement, "SQLite", "query")
      return run<RowPage>({ kind: "query", limit, offset, ...bound(statement, tokens) }, signal)
    },
    async change({ signal, shownRows, ...statement }) {
      const tokens = checkStatement(statement, "SQLite", "change")
      return run<Change>({ kind: "change", shownRows, ...bound(statement, tokens) }, signal)
    },
    // The processes are shared.
    close: async () => {},
  }
}

type WithoutFile<Job> = Job extends unknown ? Omit<Job, "file" | "lockMs"> : never

/** `?` takes its values from a list, `?1` by its own text. */
function bound({ sql, parameters }: Statement, tokens: readonly Token[]): BoundStatement {
  const values = parameters.map(sqliteValue)
  const placeholders = placeholdersOf(tokens)
  if (placeholders.every(({ isCounted }) => isCounted)) return { sql, values }
  return { sql, values: Object.fromEntries(placeholders.map(({ text, number }) => [text, values[number - 1] ?? null])) }
}

function sqliteValue(value: unknown): SqliteValue {
  if (typeof value === "boolean") return value ? 1 : 0
  if (typeof value === "string" || value === null) return value
  // As a bigint it is stored as an integer.
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  return JSON.stringify(value)
}

const busy = 5
const readOnly = 8
const cannotOpen = 14
const notADatabase = 26
const inputOutput = 10

function asFailure(name: string, answer: Extract<SqliteAnswer, { error: string }>): Error {
  const { error, errcode = 0, tooLarge, moreRows } = answer
  if (moreRows !== undefined) return moreRowsFailure(moreRows)
  if (tooLarge === true) return failure(error, { toolCode: "row_too_large" })
  // The last byte is the primary code.
  switch (errcode & 0xff) {
    case busy:
      return failure(`The database '${name}' is locked by another program. Try again later.`, {
        toolCode: "database_locked",
        transient: true,
      })
    case readOnly:
      return failure(`The database did not allow it: ${error}. This statement may only read.`, {
        toolCode: "read_only",
      })
    case cannotOpen:
    case notADatabase:
    case inputOutput:
      return failure(
        `The file of the database '${name}' cannot be opened as a SQLite database. A person must check it.`,
        {
          toolCode: "database_unreachable",
        },
      )
    default:
      return failure(`The database refused the statement: ${error}.`, { toolCode: "sql_error" })
  }
}
