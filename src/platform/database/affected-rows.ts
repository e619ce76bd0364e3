import type { DatabaseKind, Statement } from "./database-access.ts"
import { placeholdersOf } from "./check-statement.ts"
import type { Token } from "./tokens.ts"

/** The rows an UPDATE or DELETE is about: what stands after FROM in a SELECT of them, and the condition. */
export interface AffectedRows {
  readonly table: string
  /** The table with its alias. */
  readonly from: string
  readonly condition?: Statement
}

/**
 * Reads the outline of an UPDATE or DELETE of one table. Undefined for every other statement, and for those that join
 * or limit: what they change is not told by their condition alone. The condition itself is read by the database.
 */
export function affectedRows(
  { sql, parameters }: Statement,
  tokens: readonly Token[],
  kind: DatabaseKind,
): AffectedRows | undefined {
  if (tokens.some(isUnsure) || (kind === "PostgreSQL" && sql.includes("\r"))) return undefined
  const reader = new Reader(tokens)
  const isUpdate = reader.takes("UPDATE")
  if (!isUpdate && !(reader.takes("DELETE") && reader.takes("FROM"))) return undefined
  const begin = reader.next
  if (kind === "PostgreSQL") reader.takes("ONLY")
  const name = reader.takeName()
  if (begin === undefined || name === undefined) return undefined
  const last = reader.takeAlias() ?? name.last
  if (isUpdate && !(reader.takes("SET") && reader.skipAssignments())) return undefined
  const rows = { table: name.text, from: sql.slice(begin.start, last.end) }
  if (reader.isAtEnd()) return rows
  const start = reader.next
  if (start === undefined || !reader.takes("WHERE")) return undefined
  const inside = reader.takeCondition()
  if (inside === undefined) return undefined
  return { ...rows, condition: renumbered({ sql, parameters }, inside, placeholdersOf(tokens)) }
}

/** A SELECT of these rows. The condition stands in brackets of its own, and is read by the database. */
export function selectOf({ from, condition }: AffectedRows, columns: string): Statement {
  const where = condition === undefined ? "" : ` where (${condition.sql}\n)`
  return { sql: `select ${columns} from ${from}${where}`, parameters: condition?.parameters ?? [] }
}

/**
 * Reports whether servers of other versions read it in another way: a string with escapes may go on in the next line,
 * and a word may follow directly on a number.
 */
function isUnsure({ kind, text }: Token): boolean {
  return kind === "escaped" || (kind === "number" && !/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text))
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
  takeName(): { text: string; last: Token } | undefined {
    let last = this.#takeIdentifier()
    let text = last?.text ?? ""
    while (last !== undefined && this.next?.text === ".") {
      this.#at++
      last = this.#takeIdentifier()
      text += `.${last?.text ?? ""}`
    }
    return last === undefined ? undefined : { text, last }
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
    /** The brackets that close those that are open. */
    const open: string[] = []
    for (; this.next !== undefined; this.#at++) {
      const { kind, text } = this.next
      if (kind === "broken") return undefined
      if (kind === "symbol" && text === "(") open.push(")")
      if (kind === "symbol" && text === "[") open.push("]")
      if (kind === "symbol" && (text === ")" || text === "]") && open.pop() !== text) return undefined
      if (open.length > 0 || kind !== "word" || this.#before(1)?.text === ".") continue
      if (ends.some((end) => isWord(this.next, end))) return this.#tokens.slice(from, this.#at)
      if (!this.#isDistinctFrom() && others.some((clause) => isWord(this.next, clause))) return undefined
    }
    return open.length === 0 ? this.#tokens.slice(from) : undefined
  }

  #before(steps: number): Token | undefined {
    return this.#tokens[this.#at - steps]
  }

  /** Reports whether the next word is the FROM of IS DISTINCT FROM. */
  #isDistinctFrom(): boolean {
    const isComparison = isWord(this.#before(2), "IS") || isWord(this.#before(2), "NOT")
    return isWord(this.next, "FROM") && isWord(this.#before(1), "DISTINCT") && isComparison
  }
}

const others = ["FROM", "WHERE", "ORDER", "LIMIT", "OFFSET", "GROUP", "UNION", "INTERSECT", "EXCEPT", "FETCH", "FOR"]

/** Keywords have ASCII letters only, and other letters may have those as capitals. */
function isWord(token: Token | undefined, keyword: string): boolean {
  return token?.kind === "word" && /^\w+$/.test(token.text) && token.text.toUpperCase() === keyword
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
