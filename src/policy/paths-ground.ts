import { resolve, sep } from "node:path"
import { readGlob } from "../model/glob.ts"
import { isUnder, readArea, withHome } from "./paths-area.ts"
import { carefulBecause, isVersionControl, sealedBecause, type Use } from "./paths-lists.ts"
import { realPlace } from "./paths-real.ts"
import { badPath, isProtected, isSealed, notGiven, outside, special, type Refusal } from "./paths-refusals.ts"
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
export function readProtected(
  pattern: string,
  workspace: string,
  home: string | undefined,
): (place: string) => boolean {
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
