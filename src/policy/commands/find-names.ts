import { posix } from "node:path"
import { placeIn, type Disk, type Entry } from "./disk.ts"

/** An expression of find, as far as names and kinds of files decide it. */
export type Expression =
  | { readonly kind: "all" | "any" | "each"; readonly parts: readonly Expression[] }
  | { readonly kind: "not"; readonly part: Expression }
  | { readonly kind: "name"; readonly fits: (entry: Entry, path: string) => Answer }
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "print" | "prune" }
  | { readonly kind: "run"; readonly number: number }

/** `maybe` is all that is not known by the name. */
type Answer = "yes" | "no" | "maybe"

/** What find comes to: which of its commands is given which names, and which names it prints. */
export interface Found {
  readonly printed: string[]
  readonly given: Map<number, string[]>
}

const mostEntries = 5000

/** All that find may name in these folders, and rather too much; undefined when there is too much to look at. */
export function namesFound(
  roots: readonly string[],
  { expression, depth }: { readonly expression: Expression; readonly depth: number },
  folder: string,
  disk: Disk,
): Found | undefined {
  const found: Found = { printed: [], given: new Map() }
  let left = mostEntries
  const visit = (path: string, entry: Entry, level: number): boolean => {
    if (left-- <= 0) return false
    const look: Look = { entry, path, prunes: false, found }
    evaluate(expression, "yes", look)
    if (look.prunes || level >= depth || (entry.kind !== "folder" && level > 0)) return true
    const entries = disk.entries(placeIn(folder, path, disk))
    return (
      entries?.every((one) => visit(path.endsWith("/") ? path + one.name : `${path}/${one.name}`, one, level + 1)) ??
      false
    )
  }
  // Of what is not there yet, nothing can be said.
  const isThere = (root: string) => disk.realpath(placeIn(folder, root, disk)) !== undefined
  const isWhole = roots.every((root) => isThere(root) && visit(root, rootEntry(root), 0))
  return isWhole ? found : undefined
}

/** What kind of file it is, is not looked up; and for `.` or `a/` it is not sure what its name is. */
function rootEntry(root: string): Entry {
  return { name: /[^/.]$/.test(root) ? posix.basename(root) : "", kind: "unknown" }
}

interface Look {
  readonly entry: Entry
  readonly path: string
  readonly found: Found
  prunes: boolean
}

/** `reached` says whether find certainly comes to this part of the expression. */
function evaluate(expression: Expression, reached: "yes" | "maybe", look: Look): Answer {
  switch (expression.kind) {
    case "all":
    case "any": {
      const [goes, stops]: [Answer, Answer] = expression.kind === "all" ? ["yes", "no"] : ["no", "yes"]
      let answer: Answer = goes
      for (const part of expression.parts) {
        const one = evaluate(part, answer === "maybe" ? "maybe" : reached, look)
        if (one === stops) return stops
        if (one === "maybe") answer = "maybe"
      }
      return answer
    }
    case "each":
      // What find makes of a list with commas depends on what it thinks is quicker.
      for (const part of expression.parts) evaluate(part, "maybe", look)
      return "maybe"
    case "not": {
      const answer = evaluate(expression.part, reached, look)
      return answer === "maybe" ? "maybe" : answer === "yes" ? "no" : "yes"
    }
    case "name":
      return expression.fits(look.entry, look.path)
    case "answer":
      return expression.answer
    case "print":
      look.found.printed.push(look.path)
      return "yes"
    case "prune":
      look.prunes ||= reached === "yes"
      return "yes"
    case "run": {
      const { given } = look.found
      given.set(expression.number, [...(given.get(expression.number) ?? []), look.path])
      return "maybe"
    }
  }
}

/** A pattern of find. What is not made of plain letters, `*` and `?` fits maybe. */
export function fitsPattern(pattern: string, isCaseless: boolean, of: "name" | "path"): Expression {
  const stars = pattern.split("*").length - 1
  if (!/^[\w./@+,=: *?-]*$/.test(pattern) || stars > 4) return { kind: "answer", answer: "maybe" }
  const source = pattern.replace(/[.+]/g, "\\$&").replaceAll("*", "[^]*").replaceAll("?", "[^]")
  const expression = new RegExp(`^${source}$`, isCaseless ? "i" : "")
  return {
    kind: "name",
    fits(entry, path) {
      const text = of === "name" ? entry.name : path
      if (!/^[\x20-\x7e]+$/.test(text)) return "maybe"
      return expression.test(text) ? "yes" : "no"
    },
  }
}

/** `-type f`, `d` or `l`. */
export function isOfKind(letter: string): Expression {
  const kind = ({ f: "file", d: "folder", l: "link" } as const)[letter]
  if (kind === undefined) return { kind: "answer", answer: "maybe" }
  return { kind: "name", fits: (entry) => (entry.kind === "unknown" ? "maybe" : entry.kind === kind ? "yes" : "no") }
}
