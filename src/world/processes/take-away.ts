import { realpathSync } from "node:fs"
import { basename, dirname, posix, relative, sep } from "node:path"
import type { TrashLimits } from "../../model/files.ts"
import { sealedBecause } from "../../policy/paths-lists.ts"
import { canHold, held, watched, type Doors } from "../files/folder.ts"
import { opening } from "../files/move-out.ts"
import { openBelow } from "../files/stand-for-person.ts"
import { Aside, putIn } from "../files/trash.ts"
import { sizeOf, type Spot } from "../files/tree.ts"
import { readable } from "./byte-names.ts"
import { linkBefore, putBack, type KnownLinks } from "./links.ts"
import { repositoryFault, repositoryOf } from "./new-repository.ts"
import { isWithin } from "./seals.ts"

export interface TakeAwayPlace {
  readonly dataFolder: string
  readonly workspace: string
  readonly roots: readonly string[]
  readonly trash?: TrashLimits | undefined
  /** Whose command it was. */
  readonly agentId?: string | undefined
  /** Links that were there before; they are put back in the place of what is moved. */
  readonly links?: KnownLinks | undefined
}

/** What happened to things that nobody may make. */
export interface TakenAway {
  /** All of them, from the workspace. */
  readonly paths: readonly string[]
  /** What the command's caller is told; nothing when there were none. */
  readonly notice: string
}

/** What the caller is told of a command after which there was more than is looked at. */
export const tooMuchMade =
  "[The command has made more than is looked at, so things may be among it that no command may make. Tell a person before anything in it is used.]\n"

/** Moves things out of the workspace into the trash. No link that another command puts in the way is followed. */
export async function takeAway(paths: readonly string[], place: TakeAwayPlace): Promise<TakenAway> {
  const all = new Set(paths)
  const outer = paths.filter((path) => !isBelowOne(path, all))
  const moved: Moved[] = []
  const left: string[] = []
  // Said of all before the first is moved: what is left of a repository is none.
  for (const { path, shown, taken } of outer.map((path) => described(path, place.workspace))) {
    try {
      moved.push(await moveOne(path, { shown, taken }, place))
    } catch (error) {
      left.push(error instanceof Aside ? posix.join(posix.dirname(shown), readable(error.asideName)) : shown)
    }
  }
  return { paths: [...moved.map(({ path }) => path), ...left], notice: noticeOf(moved, left) }
}

interface Moved {
  readonly path: string
  readonly id: string
  /** Whether the link that was there is again; undefined when none was. */
  readonly isLinked: boolean | undefined
}

function isBelowOne(path: string, all: ReadonlySet<string>): boolean {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) if (all.has(above)) return true
  return false
}

function described(path: string, workspace: string): { path: string; shown: string; taken: string } {
  const written = isWithin(path, workspace) ? relative(workspace, path).split(sep).join("/") : path
  const repository = repositoryOf(path)
  const because =
    sealedBecause(`${written}/x`, "write") ??
    (repository === undefined ? "it is protected (tools.protectedPaths)" : "git takes its folder for a repository, and runs what the settings there say") // prettier-ignore
  // Of a whole repository it can be said what is unusual in it.
  const fault = repository === path ? repositoryFault(path) : undefined
  return { path, shown: readable(written), taken: fault === undefined ? because : `${because}, and ${fault}` }
}

async function moveOne(
  path: string,
  { shown, taken }: { shown: string; taken: string },
  { roots, dataFolder, trash, agentId = "", links = new Map() }: TakeAwayPlace,
): Promise<Moved> {
  const doors = canHold() ? held : watched
  const root = roots.find((one) => isWithin(path, one))!
  // What its folder's mode keeps from being moved must not stay for it.
  const folder = openBelow(opening(doors), root, dirname(path))
  const spot = { folder, name: basename(path) }
  const link = linkBefore(links, path)
  try {
    const house = { doors, dataFolder: realpathSync.native(dataFolder), trash }
    const { id } = await putIn(house, spot, { path: shown, size: sizeOrNone(doors, spot), agentId, taken })
    return { path: shown, id, isLinked: link && putBack(link, spot, roots) }
  } catch (error) {
    // Its name is free then, too.
    if (link !== undefined && error instanceof Aside) putBack(link, spot, roots)
    throw error
  } finally {
    folder.close()
  }
}

/** What cannot be looked into must not stay for it. */
function sizeOrNone(doors: Doors, spot: Spot): number {
  try {
    return sizeOf(doors, spot)
  } catch {
    return 0
  }
}

function noticeOf(moved: readonly Moved[], left: readonly string[]): string {
  const sentences = []
  if (moved.length > 0) {
    const paths = listed(moved.map(({ path }) => path))
    const restore = moved.length === 1 ? `qm trash restore ${moved[0]!.id.slice(0, 8)}` : "qm trash list"
    sentences.push(`No command may make ${paths}: moved to the trash of Quartermaster. If it is needed, ask a person to look at it and bring it back (${restore}).`) // prettier-ignore
  }
  const back = moved.filter(({ isLinked }) => isLinked === true)
  const gone = moved.filter(({ isLinked }) => isLinked === false)
  if (back.length > 0) sentences.push(`Where a link was, it is again: ${listed(back.map(({ path }) => path))}.`)
  if (gone.length > 0) sentences.push(`A link was ${listed(gone.map(({ path }) => path))}, and it is gone, because what it led to is another now. Tell a person.`) // prettier-ignore
  if (left.length > 0) {
    sentences.push(`No command may make ${listed(left)}, and it could not be moved away. Remove it, and tell a person.`)
  }
  return sentences.length === 0 ? "" : `[${sentences.join(" ")}]\n`
}

function listed(paths: readonly string[]): string {
  const first = paths.slice(0, 10).map((path) => `'${path}'`)
  return paths.length > 10 ? `${first.join(", ")} and ${paths.length - 10} more` : first.join(", ")
}
