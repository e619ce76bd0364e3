import { rm, readdir, rename } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { StoreUnavailable } from "../model/ending.ts"
import { newId } from "../model/identity.ts"
import { messageOf } from "../model/message.ts"
import {
  copyFile,
  databaseName,
  digestOf,
  isFree,
  makePrivate,
  syncFolder,
  writeManifest,
  type BackedUpFile,
} from "./backup-files.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { copyDatabase, transaction, whenFree } from "./database.ts"
import { ensureFolder } from "./folder.ts"
import { currentVersion } from "./migrations-version.ts"
import { catchUp } from "./recovery.ts"
import type { Store } from "./store.ts"

/** What a backup is made of: an open store, or that much of it. */
type Source = Pick<Store, "database" | "key" | "journalDir">

/**
 * Copies everything that must last into a new folder while others go on writing: the database as it is at one moment,
 * then artifacts, the key and whatever else lies in the data folder. What was acknowledged before is in it; what is
 * acknowledged meanwhile is in it whole or not at all. The folder appears only when it is complete.
 */
export async function backup(store: Source, folder: string): Promise<{ files: number; bytes: number }> {
  const target = resolve(folder)
  await refuse(dirname(store.journalDir), target)
  const half = join(dirname(target), `.${newId()}.backup`)
  try {
    ensureFolder(half)
    const { head, files } = await copyAll(store, half)
    await writeManifest(half, { format: 1, madeAt: Date.now(), storeVersion: currentVersion, head, files })
    await syncFolder(half)
    await rename(half, target)
    await syncFolder(dirname(target))
    return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) }
  } catch (error) {
    await rm(half, { recursive: true, force: true }).catch(() => {})
    throw error instanceof StoreUnavailable ? error : unwritten(target, error)
  }
}

async function refuse(dataDir: string, target: string): Promise<void> {
  const way = relative(resolve(dataDir), target)
  if (!way.startsWith("..") && !isAbsolute(way)) {
    throw new StoreUnavailable(
      `${target} is inside the data folder. Give a folder outside of it, best on another disk.`,
    )
  }
  const free = await isFree(target).catch((error: unknown) => {
    throw unwritten(target, error)
  })
  if (!free) throw new StoreUnavailable(`${target} is not empty. Give a folder that does not exist yet.`)
}

function unwritten(target: string, error: unknown): StoreUnavailable {
  const what = messageOf(error)
  return new StoreUnavailable(`The backup cannot be written to ${target} (${what}). Nothing was left there.`, {
    cause: error,
  })
}

async function copyAll(
  { database, key, journalDir }: Source,
  half: string,
): Promise<{ head: string; files: BackedUpFile[] }> {
  const dataDir = dirname(journalDir)
  await whenFree(() => catchUp({ database, key, dir: journalDir }))
  const { id, mac } = await whenFree(() => transaction(database, () => writeCheckpoint(database, key)))
  await makePrivate(join(half, databaseName))
  await copyDatabase(join(dataDir, databaseName), join(half, databaseName))
  const files = [{ name: databaseName, ...(await digestOf(join(half, databaseName))) }]
  // After the database, because an artifact's file is there before its row.
  for await (const name of lasting(dataDir)) {
    const copied = await copyFile(join(dataDir, name), join(half, name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      throw error
    })
    if (copied !== undefined) files.push({ name, ...copied })
  }
  return { head: `${id}.${mac}`, files }
}

/** What lies in the data folder beside the database, its logs and the journals, which are in it by now. */
async function* lasting(dataDir: string, folder = ""): AsyncGenerator<string> {
  for (const entry of await readdir(join(dataDir, folder), { withFileTypes: true })) {
    const name = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (name.startsWith(databaseName) || name === "journal" || name.endsWith(".part")) continue
    if (entry.isDirectory()) yield* lasting(dataDir, name)
    else if (entry.isFile()) yield name
  }
}
