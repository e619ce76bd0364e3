import { randomBytes } from "node:crypto"
import { realpathSync, writeFileSync } from "node:fs"
import { basename, dirname, relative, sep } from "node:path"
import { carry } from "../files/carry.ts"
import { canHold, held, watched, type Doors, type Folder } from "../files/folder.ts"
import { openOwn } from "../files/own.ts"
import { isWithin } from "./seals.ts"

export interface Quarantine {
  readonly dataFolder: string
  readonly workspace: string
  readonly roots: readonly string[]
}

/** What happened to things that nobody may make. */
export interface TakenAway {
  /** All of them, from the workspace. */
  readonly paths: readonly string[]
  /** What the command's caller is told; nothing when there were none. */
  readonly notice: string
}

/**
 * Moves things out of the workspace into the folder *quarantine* of the data folder, each with a note that says where it
 * was. No link that another command puts in the way is followed.
 */
export async function takeAway(paths: readonly string[], place: Quarantine): Promise<TakenAway> {
  const outer = paths.filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
  const moved: string[] = []
  const left: string[] = []
  for (const path of outer) {
    const shown = isWithin(path, place.workspace) ? relative(place.workspace, path).split(sep).join("/") : path
    try {
      await moveOne(path, shown, place)
      moved.push(shown)
    } catch {
      left.push(shown)
    }
  }
  return { paths: [...moved, ...left], notice: noticeOf(moved, left) }
}

async function moveOne(path: string, shown: string, { dataFolder, roots }: Quarantine): Promise<void> {
  const doors = canHold() ? held : watched
  const now = new Date().toISOString()
  const from = openBelow(
    doors,
    roots.find((root) => isWithin(path, root))!,
    dirname(path),
  )
  try {
    const id = `${now.replaceAll(/[:.]/g, "-")}-${randomBytes(4).toString("hex")}`
    const to = openOwn({ doors, dataFolder: realpathSync.native(dataFolder) }, "quarantine", id)
    try {
      writeFileSync(to.at("note.json"), JSON.stringify({ path: shown, takenAt: now }), { mode: 0o600, flag: "wx" })
      const options = { from: shown, to: shown, overwrite: false }
      await carry(doors, { folder: from, name: basename(path) }, { folder: to, name: "item" }, options)
    } finally {
      to.close()
    }
  } finally {
    from.close()
  }
}

function openBelow(doors: Doors, root: string, path: string): Folder {
  let folder = doors.open(root)
  for (const name of relative(root, path).split(sep)) {
    if (name === "") continue
    const above = folder
    try {
      folder = doors.openIn(above, name)
    } finally {
      above.close()
    }
  }
  return folder
}

function noticeOf(moved: readonly string[], left: readonly string[]): string {
  const sentences = []
  if (moved.length > 0) {
    sentences.push(`No command may make ${listed(moved)}: moved to quarantine in the data folder of Quartermaster. Ask a person if it is needed.`) // prettier-ignore
  }
  if (left.length > 0) {
    sentences.push(`No command may make ${listed(left)}, and it could not be moved away. Remove it, and tell a person.`)
  }
  return sentences.length === 0 ? "" : `[${sentences.join(" ")}]\n`
}

function listed(paths: readonly string[]): string {
  const first = paths.slice(0, 10).map((path) => `'${path}'`)
  return paths.length > 10 ? `${first.join(", ")} and ${paths.length - 10} more` : first.join(", ")
}
