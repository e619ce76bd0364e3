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

/** What tells one version of a file from the next. */
export interface Stamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

/** Reads what is below one real folder. No link is followed, whatever is swapped meanwhile. */
export interface Inside {
  /** Undefined for what is no regular file, is larger than `most`, is reached through a link, or cannot be read. */
  read(path: string, most: number): { readonly bytes: Buffer; readonly stamp: Stamp } | undefined
  /** What is in a folder; undefined when it is none, is reached through a link, or cannot be listed. */
  list(path: string): Dirent[] | undefined
  close(): void
}

const isLinux = process.platform === "linux"
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** `root` is a real path. The folder that was read from last stays open: its neighbours cost one open each. */
export function inside(root: string): Inside {
  let folder: { path: string; descriptor: number } | undefined
  const leave = () => {
    if (folder !== undefined) closeSync(folder.descriptor)
    folder = undefined
  }
  const enter = (path: string): number => {
    if (folder?.path === path) return folder.descriptor
    leave()
    const descriptor = openSync(path, folderFlags)
    folder = { path, descriptor }
    // A link anywhere above it would show here.
    if (isLinux && readlinkSync(`/proc/self/fd/${descriptor}`) !== path) throw new Error("A folder was replaced.")
    return descriptor
  }
  const open = (path: string): number => {
    const cut = path.lastIndexOf("/")
    const parent = cut === -1 ? root : `${root}/${path.slice(0, cut)}`
    if (isLinux) return openSync(`/proc/self/fd/${enter(parent)}/${path.slice(cut + 1)}`, fileFlags)
    const descriptor = openSync(`${root}/${path}`, fileFlags)
    if (realpathSync(parent) === parent) return descriptor
    closeSync(descriptor)
    throw new Error("A folder was replaced.")
  }
  return {
    read(path, most) {
      let descriptor: number | undefined
      try {
        descriptor = open(path)
        const facts = fstatSync(descriptor)
        if (!facts.isFile() || facts.size > most) return undefined
        return { bytes: readAll(descriptor, facts.size), stamp: stampOf(facts) }
      } catch {
        if (descriptor === undefined) leave()
        return undefined
      } finally {
        if (descriptor !== undefined) closeSync(descriptor)
      }
    },
    list(path) {
      const full = path === "" ? root : `${root}/${path}`
      try {
        if (isLinux) return readdirSync(`/proc/self/fd/${enter(full)}`, { withFileTypes: true })
        const entries = readdirSync(full, { withFileTypes: true })
        return realpathSync(full) === full ? entries : undefined
      } catch {
        leave()
        return undefined
      }
    },
    close: leave,
  }
}

export function stampOf({ size, mtimeMs, ctimeMs }: Stats): Stamp {
  return { size, mtimeMs, ctimeMs }
}

export function isSame(one: Stamp, other: Stamp): boolean {
  return one.mtimeMs === other.mtimeMs && one.size === other.size && one.ctimeMs === other.ctimeMs
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
