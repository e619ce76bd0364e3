import { rm, readdir, rename } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { StoreUnavailable } from "../../core/ending.ts"
import { newId } from "../../lib/new-id.ts"
import { errorMessage } from "../../lib/error-message.ts"
import {
  copyFile,
  databaseName,
  syncAndDigest,
  isEmptyOrMissing,
  createEmptyPrivateFile,
  syncFolder,
  writeManifest,
  type BackedUpFile,
} from "./backup-files.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { copyDatabase, transaction, retryWhileBusy } from "./database.ts"
import { ensureFolder } from "../../lib/ensure-folder.ts"
import { currentVersion } from "./migrations-version.ts"
import { catchUp } from "./recovery.ts"
import type { Store } from "./store.ts"

/** The part of an open store that a backup needs. */
type Source = Pick<Store, "database" | "key" | "journalDir">

/**
 * Copies the data folder into a new folder while other processes keep writing: the database as it is at one moment, then
 * artifacts, the key and all other files. Everything acknowledged before is in it; each change acknowledged meanwhile is
 * in it completely or not at all. The folder appears only when it is complete.
 */
export async function backup(store: Source, folder: string): Promise<{ files: number; bytes: number }> {
  const target = resolve(folder)
  await refuseBadTarget(dirname(store.journalDir), target)
  const temporary = join(dirname(target), `.${newId()}.backup`)
  try {
    ensureFolder(temporary)
    const { head, files } = await copyAll(store, temporary)
    await writeManifest(temporary, { format: 1, madeAt: Date.now(), storeVersion: currentVersion, head, files })
    await syncFolder(temporary)
    await rename(temporary, target)
    await syncFolder(dirname(target))
    return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
    throw error instanceof StoreUnavailable ? error : cannotWrite(target, error)
  }
}

async function refuseBadTarget(dataDir: string, target: string): Promise<void> {
  const path = relative(resolve(dataDir), target)
  if (!path.startsWith("..") && !isAbsolute(path)) {
    throw new StoreUnavailable(
      `${target} is inside the data folder. Give a folder outside of it, best on another disk.`,
    )
  }
  const free = await isEmptyOrMissing(target).catch((error: unknown) => {
    throw cannotWrite(target, error)
  })
  if (!free) throw new StoreUnavailable(`${target} is not empty. Give a folder that does not exist yet.`)
}

function cannotWrite(target: string, error: unknown): StoreUnavailable {
  const what = errorMessage(error)
  return new StoreUnavailable(`The backup cannot be written to ${target} (${what}). Nothing was left there.`, {
    cause: error,
  })
}

async function copyAll(
  { database, key, journalDir }: Source,
  temporary: string,
): Promise<{ head: string; files: BackedUpFile[] }> {
  const dataDir = dirname(journalDir)
  await retryWhileBusy(() => catchUp({ database, key, dir: journalDir }))
  const { id, mac } = await retryWhileBusy(() => transaction(database, () => writeCheckpoint(database, key)))
  await createEmptyPrivateFile(join(temporary, databaseName))
  await copyDatabase(join(dataDir, databaseName), join(temporary, databaseName))
  const files = [{ name: databaseName, ...(await syncAndDigest(join(temporary, databaseName))) }]
  // After the database, because an artifact's file is written before its row.
  for await (const name of otherFiles(dataDir)) {
    const copied = await copyFile(join(dataDir, name), join(temporary, name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      throw error
    })
    if (copied !== undefined) files.push({ name, ...copied })
  }
  return { head: `${id}.${mac}`, files }
}

/** The files of the data folder except the database, SQLite's logs and the journals, which were moved into it. */
async function* otherFiles(dataDir: string, folder = ""): AsyncGenerator<string> {
  for (const entry of await readdir(join(dataDir, folder), { withFileTypes: true })) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (name.startsWith(databaseName) || name === "journal" || name.endsWith(".part")) continue
    if (entry.isDirectory()) yield* otherFiles(dataDir, name)
    else if (entry.isFile()) yield name
  }
}
