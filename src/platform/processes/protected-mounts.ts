import { lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync, statSync, unlinkSync, writeFileSync, type Stats } from "node:fs" // prettier-ignore
import { basename, dirname, join, relative, sep } from "node:path"
import { failure } from "../../core/ending.ts"
import { descriptorOpener, openFolderBelow } from "../files/folder-handle.ts"
import { encodePath, decodeName } from "../../lib/byte-names.ts"
import { mountsOfOtherNamespaces } from "./mounts.ts"
import { isWithin } from "./is-within.ts"

/** A path in a writable folder that no command may change, whether it exists or not. */
export interface ProtectedPath {
  /** Absolute. A slash at the end says that it is a folder. */
  readonly path: string
  /** The content of the placeholder if nothing is there: empty by default; with null no placeholder is created. */
  readonly placeholder?: string | null
}

/**
 * Bubblewrap's options for protected and hidden paths below the folders a command sees. Only what exists can be mounted
 * read-only, so a placeholder is created for a missing path and removed after the last command that needs it. Every
 * folder above a protected path is mounted on itself: otherwise it could be moved away and replaced.
 */
export class ProtectedMounts {
  readonly #placeholders = new Map<string, { root: string; users: number; isFolder: boolean; identity: string }>()

  /** `places` are the protected and hidden paths; `done` removes the placeholders of this command. */
  prepare(
    protectedPaths: readonly ProtectedPath[],
    hidden: readonly string[],
    { writable, visible }: { writable: readonly string[]; visible: readonly string[] },
  ): { options: string[]; places: string[]; done: () => void } {
    const pinned = new Map<string, string[]>()
    const mounts = new Map<string, string[]>()
    const created: string[] = []
    const emptied: string[] = []
    const done = () => {
      const unused = created.toReversed().filter((path) => this.#isUnusedNow(path))
      const mountedElsewhere = unused.length === 0 ? new Set<string>() : mountsOfOtherNamespaces()
      for (const path of unused) this.#remove(path, mountedElsewhere.has(path))
    }
    try {
      for (const entry of protectedPaths) {
        for (const root of rootsOf(entry.path, writable)) this.#protect(entry, root, { pinned, mounts, created })
      }
    } catch (error) {
      done()
      throw error
    }
    const first: string[] = []
    for (const path of hidden.map(withoutSlash).map(linkTarget)) {
      const facts = statOf(path)
      // Emptied before the folder around it is covered, so that a process already inside sees nothing either.
      if (hidden.some((folder) => path !== folder && isWithin(path, folder))) {
        if (facts?.isDirectory() && rootsOf(path, writable).length > 0)
          first.push("--tmpfs", path, "--remount-ro", path)
        continue
      }
      if (
        facts === undefined ||
        facts.isSymbolicLink() ||
        !visible.some((folder) => path !== folder && isWithin(path, folder))
      )
        continue
      for (const root of rootsOf(path, writable)) {
        for (const folder of foldersBetween(root, path)) pinned.set(folder, ["--bind", folder, folder])
      }
      mounts.set(path, facts.isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path])
      if (facts.isDirectory()) emptied.push(path)
    }
    // No mount inside a protected folder may make it writable again, or show what is in a hidden one.
    const writableFolders = [...pinned].filter(([path]) => ![...mounts.keys()].some((mount) => isWithin(path, mount)))
    const others = [...mounts].filter(([path]) => !emptied.some((folder) => path !== folder && isWithin(path, folder)))
    // A folder comes before its content.
    const all = [...writableFolders, ...others].toSorted(([a], [b]) => a.length - b.length)
    return {
      // Emptied folders become read-only last: they are in memory and have no size limit.
      options: [...first, ...all.flatMap(([, words]) => words), ...emptied.flatMap((path) => ["--remount-ro", path])],
      places: all.map(([path]) => path),
      done,
    }
  }

