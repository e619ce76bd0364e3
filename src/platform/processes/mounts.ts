import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { join, relative } from "node:path"
import { decodeName } from "../../lib/byte-names.ts"
import { isWithin } from "./is-within.ts"

/** A line of /proc/PID/mountinfo. */
interface Mount {
  readonly device: string
  /** The part of the file system that is mounted. */
  readonly root: string
  readonly at: string
  readonly kind: string
}

/** The mounts that we asked bubblewrap for. */
export interface ExpectedMounts {
  /** The file roots the command uses. */
  readonly folders: readonly string[]
  /** Protected or hidden paths inside them. */
  readonly places: readonly string[]
}

/**
 * Reports whether a process sees the expected mounts in those folders. Bubblewrap follows links after we have checked:
 * somebody who swaps a folder for a link in between could have any path mounted.
 */
export function hasExpectedMounts(pid: number, { folders, places }: ExpectedMounts): boolean {
  try {
    const ours = mountsOf("self")
    // A rename while the kernel writes a line can make one read wrong, so the check has to pass three times.
    return [1, 2, 3].every(() => {
      const seen = mountsOf(pid).filter(({ at }) => folders.some((folder) => isWithin(at, folder)))
      const found = new Set(seen.map(({ at }) => at))
      return [...folders, ...places].every((path) => found.has(path)) && seen.every((mount) => isExpected(mount, ours))
    })
  } catch {
    return false
  }
}

/** Returns the mount points of other mount namespaces. */
export function mountsOfOtherNamespaces(): Set<string> {
  const found = new Set<string>()
  const seen = new Set([readlinkSync("/proc/self/ns/mnt")])
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const theirs = readlinkSync(`/proc/${pid}/ns/mnt`)
      if (seen.has(theirs)) continue
      for (const { at } of mountsOf(Number(pid))) found.add(at)
      seen.add(theirs)
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  return found
}

function isExpected(mount: Mount, ours: readonly Mount[]): boolean {
  if (mount.kind === "tmpfs" && mount.root === "/" && ours.every(({ device }) => device !== mount.device)) return true
  return isSame(mount, mountAt(mount.at, ours)) || isSame(mount, mountAt("/dev/null", ours))
}

const isSame = (a: Mount, b: Pick<Mount, "device" | "root"> | undefined) => a.device === b?.device && a.root === b.root

/** Returns the mount that this process sees at a path: the innermost above it; of several at one path, the last. */
function mountAt(path: string, ours: readonly Mount[]): Pick<Mount, "device" | "root"> | undefined {
  let found: Mount | undefined
  for (const mount of ours) {
    if (isWithin(path, mount.at) && mount.at.length >= (found?.at.length ?? 0)) found = mount
  }
  return found && { device: found.device, root: join(found.root, relative(found.at, path)) }
}

function mountsOf(pid: number | "self"): Mount[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "latin1").split("\n")
  return lines.slice(0, -1).map((line) => {
    const [, , device = "", root = "", at = "", ...rest] = line.split(" ")
    return { device, root: unescaped(root), at: unescaped(at), kind: rest[rest.indexOf("-") + 1] ?? "" }
  })
}

/** The kernel writes spaces and the like as three octal digits. */
function unescaped(path: string): string {
  const bytes = path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)))
  return decodeName(Buffer.from(bytes, "latin1"))
}
