import { existsSync, readdirSync, realpathSync, statSync, type Stats } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { failure } from "../../core/ending.ts"

export interface OwnFolders {
  /** Our own data, which is never opened. */
  readonly dataFolder: string
  /** The folder in which agents may have made links. */
  readonly workspace: string
}

/** A file that may be opened, by its real path and what is there now. */
export interface CheckedFile {
  readonly path: string
  readonly dev: number
  readonly ino: number
}

/**
 * The file of a database. Fails for our own store, however its path is written: through a link, another name of
 * the same folder, or a second name of the same file. Fails also for a path in the workspace that leads out of it.
 */
export function databaseFile(name: string, written: string, { dataFolder, workspace }: OwnFolders): CheckedFile {
  const file = realPath(name, written)
  const found = statSync(file)
  if (isInside(file, dataFolder) || isFileOf(dataFolder, found))
    throw failure(
      `The database '${name}' is Quartermaster's own data, which no tool opens. Remove it from 'databases'.`,
      { toolCode: "own_data" },
    )
  if (isInside(resolve(written), workspace) && !isInside(file, workspace))
    throw failure(
      `The file of the database '${name}' is a link that leads out of the workspace, and an agent could have made it. A person must write its real path into databases.${name}.url.`,
      { toolCode: "path_outside_workspace" },
    )
  return { path: file, dev: found.dev, ino: found.ino }
}

/** Reports whether one of the folders above the path, as it is written, is this folder, by whatever name. */
function isInside(path: string, folder: string): boolean {
  const own = statSync(folder, { throwIfNoEntry: false })
  return own !== undefined && foldersAbove(path).some((one) => isSame(one, own))
}

function realPath(name: string, written: string): string {
  try {
    return realpathSync(written)
  } catch {
    throw failure(`The file of the database '${name}' does not exist. A person must check databases.${name}.url.`, {
      toolCode: "database_not_found",
    })
  }
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file)
  return folder === file ? [] : [folder, ...foldersAbove(folder)]
}

/** Reports whether the file is also in the folder, under whatever name. */
function isFileOf(folder: string, found: Stats): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => isSame(join(folder, name), found))
}

/** Reports whether the path leads to this file or folder. */
export function isSame(path: string, { dev, ino }: { dev: number; ino: number }): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.dev === dev && found.ino === ino
}
