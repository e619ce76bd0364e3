import {
  chmodSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync, statSync, type BigIntStats,
} from "node:fs" // prettier-ignore
import { join, relative, sep } from "node:path"
import { encodePath } from "../../lib/byte-names.ts"
import { fileFailure } from "./file-failures.ts"

/** An open folder. Operations through it act on this folder, even if its path is renamed or replaced meanwhile. */
export interface FolderHandle {
  /** Its real path. */
  readonly real: string
  /** A path to the folder itself, for system calls that take a path. */
  readonly self: string
  /**
   * The path of an entry, for system calls that do not follow a link at the end. Names are as `decodeName` returns
   * them.
   */
  at(name: string): string | Buffer
  /**
   * Throws when the folder's path now leads elsewhere, or when `descriptor` is not the entry called `name`. With a
   * folder opened by descriptor this cannot happen, so nothing is checked.
   */
  verify(name?: string, descriptor?: number): void
  close(): void
}

/** Opens folders on this system. Throws the system's own errors. */
export interface FolderOpener {
  /** Follows links; `real` is where they led. */
  open(path: string): FolderHandle
  /** Opens a subfolder, never through a link. */
  openIn(folder: FolderHandle, name: string): FolderHandle
}

/** Linux: keeps a descriptor of the folder and goes through `/proc/self/fd`. */
export const descriptorOpener: FolderOpener = {
  open: (path) => descriptorHandle(openSync(path, pathOnly | directory)),
  openIn: (folder, name) => descriptorHandle(openSync(folder.at(name), pathOnly | directory | constants.O_NOFOLLOW)),
}

/** Other systems: checks the real path again after each step, which narrows the race but does not close it. */
export const realPathOpener: FolderOpener = {
  open: (path) => realPathHandle(realpathSync.native(path)),
  openIn(folder, name) {
    const path = join(folder.real, name)
    if (lstatSync(path).isSymbolicLink()) throw notFolder()
    return realPathHandle(path)
  },
}

/** Also opens our own folders whose mode denies us access: it adds the owner's rights first. */
export function withOwnerAccess(opener: FolderOpener): FolderOpener {
  const openIn = (parent: FolderHandle, name: string) => {
    const folder = opener.openIn(parent, name)
    const { mode, uid } = statSync(folder.self)
    if ((mode & 0o700) !== 0o700 && uid === process.geteuid?.()) chmodSync(folder.self, (mode & 0o7777) | 0o700)
    return folder
  }
  return { ...opener, openIn }
}

/** Opens a subfolder, creating it if it is missing. */
export function openOrCreateFolder(
  opener: FolderOpener,
  parent: FolderHandle,
  name: string,
  mode = 0o777,
): FolderHandle {
  try {
    mkdirSync(parent.at(name), { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
  parent.verify()
  return opener.openIn(parent, name)
}

/** Opens a folder below a root, one folder at a time and never through a link. */
export function openFolderBelow(
  opener: FolderOpener,
  root: string,
  path: string,
  open: (opener: FolderOpener, parent: FolderHandle, name: string) => FolderHandle = (_, parent, name) =>
    opener.openIn(parent, name),
): FolderHandle {
  let folder = opener.open(root)
  for (const name of relative(root, path).split(sep)) {
    if (name === "") continue
    const parent = folder
    try {
      folder = open(opener, parent, name)
    } finally {
      parent.close()
    }
  }
  return folder
}

/** Reports whether folders can be opened by descriptor: `/proc` is mounted and shows where a descriptor leads. */
export function canOpenByDescriptor(): boolean {
  if (process.platform !== "linux") return false
  try {
    const folder = descriptorOpener.open("/")
    const works = folder.real === "/" && lstatSync(folder.at("proc")).isDirectory()
    folder.close()
    return works
  } catch {
    return false
  }
}

/** O_PATH, which Node does not name: opens the folder without the right to read it. */
const pathOnly = 0o10000000
const directory = constants.O_DIRECTORY

function descriptorHandle(descriptor: number): FolderHandle {
  const self = `/proc/self/fd/${descriptor}`
  try {
    const real = readlinkSync(self)
    return { real, self, at: (name) => encodePath(`${self}/${name}`), verify() {}, close: () => closeSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function realPathHandle(real: string): FolderHandle {
  const before = statSync(real, { bigint: true })
  if (!before.isDirectory()) throw notFolder()
  return {
    real,
    self: real,
    at: (name) => join(real, name),
    verify(name, descriptor) {
      const isUnchanged = isSame(statOf(real), before) && realpathSync.native(real) === real
      const opened = descriptor === undefined ? undefined : fstatSync(descriptor, { bigint: true })
      if (!isUnchanged || (opened !== undefined && !isSame(statOf(join(real, name!)), opened)))
        throw fileFailure("outside", `Access denied: Path is outside workspace directory, as far as can be told: '${real}' was changed while it was in use. Try again.`) // prettier-ignore
    },
    close() {},
  }
}

function statOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

function isSame(a: BigIntStats | undefined, b: BigIntStats): boolean {
  return a?.ino === b.ino && a.dev === b.dev
}

function notFolder(): Error {
  return Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" })
}
