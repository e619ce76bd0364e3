import { posix } from "node:path"
import { touchText, type TouchPattern } from "../../schema/rule-patterns.ts"
import { isPath, type Touch, type Touches } from "../../core/touches.ts"

/** A touch in the form that patterns are compared with. */
export interface NormalizedTouch {
  readonly kind: Touch["kind"]
  /** A path from the root in its normal form; for a command or a host its text. */
  readonly text: string
  /** The same path from the workspace; undefined for a path outside of it, and for a command or a host. */
  readonly inside: string | undefined
  /** Both in lower case, where that differs. */
  readonly small?: { readonly text: string; readonly inside: string | undefined }
  /** A file that a command names: what allows the command need not name it. */
  readonly derived: boolean
}

export interface NormalizedTouches {
  readonly list: readonly NormalizedTouch[]
  /** False also when a path could mean something else than its normal form. */
  readonly proved: boolean
}

/** Brings touches into a form in which two ways to write a path are equal. It does not read the disk. */
export function normalizeTouches(touches: Touches, workspace: string): NormalizedTouches {
  if (touches.list.length === 0) return touches as NormalizedTouches & { list: [] }
  const known = cache.get(touches)
  if (known?.workspace === workspace) return known.places
  const list = touches.list.map((touch) => normalizeTouch(touch, workspace))
  const places = { list, proved: touches.proved && touches.list.every((touch, at) => isPlain(touch, list[at]!)) }
  cache.set(touches, { workspace, places })
  return places
}

export function normalizeTouch(touch: Touch, workspace: string): NormalizedTouch {
  const { kind, what, derived = false } = touch
  if (!isPath(kind)) return { kind, text: touchText(touch), inside: undefined, derived }
  const text = posix.resolve(workspace, what)
  const inside = insideOf(text, posix.resolve(workspace))
  const lower = text.toLowerCase()
  const small = lower === text ? undefined : { text: lower, inside: inside?.toLowerCase() }
  return { kind, text, inside, small, derived }
}

/** A pattern that tightens and is meant for the workspace also counts for a matching path outside of it. */
export function touchMatches(
  place: NormalizedTouch,
  { kinds, glob, from, loosens, small = false }: TouchPattern,
): boolean {
  if (!kinds.includes(place.kind)) return false
  const { text, inside } = small ? (place.small ?? place) : place
  const compared = from !== "workspace" ? text : (inside ?? (loosens ? undefined : text))
  return compared !== undefined && glob.matches(compared)
}

/** A cache, because each decision compares the same touches with several lists of rules. */
const cache = new WeakMap<Touches, { workspace: string; places: NormalizedTouches }>()

/** Reports whether the path means the same to everything that opens it, also to a shell. */
function isPlain({ kind, what }: Touch, { inside }: NormalizedTouch): boolean {
  if (!isPath(kind)) return true
  // oxlint-disable-next-line no-control-regex
  if (/[\0~$\\]/.test(what)) return false
  return inside !== undefined || !what.split("/").includes("..")
}

function insideOf(path: string, workspace: string): string | undefined {
  if (path === workspace) return "."
  const folder = workspace.endsWith("/") ? workspace : `${workspace}/`
  return path.startsWith(folder) ? path.slice(folder.length) : undefined
}
