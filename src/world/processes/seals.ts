import { lstatSync, mkdirSync, realpathSync, rmdirSync, statSync, unlinkSync, writeFileSync, type Stats } from "node:fs"
import { join, relative, sep } from "node:path"

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
  readonly #placed = new Map<string, { users: number; isFolder: boolean; identity: string }>()

  /** Whether it is only there to hold the place. */
  isPlaced(path: string): boolean {
    return this.#placed.has(path)
  }

  /** `done` takes away what was put there for this command. */
  words(
    seals: readonly Seal[],
    hidden: readonly string[],
    { writable, visible }: { writable: readonly string[]; visible: readonly string[] },
  ): { words: string[]; done: () => void } {
    const pinned = new Map<string, string[]>()
    const mounts = new Map<string, string[]>()
    const placed: string[] = []
    const emptied: string[] = []
    for (const seal of seals) {
      for (const root of rootsOf(seal.path, writable)) this.#seal(seal, root, { pinned, mounts, placed })
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
      words: [...all.flatMap(([, words]) => words), ...emptied.flatMap((path) => ["--remount-ro", path])],
      done: () => {
        for (const path of placed.toReversed()) this.#takeAway(path)
      },
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
        this.#place(folder, true, undefined)
        placed.push(folder)
        return void mounts.set(folder, ["--ro-bind", folder, folder])
      }
      if (!facts.isDirectory()) return holdAsItIs(folder, facts, root, mounts)
      pinned.set(folder, ["--bind", folder, folder])
    }
    const facts = look(path)
    if (facts !== undefined && !this.#placed.has(path)) return holdAsItIs(path, facts, root, mounts)
    if (seal.meanwhile === null) return
    this.#place(path, seal.path.endsWith("/"), seal.meanwhile)
    placed.push(path)
    mounts.set(path, ["--ro-bind", path, path])
  }

  #place(path: string, isFolder: boolean, text = ""): void {
    const known = this.#placed.get(path)
    if (known !== undefined && look(path) !== undefined) return void known.users++
    if (isFolder) mkdirSync(path, { mode: 0o700 })
    else writeFileSync(path, text, { flag: "wx", mode: 0o600 })
    this.#placed.set(path, { users: (known?.users ?? 0) + 1, isFolder, identity: identityOf(look(path)) })
  }

  /** Only what is still what was put there. */
  #takeAway(path: string): void {
    const known = this.#placed.get(path)
    if (known === undefined || --known.users > 0) return
    this.#placed.delete(path)
    if (identityOf(look(path)) !== known.identity) return
    try {
      if (known.isFolder) rmdirSync(path)
      else unlinkSync(path)
    } catch {
      // Somebody has put something into it; then it is theirs.
    }
  }
}

/** A link cannot be held, only what it leads to, where that is in reach at all. */
function holdAsItIs(path: string, facts: Stats, root: string, mounts: Map<string, string[]>): void {
  if (!facts.isSymbolicLink()) return void mounts.set(path, ["--ro-bind", path, path])
  try {
    const real = realpathSync(path)
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
    return lstatSync(path)
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
