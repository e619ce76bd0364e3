import { realpathSync } from "node:fs"
import { basename, dirname, relative, sep } from "node:path"
import type { TrashLimits } from "../../model/files.ts"
import { sealedBecause } from "../../policy/paths-lists.ts"
import { canHold, held, watched, type Doors } from "../files/folder.ts"
import { openBelow } from "../files/stand-for-person.ts"
import { putIn } from "../files/trash.ts"
import { sizeOf, type Spot } from "../files/tree.ts"
import { repositoryFault } from "./new-repository.ts"
import { isWithin } from "./seals.ts"

export interface TakeAwayPlace {
  readonly dataFolder: string
  readonly workspace: string
  readonly roots: readonly string[]
  readonly trash?: TrashLimits | undefined
  /** Whose command it was. */
  readonly agentId?: string | undefined
}

/** What happened to things that nobody may make. */
export interface TakenAway {
  /** All of them, from the workspace. */
  readonly paths: readonly string[]
  /** What the command's caller is told; nothing when there were none. */
  readonly notice: string
}

/** Moves things out of the workspace into the trash. No link that another command puts in the way is followed. */
export async function takeAway(paths: readonly string[], place: TakeAwayPlace): Promise<TakenAway> {
  const outer = paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
  const moved: { path: string; id: string }[] = []
  const left: string[] = []
  for (const path of outer) {
    const shown = isWithin(path, place.workspace) ? relative(place.workspace, path).split(sep).join("/") : path
    try {
      moved.push({ path: shown, id: await moveOne(path, shown, place) })
    } catch {
      left.push(shown)
    }
  }
  return { paths: [...moved.map(({ path }) => path), ...left], notice: noticeOf(moved, left) }
}

async function moveOne(path: string, shown: string, place: TakeAwayPlace): Promise<string> {
  const { roots, dataFolder, trash, agentId = "" } = place
  const doors = canHold() ? held : watched
  const root = roots.find((one) => isWithin(path, one))!
  const folder = openBelow(doors, root, dirname(path))
  try {
    const spot = { folder, name: basename(path) }
    const taken = [sealedBecause(`${shown}/x`, "write") ?? "it is protected (tools.protectedPaths)", faultOf(path)]
    const house = { doors, dataFolder: realpathSync.native(dataFolder), trash }
    const { id } = await putIn(house, spot, {
      path: shown,
      size: sizeOrNone(doors, spot),
      agentId,
      taken: taken.join(""),
    })
    return id
  } finally {
    folder.close()
  }
}

/** Of a repository it can be said what is unusual in it. */
function faultOf(path: string): string {
  const fault = basename(path) === ".git" ? repositoryFault(path) : undefined
  return fault === undefined ? "" : `, and ${fault}`
}

/** What cannot be looked into must not stay for it. */
function sizeOrNone(doors: Doors, spot: Spot): number {
  try {
    return sizeOf(doors, spot)
  } catch {
    return 0
  }
}

function noticeOf(moved: readonly { path: string; id: string }[], left: readonly string[]): string {
  const sentences = []
  if (moved.length > 0) {
    const paths = listed(moved.map(({ path }) => path))
    const restore = moved.length === 1 ? `qm trash restore ${moved[0]!.id.slice(0, 8)}` : "qm trash list"
    sentences.push(`No command may make ${paths}: moved to the trash of Quartermaster. If it is needed, ask a person to look at it and bring it back (${restore}).`) // prettier-ignore
  }
  if (left.length > 0) {
    sentences.push(`No command may make ${listed(left)}, and it could not be moved away. Remove it, and tell a person.`)
  }
  return sentences.length === 0 ? "" : `[${sentences.join(" ")}]\n`
}

function listed(paths: readonly string[]): string {
  const first = paths.slice(0, 10).map((path) => `'${path}'`)
  return paths.length > 10 ? `${first.join(", ")} and ${paths.length - 10} more` : first.join(", ")
}
