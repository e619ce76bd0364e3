import { readdirSync, realpathSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { failure } from "../../model/ending.ts"

/**
 * The real path of a database file. Fails for our own store, however its path is written: through a link, another name of
 * the same folder, or a second name of the same file.
 */
export function databaseFile(name: string, written: string, dataFolder: string): string {
  const file = realPath(name, written)
  const own = statSync(dataFolder, { throwIfNoEntry: false })
  if (own !== undefined && (foldersAbove(file).some((folder) => isSame(folder, own)) || isFileOf(dataFolder, file)))
    throw failure(
      `The database '${name}' is Quartermaster's own data, which no tool opens. Remove it from 'databases'.`,
      {
        toolCode: "own_data",
      },
    )
  return file
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

/** Whether the file is also in the folder, under whatever name. */
function isFileOf(folder: string, file: string): boolean {
  const found = statSync(file)
  return found.nlink > 1 && readdirSync(folder).some((name) => isSame(join(folder, name), found))
}

function isSame(path: string, { dev, ino }: { dev: number; ino: number }): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.dev === dev && found.ino === ino
}
