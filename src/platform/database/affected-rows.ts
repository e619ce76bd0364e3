import type { DatabaseKind, Statement } from "../../model/databases.ts"
import { placeholdersOf } from "./check-statement.ts"
import type { Token } from "./tokens.ts"

/** The rows an UPDATE or DELETE is about: what stands after FROM in a SELECT of them, and the condition. */
export interface AffectedRows {
  readonly table: string
  /** The table with its alias. */
  readonly from: string
  readonly condition?: Statement | undefined
}

/**
 * Reads the outline of an UPDATE or DELETE of one table. Undefined for every other statement, and for those that join or
 * limit: what they change is not told by their condition alone. The condition itself is read by the database.
 */
export function affectedRows(
  { sql, parameters }: Statement,
  tokens: readonly Token[],
  kind: DatabaseKind,
): AffectedRows | undefined {
  const reader = new Reader(tokens)
  const isUpdate = reader.takes("UPDATE")
  if (!isUpdate && !(reader.takes("DELETE") && reader.takes("FROM"))) return undefined
  const begin = reader.next
  if (kind === "PostgreSQL") reader.takes("ONLY")
  const name = reader.takeName()
  if (begin === undefined || name === undefined) return undefined
  const last = reader.takeAlias() ?? name.last
  if (isUpdate && !(reader.takes("SET") && reader.skipAssignments())) return undefined
  const rows = { table: sql.slice(name.first.start, name.last.end), from: sql.slice(begin.start, last.end) }
  if (reader.isAtEnd()) return rows
  const start = reader.next
  if (start === undefined || !reader.takes("WHERE")) return undefined
  const inside = reader.takeCondition()
  if (inside === undefined) return undefined
  return { ...rows, condition: renumbered({ sql, parameters }, inside, placeholdersOf(tokens)) }
}

const clauses = ["WHERE", "RETURNING", "FROM", "USING", "ORDER", "LIMIT", "INDEXED", "NOT", "SET", "AS"]

class Reader {
  #at = 0
  readonly #tokens: readonly Token[]

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get next(): Token | undefined {
    return this.#tokens[this.#at]
  }

  takes(keyword: string): boolean {
    const isNext = isWord(this.next, keyword)
    if (isNext) this.#at++
    return isNext
  }

  isAtEnd(): boolean {
    return this.next === undefined || isWord(this.next, "RETURNING")
  }

  /** A name, with a schema before it or not. */
  takeName(): { first: Token; last: Token } | undefined {
    const first = this.#takeIdentifier()
    if (first === undefined) return undefined
    let last = first
    while (this.next?.text === ".") {
      this.#at++
      const part = this.#takeIdentifier()
      if (part === undefined) return undefined
      last = part
    }
    return { first, last }
  }

  takeAlias(): Token | undefined {
    if (this.takes("AS")) return this.#takeIdentifier()
    return clauses.some((clause) => isWord(this.next, clause)) ? undefined : this.#takeIdentifier()
  }

  /** Up to WHERE, RETURNING or the end. False if other tables, or an order, come before. */
  skipAssignments(): boolean {
    return this.#skipTo(["WHERE", "RETURNING"]) !== undefined
  }

  /** The tokens up to RETURNING or the end. */
  takeCondition(): readonly Token[] | undefined {
    const taken = this.#skipTo(["RETURNING"])
    return taken === undefined || taken.length === 0 ? undefined : taken
  }

  #takeIdentifier(): Token | undefined {
    const { next } = this
    if (next?.kind !== "word" && next?.kind !== "quoted") return undefined
    this.#at++
    return next
  }

  /** Skips to a word outside all brackets. Undefined if the brackets do not match, or another clause comes first. */
  #skipTo(ends: readonly string[]): readonly Token[] | undefined {
    const from = this.#at
    let depth = 0
    for (; this.next !== undefined; this.#at++) {
      const { kind, text } = this.next
      if (kind === "broken") return undefined
      if (kind === "symbol" && (text === "(" || text === "[")) depth++
      if (kind === "symbol" && (text === ")" || text === "]")) depth--
      if (depth < 0) return undefined
      if (depth > 0 || kind !== "word" || this.#tokens[this.#at - 1]?.text === ".") continue
      if (ends.some((end) => isWord(this.next, end))) return this.#tokens.slice(from, this.#at)
      const isDistinctFrom = isWord(this.next, "FROM") && isWord(this.#tokens[this.#at - 1], "DISTINCT")
      if (!isDistinctFrom && others.some((clause) => isWord(this.next, clause))) return undefined
    }
    return depth === 0 ? this.#tokens.slice(from) : undefined
  }
}

const others = ["FROM", "WHERE", "ORDER", "LIMIT", "OFFSET", "GROUP", "UNION", "INTERSECT", "EXCEPT", "FETCH", "FOR"]

function isWord(token: Token | undefined, keyword: string): boolean {
  return token?.kind === "word" && token.text.toUpperCase() === keyword
}

/** The condition as a statement's own: its placeholders count from 1, with only the values that it uses. */
function renumbered(
  { sql, parameters }: Statement,
  inside: readonly Token[],
  placeholders: readonly ReturnType<typeof placeholdersOf>[number][],
): Statement {
  const { start } = inside[0]!
  const { end } = inside.at(-1)!
  const own = placeholders.filter((one) => one.start >= start && one.end <= end)
  const numbers = [...new Set(own.map(({ number }) => number))]
  let text = ""
  let at = start
  for (const { number, isCounted, text: written, ...place } of own) {
    const mark = isCounted ? "?" : `${written[0]}${numbers.indexOf(number) + 1}`
    text += sql.slice(at, place.start) + mark
    at = place.end
  }
  return { sql: text + sql.slice(at, end), parameters: numbers.map((number) => parameters[number - 1]) }
}
