import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { textOf } from "./byte-names.ts"
import { isWithin } from "./seals.ts"

/** What is mounted where, as the kernel tells it. */
interface Mount {
  readonly device: string
  /** Which part of its file system it shows. */
  readonly root: string
  readonly at: string
  readonly kind: string
}

/** What was meant to be mounted. */
export interface MeantMounts {
  readonly writable: readonly string[]
  /** Places in them that are held or covered. */
  readonly places: readonly string[]
}

/**
 * Whether a process sees, in the folders it can write in, what was meant to be there, each at its own place. Bubblewrap
 * follows links after we have looked: who swaps a folder for a link in between would have anything mounted.
 */
export function hasMeantMounts(pid: number, { writable, places }: MeantMounts): boolean {
  try {
    const ours = mountsOf("self")
    // A name may change while a line is written; a wrong line does not look right three times.
    return [1, 2, 3].every(() => {
      const seen = mountsOf(pid).filter(({ at }) => writable.some((folder) => isWithin(at, folder)))
      const found = new Set(seen.map(({ at }) => at))
      return [...writable, ...places].every((path) => found.has(path)) && seen.every((mount) => isMeant(mount, ours))
    })
  } catch {
    return false
  }
}

function isMeant(mount: Mount, ours: readonly Mount[]): boolean {
  if (mount.kind === "tmpfs" && mount.root === "/" && ours.every(({ device }) => device !== mount.device)) return true
  return isSame(mount, whatIsAt(mount.at, ours)) || isSame(mount, whatIsAt("/dev/null", ours))
}

const isSame = (one: Mount, other: Pick<Mount, "device" | "root"> | undefined) =>
  one.device === other?.device && one.root === other.root

/** What we ourselves see at a path: the innermost mount above it, and of several at one place the last. */
function whatIsAt(path: string, ours: readonly Mount[]): Pick<Mount, "device" | "root"> | undefined {
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

/** Spaces and their like are written as three digits. */
function unescaped(path: string): string {
  const bytes = path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)))
  return textOf(Buffer.from(bytes, "latin1"))
}
