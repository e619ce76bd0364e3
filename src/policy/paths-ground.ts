import { resolve, sep } from "node:path"
import { readGlob, type Glob } from "../model/glob.ts"
import { carefulBecause, isVersionControl, sealedBecause, type Use } from "./paths-lists.ts"
import { realPlace } from "./paths-real.ts"
import { foldPath, textFault } from "./paths-text.ts"

export interface GroundOptions {
  /** The real path of the workspace. */
  readonly workspace: string
  /**
   * `tools.allowedPaths`: a folder with all that is in it, or a glob that a whole path must fit. What is outside the
   * workspace is inside the fence then; what is inside needs no asking. `~/` is the home folder.
   */
  readonly roots?: readonly { readonly path: string; readonly source: string }[] | undefined
  /** `tools.protectedPaths`: what no tool writes. A name alone counts in every folder. */
  readonly protectedPaths?: readonly { readonly pattern: string; readonly source: string }[] | undefined
  /** What is neither read nor written, from the root: the data folder, tokens. */
  readonly sealed?: readonly string[] | undefined
  /** What is read but not written, from the root: configuration, plugins. */
  readonly sealedForWriting?: readonly string[] | undefined
  readonly home?: string | undefined
  /** Where a path leads; of the disk, when left out. */
  readonly realpath?: ((path: string) => string | undefined) | undefined
}

export interface Refusal {
  readonly code: "bad_path" | "outside" | "sealed"
  readonly source: string
  readonly sentence: string
}

/** What the fence stands around, and what is sealed in there. A *place* is a path from the root of the disk. */
export interface Ground {
  readonly workspace: string
  /** Itself, or what it was narrowed from at first. */
  readonly whole: Ground
  realpath(place: string): string | undefined
  /** The place a path means, by its text alone. */
  place(path: string): string | Refusal
  /** Why nothing may be done so at a place that is no link, or to what a link is called. */
  refusal(place: string, use: Use, path?: string): Refusal | undefined
  /** The same by names only, whether inside or not. */
  sealing(place: string, use: Use, path?: string): Refusal | undefined
  careful(place: string, use: Use): string | undefined
  holds(place: string): boolean
  /** Whether it is the workspace or another root itself. */
  isRoot(place: string): boolean
  /** The line that lets it be used without asking. */
  coveredBy(place: string): string | undefined
  isShown(place: string): boolean
  /** From the workspace with slashes, `.` for itself; the place itself where it is elsewhere. */
  shown(place: string): string
  within(allowedPaths: readonly string[] | undefined): Ground
}

export function readGround(options: GroundOptions): Ground {
  const { workspace, realpath = realPlace } = options
  const areas = (options.roots ?? []).map((root) => readArea(root, options, realpath))
  const outer = areas.filter((area) => area.widens)
  const seals = readSeals(options)
  const ground: Ground = {
    workspace,
    get whole() {
      return ground
    },
    realpath,
    place(path) {
      const fault = textFault(path)
      if (fault !== undefined) return badPath(path, fault)
      const place = resolve(workspace, path)
      return isSpecial(place, workspace) ? special(path) : place
    },
    refusal(place, use, path = shownFrom(workspace, place)) {
      if (isSpecial(place, workspace)) return special(path)
      if (!ground.holds(place)) return outside(path, workspace)
      return ground.sealing(place, use, path)
    },
    sealing(place, use, path = shownFrom(workspace, place)) {
      return seals(place, use, path)
    },
    careful: (place, use) => carefulBecause(shownFrom(workspace, place), use),
    holds: (place) => isUnder(place, workspace) || outer.some((area) => area.has(place)),
    isRoot: (place) => place === workspace || outer.some((area) => area.folder === place),
    coveredBy: (place) => areas.find((area) => area.has(place))?.source,
    isShown(place) {
      const shown = shownFrom(workspace, place)
      if (isVersionControl(shown) || carefulBecause(shown, "read") !== undefined) return false
      return ground.refusal(place, "read", shown) === undefined
    },
    shown: (place) => shownFrom(workspace, place),
    within: (allowedPaths) => (allowedPaths === undefined ? ground : narrow(ground, allowedPaths, options)),
  }
  return ground
}

