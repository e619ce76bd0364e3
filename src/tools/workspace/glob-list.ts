import { failure, ToolFailure } from "../../core/ending.ts"
import { readGlob, type Glob } from "../../lib/glob.ts"

/**
 * A list of globs over paths: `*.ts` matches a name in any folder, `src/*.ts` a path from the searched folder, `{a,b}`
 * either alternative. Hidden and ignored files are handled elsewhere.
 */
export interface GlobList {
  /** Matches everything, so that `matches` need not be called. */
  readonly matchesAll: boolean
  /** Globs over the last name, of which one matches every matching path; undefined if there are none. */
  readonly nameGlobs: readonly string[] | undefined
  /** True if a path whose last name matches one of `nameGlobs` always matches. */
  readonly byNameAlone: boolean
  /** The folder that contains all matching paths; empty if the globs name none. */
  readonly folder: string
  /** The mistake of a glob. ripgrep runs first, because its message is better. */
  readonly mistake: Error | undefined
  matches(path: string): boolean
}

export function readGlobs(patterns: readonly string[]): GlobList {
  try {
    return globsOf(patterns)
  } catch (mistake) {
    if (!(mistake instanceof ToolFailure)) throw mistake
    return { matchesAll: false, nameGlobs: patterns, byNameAlone: true, folder: "", mistake, matches: () => false }
  }
}

function globsOf(patterns: readonly string[]): GlobList {
  const plain = patterns.flatMap(alternativesOf).map(anchored)
  const globs = plain.map(compiled)
  const last = plain.map((pattern) => pattern.slice(pattern.lastIndexOf("/") + 1))
  return {
    matchesAll: plain.some((pattern) => everything.has(pattern)),
    nameGlobs: last.some((name) => name.includes("**") || name === "" || /[\\[\]]/.test(name)) ? undefined : last,
    byNameAlone: plain.every((pattern) => pattern.lastIndexOf("/") === 2 && pattern.startsWith("**/")),
    folder: sharedFolder(plain),
    mistake: undefined,
    matches: (path) => globs.some((glob) => glob.matches(path)),
  }
}

const everything: ReadonlySet<string> = new Set(["**", "**/*", "**/**"])
const maxAlternatives = 200
const maxDepth = 20

/** A name matches anywhere, a path from the searched folder, a folder everything in it. */
function anchored(pattern: string): string {
  const fromHere = pattern.replace(/^(\.?\/)+/, "")
  if (fromHere === "" || fromHere === ".") return "**"
  const whole = fromHere.endsWith("/") ? `${fromHere}**` : fromHere
  return whole.includes("/") || pattern !== fromHere ? whole : whole === "**" ? whole : `**/${whole}`
}

function compiled(pattern: string): Glob {
  if (pattern.split("/").includes("..")) {
    throw badGlob(pattern, "leads out of the searched folder; name that folder in path instead")
  }
  const read = readGlob(pattern, "path")
  if ("glob" in read) return read.glob
  throw badGlob(pattern, read.mistake)
}

function badGlob(pattern: string, mistake: string): Error {
  return failure(`The glob '${pattern}' ${mistake}. Write for example *.ts, src/**/*.test.ts or *.{js,ts}.`, {
    toolCode: "bad_pattern",
  })
}

/** The folders before the first wildcard that all patterns share. */
function sharedFolder(patterns: readonly string[]): string {
  const folders = patterns.map((pattern) => {
    const wild = pattern.search(/[*?[\\]/)
    const written = wild === -1 ? pattern : pattern.slice(0, wild)
    return written.split("/").slice(0, -1)
  })
  const [first = [], ...others] = folders
  const count = first.findIndex((step, at) => others.some((other) => other[at] !== step))
  const shared = count === -1 ? first : first.slice(0, count)
  return shared.includes("..") || shared.includes("") ? "" : shared.join("/")
}

/** Expands `a{b,c}d` to `abd` and `acd`. Braces may be nested; after `\` or in `[…]` they are literal. */
function alternativesOf(pattern: string): string[] {
  const refuse = (mistake: string) => {
    throw badGlob(pattern, mistake)
  }
  const { texts, at } = sequence(pattern, 0, 0, refuse)
  if (at < pattern.length) refuse("has a '}' that nothing opens")
  return texts
}

function sequence(
  pattern: string,
  start: number,
  depth: number,
  refuse: (mistake: string) => void,
): { texts: string[]; at: number } {
  let texts = [""]
  let at = start
  const add = (more: readonly string[]) => {
    texts = texts.flatMap((text) => more.map((one) => text + one))
    if (texts.length > maxAlternatives) refuse(`has more than ${maxAlternatives} alternatives`)
  }
  while (at < pattern.length) {
    const character = pattern[at]!
    if (character === "}" || (depth > 0 && character === ",")) break
    if (character === "{") {
      const inner = choices(pattern, at + 1, depth + 1, refuse)
      add(inner.texts)
      at = inner.at
    } else {
      const end = character === "\\" ? at + 2 : character === "[" ? setEnd(pattern, at) : at + 1
      add([pattern.slice(at, end)])
      at = end
    }
  }
  return { texts, at }
}

function choices(
  pattern: string,
  start: number,
  depth: number,
  refuse: (mistake: string) => void,
): { texts: string[]; at: number } {
  const texts: string[] = []
  if (depth > maxDepth) refuse(`has braces nested more than ${maxDepth} deep`)
  for (let at = start; ;) {
    const one = sequence(pattern, at, depth, refuse)
    texts.push(...one.texts)
    if (pattern[one.at] === "}") return { texts, at: one.at + 1 }
    if (one.at >= pattern.length) break
    at = one.at + 1
  }
  refuse("has a '{' that is not closed")
  return { texts, at: pattern.length }
}

/** The offset after the `]` of a set. An unclosed one goes to the end and is refused when it is read. */
function setEnd(pattern: string, start: number): number {
  const first = pattern[start + 1] === "!" || pattern[start + 1] === "^" ? start + 2 : start + 1
  const end = pattern.indexOf("]", first + 1)
  return end === -1 ? pattern.length : end + 1
}
