import { posix } from "node:path"
import { touchText, type TouchPattern } from "../model/rule-patterns.ts"
import type { Touch, Touches } from "../model/rule.ts"

/** A touch as patterns are compared with it. */
export interface Place {
  readonly kind: Touch["kind"]
  /** A path from the root in its normal form; for a command or a host its text. */
  readonly text: string
  /** The same path from the workspace; undefined for what is outside of it, and for what is no path. */
  readonly inside: string | undefined
  /** Both in small letters, where that is another text. */
  readonly small?: { readonly text: string; readonly inside: string | undefined } | undefined
  /** A file that a command names: what allows the command need not name it. */
  readonly derived: boolean
}

export interface Places {
  readonly list: readonly Place[]
  /** False also where a path is written so that something else could be meant than its normal form. */
  readonly proved: boolean
}

/** What is touched, in a form in which two ways to write one path are the same. The disk is not looked at. */
export function placesOf(touches: Touches, workspace: string): Places {
  if (touches.list.length === 0) return touches as Places & { list: [] }
  const known = remembered.get(touches)
  if (known?.workspace === workspace) return known.places
  const list = touches.list.map((touch) => placeOf(touch, workspace))
  const places = { list, proved: touches.proved && touches.list.every((touch, at) => isPlain(touch, list[at]!)) }
  remembered.set(touches, { workspace, places })
  return places
}

export function placeOf(touch: Touch, workspace: string): Place {
  const { kind, what, derived = false } = touch
  if (!isPath(kind)) return { kind, text: touchText(touch), inside: undefined, derived }
  const text = posix.resolve(workspace, what)
  const inside = insideOf(text, posix.resolve(workspace))
  const lower = text.toLowerCase()
  const small = lower === text ? undefined : { text: lower, inside: inside?.toLowerCase() }
  return { kind, text, inside, small, derived }
}

export function isPath(kind: Touch["kind"]): boolean {
  return kind === "read" || kind === "write"
}

/** Where a pattern tightens, one for the workspace also counts for what is outside of it and fits all the same. */
export function placeFits(place: Place, { kinds, glob, from, loosens, small = false }: TouchPattern): boolean {
  if (!kinds.includes(place.kind)) return false
  const { text, inside } = small ? (place.small ?? place) : place
  const compared = from !== "workspace" ? text : (inside ?? (loosens ? undefined : text))
  return compared !== undefined && glob.matches(compared)
}

/** Each decision asks several lists of rules about the same touches. */
const remembered = new WeakMap<Touches, { workspace: string; places: Places }>()

/** Whether nothing that opens the path, such as a shell, could take it for another one. */
function isPlain({ kind, what }: Touch, { inside }: Place): boolean {
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
