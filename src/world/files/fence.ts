import { realpathSync } from "node:fs"
import { readdir } from "node:fs/promises"
import type { FileFacts, Files, FolderEntry, Trash, TrashLimits } from "../../model/files.ts"
import { readGround, type Ground, type GroundOptions } from "../../policy/paths-ground.ts"
import { quickShown } from "../../policy/paths-shown.ts"
import { factsOf, kindOf } from "./facts.ts"
import { canHold, held, watched } from "./folder.ts"
import { move } from "./move.ts"
import { namesNear } from "./near.ts"
import { openFile, readSmall } from "./read.ts"
import { notFound, refused, refusedBy, translated } from "./refused.ts"
import { openFolder, placeNamed, standing, type Yard } from "./stand.ts"
import { throwAway, trashOf, type TrashHouse } from "./trash.ts"
import { write, type WriteHouse } from "./write.ts"

export interface FenceOptions extends GroundOptions {
  /** The data folder; it must exist. Backups and the trash are in it, and it is sealed whether it is named or not. */
  readonly dataFolder: string
  /** How many earlier versions of a file are kept. */
  readonly backups?: number | undefined
  /** How long what was deleted is kept, where it is not what is usual. */
  readonly trash?: TrashLimits | undefined
  /** Waits at each write until the disk has it. */
  readonly synced?: boolean | undefined
  /** Works as where a folder cannot be held; for tests. */
  readonly portable?: boolean | undefined
}

/** Puts up the fence around a workspace and its further roots. */
export function openFence(options: FenceOptions): Files {
  return filesOf(houseOf(options))
}

/** What was deleted through the same fence. */
export function openTrash(options: FenceOptions): Trash {
  return trashOf(houseOf(options))
}

function houseOf(options: FenceOptions): House {
  const dataFolder = realpathSync.native(options.dataFolder)
  const workspace = realpathSync.native(options.workspace)
  const sealed = [...(options.sealed ?? []), dataFolder]
  const ground = readGround({ ...options, workspace, sealed })
  return {
    ground,
    isShown: quickShown(ground, sealed),
    doors: options.portable !== true && canHold() ? held : watched,
    dataFolder,
    backups: options.backups ?? 10,
    synced: options.synced ?? false,
    trash: options.trash,
  }
}

interface House extends WriteHouse, TrashHouse {
  isShown(path: string): boolean
}

/** What a call may use can be said by a glob, so here each path is looked at. */
function narrowed(house: House, ground: Ground): House {
  const isShown = (path: string) => {
    const place = ground.place(path)
    return typeof place === "string" && ground.isShown(place)
  }
  return { ...house, ground, isShown }
}

function filesOf(house: House): Files {
  const { ground } = house
  const files: Files = {
    workspace: ground.workspace,
    within(allowedPaths, shows) {
      const narrow = allowedPaths === undefined ? files : filesOf(narrowed(house, ground.within(allowedPaths)))
      return shows === undefined ? narrow : { ...narrow, isShown: (path) => narrow.isShown(path) && shows(path) }
    },
    normal: (path) => ground.shown(placeOf(ground, path)),
    facts: (path) => said(path, () => facts(house, path)),
    open: async (path) => said(path, () => openFile(house, path)),
    readSmall: (path, most) => said(path, () => readSmall(house, path, most)),
    list: (path) => saidLater(path, () => list(house, path)),
    write: async (path, bytes, options = {}) => said(path, () => write(house, path, bytes, options)),
    move: (from, to, options) => saidLater(from, () => move(house, from, to, options?.overwrite ?? false)),
    trash: (path, agentId) => saidLater(path, () => throwAway(house, path, agentId)),
    near: (path) => namesNear(house, path),
    isShown: house.isShown,
  }
  return files
}

function placeOf(ground: Ground, path: string): string {
  const place = ground.place(path)
  if (typeof place !== "string") throw refusedBy(place)
  return place
}

function facts(house: WriteHouse, path: string): FileFacts {
  return standing(house, path, { use: "read", follow: true }, ({ real, found }) => {
    if (found === undefined) throw notFound(path)
    return factsOf(found, real, house.ground.shown(real))
  })
}

async function list(yard: Yard, path: string): Promise<FolderEntry[]> {
  const folder = openFolder(yard, placeNamed(yard.ground, path, "read"), path, "read")
  try {
    const entries = await readdir(folder.self, { withFileTypes: true })
    folder.sure()
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOTDIR"
      ? refused("not_a_folder", `'${path}' is no folder.`)
      : error
  } finally {
    folder.close()
  }
}

function said<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translated(error, path)
  }
}

async function saidLater<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translated(error, path)
  }
}
