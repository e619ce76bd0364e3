import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Dirent,
  type Stats,
} from "node:fs"

/** Tells one version of a file from the next. */
export interface FileStamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

/** Reads files below one real folder. Never follows a link, even if a folder is swapped meanwhile. */
export interface FolderReader {
  /** Undefined if it is not a regular file, larger than `maxBytes`, behind a link, or cannot be read. */
  read(path: string, maxBytes: number): { readonly bytes: Buffer; readonly stamp: FileStamp } | undefined
  /** The entries of a folder; undefined if it is not a folder, behind a link, or cannot be listed. */
  list(path: string): Dirent[] | undefined
  close(): void
}

const isLinux = process.platform === "linux"
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** `root` is a real path. The last folder stays open, so that other files in it need only one open each. */
export function openFolderReader(root: string): FolderReader {
  let folder: { path: string; descriptor: number } | undefined
  const closeFolder = () => {
    if (folder !== undefined) closeSync(folder.descriptor)
    folder = undefined
  }
  const openFolder = (path: string): number => {
    if (folder?.path === path) return folder.descriptor
    closeFolder()
    const descriptor = openSync(path, folderFlags)
    folder = { path, descriptor }
    // A link anywhere in the path would show here.
    if (isLinux && readlinkSync(`/proc/self/fd/${descriptor}`) !== path) throw new Error("A folder was replaced.")
    return descriptor
  }
  const open = (path: string): number => {
    const cut = path.lastIndexOf("/")
    const parent = cut === -1 ? root : `${root}/${path.slice(0, cut)}`
    if (isLinux) return openSync(`/proc/self/fd/${openFolder(parent)}/${path.slice(cut + 1)}`, fileFlags)
    const descriptor = openSync(`${root}/${path}`, fileFlags)
    if (realpathSync(parent) === parent) return descriptor
    closeSync(descriptor)
    throw new Error("A folder was replaced.")
  }
  return {
    read(path, maxBytes) {
      let descriptor: number | undefined
      try {
        descriptor = open(path)
        const facts = fstatSync(descriptor)
        if (!facts.isFile() || facts.size > maxBytes) return undefined
        return { bytes: readAll(descriptor, facts.size), stamp: stampOf(facts) }
      } catch {
        if (descriptor === undefined) closeFolder()
        return undefined
      } finally {
        if (descriptor !== undefined) closeSync(descriptor)
      }
    },
    list(path) {
      const full = path === "" ? root : `${root}/${path}`
      try {
        if (isLinux) return readdirSync(`/proc/self/fd/${openFolder(full)}`, { withFileTypes: true })
        const entries = readdirSync(full, { withFileTypes: true })
        return realpathSync(full) === full ? entries : undefined
      } catch {
        closeFolder()
        return undefined
      }
    },
    close: closeFolder,
  }
}

export function stampOf({ size, mtimeMs, ctimeMs }: Stats): FileStamp {
  return { size, mtimeMs, ctimeMs }
}

export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.mtimeMs === b.mtimeMs && a.size === b.size && a.ctimeMs === b.ctimeMs
}

function readAll(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  while (at < size) {
    const read = readSync(descriptor, bytes, at, size - at, at)
    if (read === 0) break
    at += read
  }
  return bytes.subarray(0, at)
}
