import type { CodeKind, CodeSearch, CodeType } from "../../model/code.ts"
import { readGlob } from "../../model/glob.ts"

/** How well something fits: 0 is best; undefined does not fit. */
export type Rank = number | undefined

/** What a search means by a name. */
export interface Matcher {
  /** Texts in small letters: a file without one of them declares nothing that fits, and need not be parsed. */
  readonly literals: readonly string[]
  /** What the declaration must stand in, in small letters, where the query says so: `Server.start`. */
  readonly owner: string | undefined
  /** `lower` is the same in small letters, and has all the literals. */
  name(name: string, lower: string): Rank
  path(path: string, lower: string): Rank
}

/** Reads a query. A wildcard in it makes it a glob over whole names; several words must all be in the name. */
export function matcherOf({ query, match }: Pick<CodeSearch, "query" | "match">): Matcher {
  const text = query.trim()
  const how = match ?? (/[*?]/.test(text) ? "glob" : "contains")
  if (how === "glob") return globMatcher(text)
  const { owner, name } = qualified(text)
  if (how === "exact") {
    return { literals: [small(name)], owner, name: (one) => (one === name ? 0 : undefined), path: exactPath(text) }
  }
  const words = wordsOf(name)
  return { literals: words.map(small), owner, name: nameRank(words), path: pathRank(small(text)) }
}

/** Whether a text in small letters has all that a fitting name has. */
export function mayFit(lower: string, { literals }: Matcher): boolean {
  for (const literal of literals) if (!lower.includes(literal)) return false
  return true
}

/** Small letters, the same wherever a letter stands. */
export function small(text: string): string {
  const lower = text.toLowerCase()
  return lower.includes("ς") ? lower.replaceAll("ς", "σ") : lower
}

/** Whether a declaration of that kind was asked for. */
export function fitsType(kind: CodeKind, type: CodeType): boolean {
  return type === "all" || type === typeOf(kind)
}

function typeOf(kind: CodeKind): CodeType | undefined {
  if (kind === "function" || kind === "method" || kind === "macro") return "function"
  if (kind === "variable" || kind === "constant" || kind === "field") return "variable"
  if (kind === "file") return "file"
  return kind === "text" ? undefined : "class"
}

const keywords = /^(?:async\s+)?(?:function|class|def|fn|func|struct|interface|enum|trait|type|const|let|var)\s+(?=\S)/

function wordsOf(text: string): string[] {
  return text.replace(keywords, "").split(/\s+/)
}

/** `Server.start`, `Server::start` and `Server#start` mean what is called start in Server; `start()` means start. */
function qualified(text: string): { owner: string | undefined; name: string } {
  const bare = text.replace(/\(\s*\)$/, "")
  const found = /^(.*[\p{ID_Continue}$>])(?:\.|::|#|->)(~?[\p{ID_Start}_$][\p{ID_Continue}$]*)$/u.exec(bare)
  if (found === null || /\s/.test(bare)) return { owner: undefined, name: bare === "" ? text : bare }
  return { owner: small(found[1]!.replaceAll(/::|#|->/g, ".")), name: found[2]! }
}

function nameRank(words: readonly string[]): Matcher["name"] {
  const isOne = words.length === 1
  const [whole = ""] = words
  const first = small(whole)
  return (name, lower) => {
    if (isOne && lower === first) return name === whole ? 0 : 1
    return lower.startsWith(first) ? 2 : 3
  }
}

function pathRank(wanted: string): Matcher["path"] {
  const words = wanted.split(/\s+/)
  return (_, lower) => {
    if (!words.every((word) => lower.includes(word))) return undefined
    const name = lower.slice(lower.lastIndexOf("/") + 1)
    if (name === wanted || lower === wanted) return 0
    if (stem(name) === wanted) return 1
    return name.startsWith(wanted) ? 2 : 3
  }
}

function exactPath(text: string): Matcher["path"] {
  return (path) => (path === text || path.endsWith(`/${text}`) ? 0 : undefined)
}

function stem(name: string): string {
  const dot = name.indexOf(".", 1)
  return dot === -1 ? name : name.slice(0, dot)
}

function globMatcher(text: string): Matcher {
  const name = read(text, "text")
  const path = read(text, "path")
  const whole = text.includes("/")
  return {
    literals: text.includes("[") || text.includes("\\") ? [] : text.split(/[*?]+/).filter(Boolean).map(small),
    owner: undefined,
    name: (_, lower) => (name(lower) ? 0 : undefined),
    path: (_, lower) => (path(whole ? lower : lower.slice(lower.lastIndexOf("/") + 1)) ? 0 : undefined),
  }
}

function read(text: string, kind: "text" | "path"): (text: string) => boolean {
  const glob = readGlob(small(text), kind)
  if ("mistake" in glob) throw new RangeError(`The query ${glob.mistake}.`)
  return (one) => glob.glob.matches(one)
}
