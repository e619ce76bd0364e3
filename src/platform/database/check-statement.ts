import { counted } from "../../lib/counted.ts"
import { failure } from "../../core/ending.ts"
import type { DatabaseKind, Statement } from "./database-access.ts"
import { dialectText, toolRef } from "../../core/dialect-text.ts"
import { readTokens, type Token } from "./tokens.ts"

type Use = "query" | "change"

/**
 * The statements that may run, by their first word. That a query only reads is not decided here: its transaction or
 * connection is read-only. What is left out would end our transaction, or reach other files and programs: ATTACH, PRAGMA,
 * VACUUM INTO, COPY, DO, COMMIT, SET.
 */
const firstWords: Readonly<Record<DatabaseKind, Readonly<Record<Use, readonly string[]>>>> = {
  SQLite: {
    query: ["SELECT", "WITH", "VALUES", "EXPLAIN"],
    change: ["INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "ALTER", "DROP", "REINDEX", "ANALYZE"],
  },
  PostgreSQL: {
    query: ["SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW"],
    change: ["INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "SELECT", "CALL", "CREATE", "ALTER", "DROP", "TRUNCATE", "COMMENT", "REFRESH", "REINDEX", "ANALYZE"],
  },
} // prettier-ignore

/** Fails unless the text is one statement of a kind that may run, with a value for each placeholder. Returns its tokens. */
export function checkStatement({ sql, parameters }: Statement, kind: DatabaseKind, use: Use): Token[] {
  if (sql.includes("\0")) throw failure("The SQL contains a NUL character. Leave it out.", { toolCode: "bad_sql" })
  const tokens = withoutLastSemicolons(readTokens(sql, kind))
  const [first] = tokens
  if (first === undefined)
    throw failure("The SQL contains no statement. Write one, for example: select 1", { toolCode: "bad_sql" })
  if (tokens.some(({ kind: what, text }) => what === "symbol" && text === ";"))
    throw failure("The SQL contains several statements. Give one statement in each call.", {
      toolCode: "several_statements",
    })
  const allowed = firstWords[kind][use]
  const word = first.text.toUpperCase()
  if (first.kind !== "word" || !allowed.includes(word)) throw notAllowed(word, kind, use)
  if (kind === "SQLite") checkSqlite(tokens, word)
  if (use === "change") refuseSettings(tokens, kind)
  checkParameters(placeholdersOf(tokens), parameters)
  return tokens
}

/** EXPLAIN PRAGMA sets what PRAGMA sets, and this table holds the path of the file. */
function checkSqlite(tokens: readonly Token[], first: string): void {
  const explained = tokens.slice(1).find(({ text }) => !/^(query|plan)$/i.test(text))
  const word = explained?.text.toUpperCase() ?? ""
  if (first === "EXPLAIN" && !firstWords.SQLite.query.includes(word))
    throw failure("EXPLAIN is only allowed before SELECT, WITH and VALUES.", { toolCode: "statement_not_allowed" })
  if (tokens.some(({ text }) => /^\W?pragma_database_list\W?$/i.test(text)))
    throw failure("The SQL names pragma_database_list, which is not allowed: it shows the path of the file.", {
      toolCode: "statement_not_allowed",
    })
}

/**
 * A condition that reads settings can match other rows in the preview, which only reads, than in the change.
 */
function refuseSettings(tokens: readonly Token[], kind: DatabaseKind): void {
  const names =
    kind === "SQLite" ? /^\W?pragma_/i : /^\W?(current_setting|set_config|pg_settings|pg_show_all_settings)\W?$/i
  const found = tokens.find(({ kind: what, text }) => (what === "word" || what === "quoted") && names.test(text))
  if (found === undefined) return
  throw failure(
    `The SQL names ${found.text.slice(0, 60)}, which is not allowed in a change: a change must not depend on the settings of its connection. Leave it out.`,
    { toolCode: "statement_not_allowed" },
  )
}

/** The statement was rolled back, because the approver was shown fewer rows. */
export function moreRowsFailure(rows: number): Error {
  return failure(
    `The statement would have changed ${counted(rows, "row")}, more than the person was shown who approved it. Nothing was changed. Call again, so that a person sees the rows as they are now.`,
    { toolCode: "more_rows" },
  )
}

function withoutLastSemicolons(tokens: readonly Token[]): Token[] {
  return tokens.slice(0, tokens.findLastIndex(({ kind, text }) => kind !== "symbol" || text !== ";") + 1)
}

function notAllowed(word: string, kind: DatabaseKind, use: Use) {
  const { query, change } = firstWords[kind]
  if (use === "query" && change.includes(word))
    return failure(dialectText`${word} writes, and this tool only reads. Use ${toolRef("change_database")}.`, {
      toolCode: "read_only",
    })
  if (use === "change" && query.includes(word))
    return failure(dialectText`${word} only reads. Use ${toolRef("query_database")}.`, {
      toolCode: "statement_not_allowed",
    })
  const allowed = (use === "query" ? query : change).join(", ")
  return failure(
    `A statement that begins with ${word.slice(0, 40)} is not allowed here. Begin with one of: ${allowed}.`,
    {
      toolCode: "statement_not_allowed",
    },
  )
}

/** A placeholder with the number of its value, counted from 1. */
export interface Placeholder extends Token {
  readonly number: number
  /** `?` without a number. */
  readonly isCounted: boolean
}

/** The placeholders of a statement. Those with names are refused, because values come as a list. */
export function placeholdersOf(tokens: readonly Token[]): Placeholder[] {
  let counted = 0
  return tokens
    .filter(({ kind }) => kind === "parameter" || kind === "named")
    .map((token) => {
      if (token.text === "?") return { ...token, number: ++counted, isCounted: true }
      if (token.kind === "named" || !/^.\d{1,5}$/.test(token.text))
        throw failure(`The placeholder ${token.text} is not allowed. Write ? or ?1 in SQLite, $1 in PostgreSQL.`, {
          toolCode: "bad_parameters",
        })
      return { ...token, number: Number(token.text.slice(1)), isCounted: false }
    })
}

function checkParameters(placeholders: readonly Placeholder[], parameters: readonly unknown[]): void {
  if (new Set(placeholders.map(({ text }) => text.replace(/\d+/, "1"))).size > 1)
    throw failure("The SQL mixes kinds of placeholders. Use only ? or only ?1.", {
      toolCode: "bad_parameters",
    })
  const used = new Set(placeholders.map(({ number }) => number))
  const missing = parameters.findIndex((_, index) => !used.has(index + 1))
  const needed = Math.max(0, ...used)
  if (needed === parameters.length && missing === -1) return
  throw failure(
    `The SQL has placeholders for ${needed} ${needed === 1 ? "value" : "values"}, and 'parameters' has ${parameters.length}. Give a value for each placeholder, and no others.`,
    { toolCode: "bad_parameters" },
  )
}
