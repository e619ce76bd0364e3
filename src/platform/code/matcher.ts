import type { CodeKind, CodeSearch, CodeType } from "./code.ts"
import { readGlob } from "../../lib/glob.ts"

/** The quality of a match: 0 is best, undefined is no match. */
export type Rank = number | undefined

/** The meaning of a name in a search. */
export interface Matcher {
  /** Lower-case texts. A file without all of them cannot match and need not be parsed. */
  readonly literals: readonly string[]
  /** The lower-case container that the query asks for: `server` in `Server.start`. */
  readonly owner: string | undefined
  /** `lower` is the name in lower case and has all the literals. */
  name(name: string, lower: string): Rank
  path(path: string, lower: string): Rank
}

/** Reads a query. With a wildcard it is a glob over whole names; otherwise the name must contain all its words. */
export function matcherOf({ query, match }: Pick<CodeSearch, "query" | "match">): Matcher {
  const text = query.trim()
  const mode = match ?? (/[*?]/.test(text) ? "glob" : "contains")
  if (mode === "glob") return globMatcher(text)
  const { owner, name } = qualified(text)
  if (mode === "exact") {
    return {
      literals: [foldCase(name)],
      owner,
      name: (found) => (found === name ? 0 : undefined),
      path: exactPath(text),
    }
  }
  const words = wordsOf(name)
  return { literals: words.map(foldCase), owner, name: nameRank(words), path: pathRank(foldCase(text)) }
}

/** Reports whether a lower-case text has all the literals. */
export function mayMatch(lower: string, { literals }: Matcher): boolean {
  for (const literal of literals) if (!lower.includes(literal)) return false
  return true
}

/** Lower case; the final sigma becomes the usual one. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.includes("ς") ? lower.replaceAll("ς", "σ") : lower
}

/** Reports whether a declaration of that kind was asked for. */
export function matchesType(kind: CodeKind, type: CodeType): boolean {
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
  return { owner: foldCase(found[1]!.replaceAll(/::|#|->/g, ".")), name: found[2]! }
}

function nameRank(words: readonly string[]): Matcher["name"] {
  const isOne = words.length === 1
  const [whole = ""] = words
  const first = foldCase(whole)
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
    literals: text.includes("[") || text.includes("\\") ? [] : text.split(/[*?]+/).filter(Boolean).map(foldCase),
    owner: undefined,
    name: (_, lower) => (name(lower) ? 0 : undefined),
    path: (_, lower) => (path(whole ? lower : lower.slice(lower.lastIndexOf("/") + 1)) ? 0 : undefined),
  }
}

function read(text: string, kind: "text" | "path"): (text: string) => boolean {
  const glob = readGlob(foldCase(text), kind)
  if ("mistake" in glob) throw new RangeError(`The query ${glob.mistake}.`)
  return (name) => glob.glob.matches(name)
}
