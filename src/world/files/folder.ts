import {
  closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, statSync, type BigIntStats,
} from "node:fs" // prettier-ignore
import { join } from "node:path"
import { onDisk } from "../processes/byte-names.ts"
import { refused } from "./refused.ts"

/** A folder that is held: what is done through it is done in it, whatever its path leads to meanwhile. */
export interface Folder {
  /** Its real path. */
  readonly real: string
  /** The folder itself, for calls that take a path. */
  readonly self: string
  /** A path for something in it, for calls that do not follow a link at its end; of names as `textOf` gives them. */
  at(name: string): string | Buffer
  /**
   * Throws when its path leads elsewhere by now, or the descriptor is not of what has the name in it. Where a folder can
   * be held, that cannot be.
   */
  sure(name?: string, descriptor?: number): void
  close(): void
}

/** How folders are opened here. Throws the system's own errors. */
export interface Doors {
  /** Links on the way are followed; `real` says where that led. */
  open(place: string): Folder
  /** A folder in a folder, never through a link. */
  openIn(folder: Folder, name: string): Folder
}

/** Linux: a descriptor holds the folder, and everything goes through `/proc/self/fd`. */
export const held: Doors = {
  open: (place) => hold(openSync(place, asPlace | directory)),
  openIn: (folder, name) => hold(openSync(folder.at(name), asPlace | directory | constants.O_NOFOLLOW)),
}

/** Elsewhere: the real path is looked at again after each step, which narrows the race and does not close it. */
export const watched: Doors = {
  open: (place) => watch(realpathSync.native(place)),
  openIn(folder, name) {
    const path = join(folder.real, name)
    if (lstatSync(path).isSymbolicLink()) throw notFolder()
    return watch(path)
  },
}

/** Whether folders can be held: `/proc` is there and shows where a descriptor leads. */
export function canHold(): boolean {
  if (process.platform !== "linux") return false
  try {
    const folder = held.open("/")
    const works = folder.real === "/" && lstatSync(folder.at("proc")).isDirectory()
    folder.close()
    return works
  } catch {
    return false
  }
}

/** O_PATH: the folder is only named, not read; Node has no name for it. */
const asPlace = 0o10000000
const directory = constants.O_DIRECTORY

function hold(descriptor: number): Folder {
  const self = `/proc/self/fd/${descriptor}`
  try {
    const real = readlinkSync(self)
    return { real, self, at: (name) => onDisk(`${self}/${name}`), sure() {}, close: () => closeSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function watch(real: string): Folder {
  const before = statSync(real, { bigint: true })
  if (!before.isDirectory()) throw notFolder()
  return {
    real,
    self: real,
    at: (name) => join(real, name),
    sure(name, descriptor) {
      const stays = isSame(lookAt(real), before) && realpathSync.native(real) === real
      const opened = descriptor === undefined ? undefined : fstatSync(descriptor, { bigint: true })
      if (!stays || (opened !== undefined && !isSame(lookAt(join(real, name!)), opened)))
        throw refused("outside", `Access denied: '${real}' was changed while it was used. Path is outside workspace directory as far as can be said.`) // prettier-ignore
    },
    close() {},
  }
}

function lookAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

function isSame(one: BigIntStats | undefined, other: BigIntStats): boolean {
  return one?.ino === other.ino && one.dev === other.dev
}

function notFolder(): Error {
  return Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" })
}
