import { lstatSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { configFilesIn, userConfigFolder } from "./find.ts"

export const dataFolderName = ".quartermaster"

/** The folder of the sample that `qm serve --sample` makes where there is no project. */
export const sampleFolderName = "quartermaster-sample"

/**
 * The project of a folder. Where there is none but a sample was made in the folder, it is the sample, so that every
 * command works on what the server serves.
 */
export function findProject(cwd: string, home: string): string | undefined {
  const found = nearestProject(cwd, home)
  if (found !== undefined) return found
  const sample = join(resolve(cwd), sampleFolderName)
  return isOurs(sample) && isProject(sample) ? sample : undefined
}

/**
 * The nearest folder with a configuration or a data folder: the working folder, otherwise one above it, up to the root
 * of the file system. The search goes up only through folders that belong to this user alone, so that nobody else can
 * put a project above ours. Home and the user's configuration folder count only as the working folder.
 */
function nearestProject(cwd: string, home: string): string | undefined {
  const here = resolve(cwd)
  if (isProject(here)) return here
  const passed = [realPath(home), realPath(userConfigFolder(home))]
  let folder = realPath(here)
  while (folder !== undefined && isOurs(folder)) {
    const above = dirname(folder)
    if (above === folder || !isOurs(above)) return undefined
    if (!passed.includes(above) && isProject(above)) return above
    folder = above
  }
  return undefined
}

/** A data folder that is a link counts too: opening it is refused, instead of using one further up. */
function isProject(folder: string): boolean {
  return configFilesIn(folder).length > 0 || isFolderOrLink(join(folder, dataFolderName))
}

function isFolderOrLink(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.isDirectory() || found.isSymbolicLink())
}

/** Reports whether the folder belongs to this user, and not everybody can write to it. */
function isOurs(folder: string): boolean {
  if (process.getuid === undefined) return true
  try {
    const { uid, mode } = statSync(folder)
    return uid === process.getuid() && (mode & 0o002) === 0
  } catch {
    return false
  }
}

/** Undefined when the folder does not exist or cannot be reached. */
function realPath(folder: string): string | undefined {
  try {
    return realpathSync(folder)
  } catch {
    return undefined
  }
}
