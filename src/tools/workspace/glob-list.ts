import { failure, ToolFailure } from "../../model/ending.ts"
import { readGlob, type Glob } from "../../model/glob.ts"

/**
 * A list of globs over paths: `*.ts` fits a name in any folder, `src/*.ts` a path from the folder that is searched, and
 * `{a,b}` either of them. Nothing is told by them about hidden or ignored files.
 */
export interface GlobList {
  /** Fits nearly everything, so that nobody need ask. */
  readonly all: boolean
  /** Globs over the last name alone, one of which fits every path that fits; undefined when nothing can be said. */
  readonly names: readonly string[] | undefined
  /** Whether a path whose last name fits one of `names` fits for certain. */
  readonly byNameAlone: boolean
  /** The folder all paths that fit are in; empty when there is none that is written out. */
  readonly folder: string
  /** What is wrong with one of them. ripgrep is asked first, for its own words. */
  readonly mistake: Error | undefined
  fits(path: string): boolean
}

export function readGlobs(patterns: readonly string[]): GlobList {
  try {
    return globsOf(patterns)
  } catch (mistake) {
    if (!(mistake instanceof ToolFailure)) throw mistake
    return { all: false, names: patterns, byNameAlone: true, folder: "", mistake, fits: () => false }
  }
}

function globsOf(patterns: readonly string[]): GlobList {
  const plain = patterns.flatMap(alternativesOf).map(anchored)
  const globs = plain.map(compiled)
  const last = plain.map((pattern) => pattern.slice(pattern.lastIndexOf("/") + 1))
  return {
    all: plain.some((pattern) => everything.has(pattern)),
    names: last.some((name) => name.includes("**") || name === "" || /[\\[\]]/.test(name)) ? undefined : last,
    byNameAlone: plain.every((pattern) => pattern.lastIndexOf("/") === 2 && pattern.startsWith("**/")),
    folder: sharedFolder(plain),
    mistake: undefined,
    fits: (path) => globs.some((glob) => glob.matches(path)),
  }
}

const everything: ReadonlySet<string> = new Set(["**", "**/*", "**/**"])
const mostAlternatives = 200
const deepest = 20

/** A name fits anywhere; a path is from the folder that is searched, and a folder means all that is in it. */
function anchored(pattern: string): string {
  const fromHere = pattern.replace(/^(\.?\/)+/, "")
  if (fromHere === "" || fromHere === ".") return "**"
  const whole = fromHere.endsWith("/") ? `${fromHere}**` : fromHere
  return whole.includes("/") || pattern !== fromHere ? whole : whole === "**" ? whole : `**/${whole}`
}

function compiled(pattern: string): Glob {
  if (pattern.split("/").includes("..")) {
    throw badGlob(pattern, "leads out of the folder that is searched; name that folder in path instead")
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

/** What is before the first wildcard of every pattern, whole folders only. */
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

/** `a{b,c}d` is `abd` and `acd`; braces may stand inside braces, and after a `\` or in `[…]` mean themselves. */
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
    if (texts.length > mostAlternatives) refuse(`has more than ${mostAlternatives} alternatives`)
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
  if (depth > deepest) refuse(`has braces in braces, more than ${deepest} deep`)
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

/** Behind the `]` of a set; one that is not closed goes to the end, and is refused when it is read. */
function setEnd(pattern: string, start: number): number {
  const first = pattern[start + 1] === "!" || pattern[start + 1] === "^" ? start + 2 : start + 1
  const end = pattern.indexOf("]", first + 1)
  return end === -1 ? pattern.length : end + 1
}
