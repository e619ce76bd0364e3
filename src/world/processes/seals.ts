import { lstatSync, mkdirSync, realpathSync, rmdirSync, statSync, unlinkSync, writeFileSync, type Stats } from "node:fs"
import { basename, dirname, join, relative, sep } from "node:path"
import { failure } from "../../model/ending.ts"
import { held } from "../files/folder.ts"
import { openBelow } from "../files/stand-for-person.ts"
import { onDisk, textOf } from "./byte-names.ts"

/** Something in a writable folder that no command may change, whether it is there or not. */
export interface Seal {
  /** From the root of the disk; with a slash at its end it is a folder. */
  readonly path: string
  /** What stands there meanwhile, when nothing does: a text, nothing for an empty file or folder; null leaves it alone. */
  readonly meanwhile?: string | null | undefined
}

/** Whether a path is that folder or in it. Both are real paths. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`))
}

/**
 * Makes bubblewrap's words for what is sealed and what is hidden below the folders that a command sees. A place where
 * nothing is yet can only be held by something, so that is made first and taken away after the last command that needs
 * it. Every folder above a sealed one is mounted on itself: else it could be moved away and another put in its place.
 */
export class Seals {
  readonly #placed = new Map<string, { root: string; users: number; isFolder: boolean; identity: string }>()

  /** Whether it is only there to hold the place. */
  isPlaced(path: string): boolean {
    return this.#placed.has(path)
  }

  /** `places` are where something is held or covered; `done` takes away what was put there for this command. */
  words(
    seals: readonly Seal[],
    hidden: readonly string[],
    { writable, visible }: { writable: readonly string[]; visible: readonly string[] },
  ): { words: string[]; places: string[]; done: () => void } {
    const pinned = new Map<string, string[]>()
    const mounts = new Map<string, string[]>()
    const placed: string[] = []
    const emptied: string[] = []
    const done = () => {
      for (const path of placed.toReversed()) this.#takeAway(path)
    }
    try {
      for (const seal of seals) {
        for (const root of rootsOf(seal.path, writable)) this.#seal(seal, root, { pinned, mounts, placed })
      }
    } catch (error) {
      done()
      throw error
    }
    for (const path of hidden.map(withoutSlash)) {
      const facts = look(path)
      if (facts === undefined || !visible.some((folder) => path !== folder && isWithin(path, folder))) continue
      for (const root of rootsOf(path, writable)) {
        for (const folder of foldersBetween(root, path)) pinned.set(folder, ["--bind", folder, folder])
      }
      mounts.set(path, facts.isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path])
      if (facts.isDirectory()) emptied.push(path)
    }
    // A folder before what is in it, and what is hidden in a sealed folder after that.
    const all = [...new Map([...pinned, ...mounts])].toSorted(([one], [other]) => one.length - other.length)
    return {
      // Closed when all is mounted that is below: what is empty there is memory without a size.
      places: all.map(([path]) => path),
      words: [...all.flatMap(([, words]) => words), ...emptied.flatMap((path) => ["--remount-ro", path])],
      done,
    }
  }

  #seal(
    seal: Seal,
    root: string,
    { pinned, mounts, placed }: { pinned: Map<string, string[]>; mounts: Map<string, string[]>; placed: string[] },
  ): void {
    const path = withoutSlash(seal.path)
    for (const folder of foldersBetween(root, path)) {
      const facts = look(folder)
      if (facts === undefined || this.#placed.has(folder)) {
        if (seal.meanwhile === null) return
        this.#place(root, folder, true, undefined)
        placed.push(folder)
        return void mounts.set(folder, ["--ro-bind", folder, folder])
      }
      if (!facts.isDirectory()) return holdAsItIs(folder, facts, root, mounts)
      pinned.set(folder, ["--bind", folder, folder])
    }
    const facts = look(path)
    if (facts !== undefined && !this.#placed.has(path)) return holdAsItIs(path, facts, root, mounts)
    if (seal.meanwhile === null) return
    this.#place(root, path, seal.path.endsWith("/"), seal.meanwhile)
    placed.push(path)
    mounts.set(path, ["--ro-bind", path, path])
  }

  #place(root: string, path: string, isFolder: boolean, text = ""): void {
    const known = this.#placed.get(path)
    if (known !== undefined && look(path) !== undefined) return void known.users++
    const place = inFolder(root, path, (at) => {
      if (isFolder) mkdirSync(at, { mode: 0o700 })
      else writeFileSync(at, text, { flag: "wx", mode: 0o600 })
      return identityOf(lstatSync(at))
    })
    if (place === undefined) {
      throw failure("The workspace was changed while the sandbox was put together. Run the command again.", {
        toolCode: "workspace_changed",
      })
    }
    this.#placed.set(path, { root, users: (known?.users ?? 0) + 1, isFolder, identity: place })
  }

  /** Only what is still what was put there. */
  #takeAway(path: string): void {
    const known = this.#placed.get(path)
    if (known === undefined || --known.users > 0) return
    this.#placed.delete(path)
    inFolder(known.root, path, (at) => {
      if (identityOf(lstatSync(at)) !== known.identity) return
      if (known.isFolder) rmdirSync(at)
      else unlinkSync(at)
    })
  }
}

/** Does something to what has that name in its folder, never through a link; undefined where it cannot be done. */
function inFolder<T>(root: string, path: string, act: (at: string | Buffer) => T): T | undefined {
  try {
    const folder = openBelow(held, root, dirname(path))
    try {
      return act(folder.at(basename(path)))
    } finally {
      folder.close()
    }
  } catch {
    // Somebody else changed what is there; then it is theirs.
    return undefined
  }
}

/** A link cannot be held, only what it leads to, where that is in reach at all. */
function holdAsItIs(path: string, facts: Stats, root: string, mounts: Map<string, string[]>): void {
  if (!facts.isSymbolicLink()) return void mounts.set(path, ["--ro-bind", path, path])
  try {
    const real = textOf(realpathSync(onDisk(path), "buffer"))
    if (real !== root && isWithin(real, root)) mounts.set(real, ["--ro-bind", real, real])
  } catch {
    // It leads nowhere.
  }
}

const withoutSlash = (path: string) => (path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path)

const rootsOf = (path: string, roots: readonly string[]) =>
  roots.filter((root) => withoutSlash(path) !== root && isWithin(path, root))

/** The folders below `root` and above `path`, the outer ones first. */
function foldersBetween(root: string, path: string): string[] {
  const steps = relative(root, path).split(sep).slice(0, -1)
  return steps.map((_, index) => join(root, ...steps.slice(0, index + 1)))
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(onDisk(path))
  } catch {
    return undefined
  }
}

function identityOf(facts: Stats | undefined): string {
  return facts === undefined ? "" : `${facts.dev}:${facts.ino}`
}

/** Whether there is a folder or file that can be seen, links followed. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
