import type { DatabaseKind } from "./database-access.ts"

/**
 * A piece of SQL text. `escaped` is a string with escapes, `named` a placeholder with a name, `broken` a text or comment
 * that never ends.
 */
export interface Token {
  readonly kind: "word" | "quoted" | "string" | "escaped" | "number" | "parameter" | "named" | "symbol" | "broken"
  readonly text: string
  readonly start: number
  readonly end: number
}

type Pattern = readonly [kind: Token["kind"] | "space", pattern: RegExp]

const word: Pattern = ["word", /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y]
const number: Pattern = ["number", /(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*/y]
const string: Pattern = ["string", /'(?:[^']|'')*'/y]
const quoted: Pattern = ["quoted", /"(?:[^"]|"")*"/y]

/** The tokens of SQL, as each database reads it. The first pattern that fits counts. */
const patterns: Readonly<Record<DatabaseKind, readonly Pattern[]>> = {
  SQLite: [
    // A byte order mark between two tokens is a space too.
    ["space", /[ \t\n\f\r\v\ufeff]+/y],
    ["space", /--[^\n]*/y],
    ["space", /\/\*[^]*?(?:\*\/|$)/y],
    string,
    quoted,
    ["quoted", /`(?:[^`]|``)*`|\[[^\]]*\]/y],
    ["parameter", /\?\d*/y],
    // The end of the name does not matter, because it is refused.
    ["named", /[:@$#][\w$\u0080-\uffff]*/y],
    number,
    word,
    ["broken", /['"`[][^]*/y],
    ["symbol", /[^]/y],
  ],
  PostgreSQL: [
    ["space", /[ \t\n\f\r\v]+/y],
    ["space", /--[^\n\r]*/y],
    ["escaped", /[eE]'(?:[^'\\]|\\[^]|'')*'/y],
    ["broken", /[eE]'[^]*/y],
    string,
    quoted,
    ["string", /\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[^]*?\$\1\$/y],
    ["parameter", /\$\d+/y],
    number,
    word,
    ["broken", /(?:['"]|\/\*|\$[A-Za-z_$])[^]*/y],
    ["symbol", /[^]/y],
  ],
}

/** The tokens of a text, without spaces and comments. */
export function readTokens(sql: string, kind: DatabaseKind): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < sql.length;) {
    const comment = kind === "PostgreSQL" ? nestedCommentEnd(sql, at) : undefined
    if (comment !== undefined) {
      at = comment
      continue
    }
    const [found, end] = match(sql, at, patterns[kind])
    if (found !== "space") tokens.push({ kind: found, text: sql.slice(at, end), start: at, end })
    at = end
  }
  return tokens
}

function match(sql: string, at: number, all: readonly Pattern[]): [Pattern[0], number] {
  for (const [kind, pattern] of all) {
    pattern.lastIndex = at
    if (pattern.test(sql)) return [kind, pattern.lastIndex]
  }
  throw new Error("The last pattern fits everything.")
}

/** Finds the end of a comment that may hold comments; undefined where there is none, or none that ends. */
function nestedCommentEnd(sql: string, start: number): number | undefined {
  if (!sql.startsWith("/*", start)) return undefined
  const marks = /\/\*|\*\//g
  marks.lastIndex = start
  for (let depth = 0, mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return undefined
}