/** Whether a place is the folder or in it. */
export function isUnder(place: string, folder: string): boolean {
  if (!place.startsWith(folder)) return false
  return place.length === folder.length || folder.endsWith(sep) || place[folder.length] === sep
}

/** Can be narrowed again, so that no call reaches more than the one it was made in. */
function narrow(wide: Ground, allowedPaths: readonly string[], options: GroundOptions): Ground {
  const realpath = options.realpath ?? realPlace
  const areas = allowedPaths.map((path) => readArea({ path, source: "allowedPaths" }, options, realpath))
  const holds = (place: string) => wide.holds(place) && areas.some((area) => area.has(place))
  const refuse = (place: string, path: string) => (holds(place) ? undefined : notGiven(path, allowedPaths))
  const ground: Ground = {
    ...wide,
    whole: wide.whole,
    holds,
    refusal: (place, use, path = wide.shown(place)) => wide.refusal(place, use, path) ?? refuse(place, path),
    isShown: (place) => holds(place) && wide.isShown(place),
    within: (more) => (more === undefined ? ground : narrow(ground, more, options)),
  }
  return ground
}

interface Area {
  readonly source: string
  /** The folder it is, where it is no glob. */
  readonly folder: string | undefined
  readonly widens: boolean
  has(place: string): boolean
}

/**
 * What is in the workspace by its text stays there: a link that an agent could have put in its place leads nowhere. What
 * is outside was written by a person, and is meant where it really is.
 */