  #protect(
    entry: ProtectedPath,
    root: string,
    { pinned, mounts, created }: { pinned: Map<string, string[]>; mounts: Map<string, string[]>; created: string[] },
  ): void {
    const path = withoutSlash(entry.path)
    for (const folder of foldersBetween(root, path)) {
      const facts = statOf(folder)
      if (!this.#isReal(folder, facts)) {
        if (entry.placeholder === null) return
        this.#createPlaceholder(root, folder, true, undefined)
        created.push(folder)
        return void mounts.set(folder, ["--ro-bind", folder, folder])
      }
      if (!facts.isDirectory()) return mountReadOnly(folder, facts, root, mounts)
      pinned.set(folder, ["--bind", folder, folder])
    }
    const facts = statOf(path)
    if (this.#isReal(path, facts)) return mountReadOnly(path, facts, root, mounts)
    if (entry.placeholder === null) return
    this.#createPlaceholder(root, path, entry.path.endsWith("/"), entry.placeholder)
    created.push(path)
    mounts.set(path, ["--ro-bind", path, path])
  }

  /** Reports whether something is there that is not a placeholder, neither of this process nor of another. */
  #isReal(path: string, facts: Stats | undefined): facts is Stats {
    return facts !== undefined && !this.#placeholders.has(path) && !isPlaceholder(path, facts)
  }

  #createPlaceholder(root: string, path: string, asFolder: boolean, text = ""): void {
    const known = this.#placeholders.get(path)
    const facts = statOf(path)
    if (known !== undefined && facts !== undefined) return void known.users++
    const isFolder = facts?.isDirectory() ?? asFolder
    const identity = inFolder(root, path, (at) => {
      if (facts !== undefined) return identityOf(facts)
      if (isFolder) mkdirSync(at, { mode: placeholderModes.folder })
      else writeFileSync(at, text, { flag: "wx", mode: placeholderModes.file })
      return identityOf(lstatSync(at))
    })
    if (identity === undefined) {
      throw failure("The workspace was changed while the sandbox was being set up. Run the command again.", {
        toolCode: "workspace_changed",
      })
    }
    this.#placeholders.set(path, { root, users: (known?.users ?? 0) + 1, isFolder, identity })
  }

  /** Counts one user less; whether no command of this process needs the placeholder any more. */
  #isUnusedNow(path: string): boolean {
    const known = this.#placeholders.get(path)
    return known !== undefined && --known.users <= 0
  }

  /**
   * Removes a placeholder if it is still the one we created. If a command of another process has it mounted, that
   * process removes it: removing it here would also remove the mount.
   */
  #remove(path: string, isMountedElsewhere: boolean): void {
    const known = this.#placeholders.get(path)!
    this.#placeholders.delete(path)
    if (isMountedElsewhere) return
    inFolder(known.root, path, (at) => {
      if (identityOf(lstatSync(at)) !== known.identity) return
      if (known.isFolder) rmdirSync(at)
      else unlinkSync(at)
    })
  }
}

/** Marked by the sticky bit, which no such file or folder has otherwise, so that every process recognizes them. */
const placeholderModes = { folder: 0o1700, file: 0o1600 }

/** A placeholder that has got content is one no more. */
function isPlaceholder(path: string, facts: Stats): boolean {
  const mode = facts.mode & 0o1777
  try {
    if (facts.isDirectory()) return mode === placeholderModes.folder && readdirSync(encodePath(path)).length === 0
    return facts.isFile() && mode === placeholderModes.file && facts.size <= ".\n".length
  } catch {
    return false
  }
}

/** Acts on a path below a root, never through a link; undefined if that fails. */
function inFolder<T>(root: string, path: string, act: (at: string | Buffer) => T): T | undefined {
  try {
    const folder = openFolderBelow(descriptorOpener, root, dirname(path))
    try {
      return act(folder.at(basename(path)))
    } finally {
      folder.close()
    }
  } catch {
    // Somebody else changed what is there, so it is left alone.
    return undefined
  }
}

/** Mounts what is there read-only. Of a link, its target is mounted, if that is below the root. */
function mountReadOnly(path: string, facts: Stats, root: string, mounts: Map<string, string[]>): void {
  if (!facts.isSymbolicLink()) return void mounts.set(path, ["--ro-bind", path, path])
  try {
    const real = decodeName(realpathSync(encodePath(path), "buffer"))
    if (real !== root && isWithin(real, root)) mounts.set(real, ["--ro-bind", real, real])
  } catch {
    // The link is broken.
  }
}

/** Nothing can be mounted on a link, so its target is hidden instead. */
function linkTarget(path: string): string {
  try {
    return statOf(path)?.isSymbolicLink() === true ? decodeName(realpathSync(encodePath(path), "buffer")) : path
  } catch {
    return path
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

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(encodePath(path))
  } catch {
    return undefined
  }
}

function identityOf(facts: Stats | undefined): string {
  return facts === undefined ? "" : `${facts.dev}:${facts.ino}`
}

/** Reports whether a path exists, following links. */
export function pathExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