function readArea(
  { path, source }: { path: string; source: string },
  { workspace, home }: GroundOptions,
  realpath: (path: string) => string | undefined,
): Area {
  const place = resolve(workspace, withHome(path, home))
  const nothing: Area = { source, folder: undefined, widens: false, has: () => false }
  const read = /[*?[]/.test(place) ? readGlob(place, "path") : undefined
  if (read !== undefined && "mistake" in read) return nothing
  const base = read === undefined ? place : baseOf(read.glob)
  const widens = !isUnder(base, workspace)
  const real = widens ? realpath(base) : base
  if (real === undefined) return nothing
  if (read === undefined) return { source, folder: real, widens, has: (other) => isUnder(other, real) }
  const moved = readGlob(escaped(real) + place.slice(writtenLength(place, base)), "path")
  return "mistake" in moved ? nothing : { source, folder: undefined, widens, has: (other) => moved.glob.matches(other) }
}

function withHome(path: string, home: string | undefined): string {
  return home !== undefined && (path === "~" || path.startsWith("~/")) ? home + path.slice(1) : path
}

/** The folders before the first wildcard. */
function baseOf({ start }: Glob): string {
  const end = start.lastIndexOf("/")
  return end <= 0 ? "/" : start.slice(0, end)
}

/** How much of the pattern as it was written stands for its base, without the slash after it. */
function writtenLength(pattern: string, base: string): number {
  if (base === "/") return 0
  let at = 0
  for (let meant = 0; meant < base.length; meant++, at++) if (pattern[at] === "\\") at++
  return at
}

function escaped(text: string): string {
  return text === "/" ? "" : text.replace(/[\\*?[]/g, "\\$&")
}

type Seals = (place: string, use: Use, path: string) => Refusal | undefined

function readSeals({ workspace, sealed = [], sealedForWriting = [], protectedPaths = [], home }: GroundOptions): Seals {
  const hidden = sealed.map(foldPath)
  const fixed = [...hidden, ...sealedForWriting.map(foldPath)]
  const lines = protectedPaths.map((line) => ({ ...line, covers: readProtected(line.pattern, workspace, home) }))
  return (place, use, path) => {
    const because = sealedBecause(shownFrom(workspace, place), use)
    if (because !== undefined) return isSealed(path, use, because)
    if (fixed.length > 0) {
      const folded = foldPath(place)
      for (const folder of use === "read" ? hidden : fixed)
        if (isUnder(folded, folder) || (use === "write" && isUnder(folder, folded) && place !== workspace))
          return isSealed(path, use, "it is Quartermaster's own")
    }
    if (use === "read") return undefined
    const line = lines.find(({ covers }) => covers(place))
    return line && isProtected(path, line.source)
  }
}

/** Folders count with all that is in them, and, as nobody may move them away, with all that is above. */
function readProtected(pattern: string, workspace: string, home: string | undefined): (place: string) => boolean {
  const written = foldPath(
    withHome(pattern, home)
      .replace(/\/+$/, "")
      .replace(/\/\*\*$/, ""),
  )
  const floats = !written.includes("/")
  const read = readGlob(floats ? written : resolve(foldPath(workspace), written), "path")
  if ("mistake" in read) return () => true
  const { literal, start, matches } = read.glob
  const above = literal ?? start
  return (place) => {
    const folded = foldPath(place)
    if (floats) return foldPath(shownFrom(workspace, place)).split("/").some(matches)
    if (above.startsWith(`${folded}/`) && folded !== foldPath(workspace)) return true
    for (let end = folded.length; end > 0; end = folded.lastIndexOf("/", end - 1))
      if (matches(folded.slice(0, end))) return true
    return false
  }
}

function shownFrom(workspace: string, place: string): string {
  if (place === workspace) return "."
  if (!isUnder(place, workspace)) return place
  const inside = place.slice(workspace.endsWith(sep) ? workspace.length : workspace.length + 1)
  return sep === "/" ? inside : inside.replaceAll(sep, "/")
}

/** What the system shows of itself. Shared memory is a folder like others. */
function isSpecial(place: string, workspace: string): boolean {
  if (!/^\/(proc|dev|sys)(\/|$)/.test(place)) return false
  return !isUnder(place, "/dev/shm") && !isUnder(place, workspace)
}

function badPath(path: string, fault: string): Refusal {
  return {
    code: "bad_path",
    source: "paths",
    sentence: `Access denied: ${quoted(path)} is no path that can be used, because ${fault}. Write it from the workspace, for example src/main.ts.`,
  }
}

function outside(path: string, workspace: string): Refusal {
  return {
    code: "outside",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}). Use a path inside ${workspace}, or ask a person to add its folder to tools.allowedPaths.`,
  }
}

function special(path: string): Refusal {
  return {
    code: "outside",
    source: "workspace",
    sentence: `Access denied: Path is outside workspace directory (${quoted(path)}): devices and what the system shows of itself are not read here.`,
  }
}

function notGiven(path: string, allowedPaths: readonly string[]): Refusal {
  const given = allowedPaths.length === 0 ? "no path at all" : allowedPaths.map(quoted).join(", ")
  return {
    code: "outside",
    source: "allowedPaths of the call",
    sentence: `Access denied: Path is outside workspace directory as far as this call may use it (${quoted(path)}). It may use ${given}.`,
  }
}

function isSealed(path: string, use: Use, because: string): Refusal {
  const may = use === "read" ? "reads" : "writes"
  return {
    code: "sealed",
    source: "sealed paths",
    sentence: `No tool ${may} ${quoted(path)}, because ${because}. A person has to do it.`,
  }
}

function isProtected(path: string, source: string): Refusal {
  return { code: "sealed", source, sentence: `No tool writes ${quoted(path)}, because ${source} protects it.` }
}

function quoted(path: string): string {
  const text = JSON.stringify(path).slice(1, -1)
  return `'${text.length > 300 ? `${text.slice(0, 300)}…` : text}'`
}
