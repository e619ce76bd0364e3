import { rename, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { existsSync } from "node:fs"
import { StoreUnavailable } from "../model/ending.ts"
import { newId } from "../model/identity.ts"
import { messageOf } from "../model/message.ts"
import { copyFile, databaseName, isFree, keyName, readManifest, syncFolder, type Manifest } from "./backup-files.ts"
import { directChain } from "./chains.ts"
import { openDatabase, transaction, whenFree, type Database } from "./database.ts"
import { ensureFolder } from "./folder.ts"
import { recordKey, type RecordKey } from "./key.ts"
import { livingWriter } from "./living-writer.ts"
import { currentVersion } from "./migrations-version.ts"
import { endChain } from "./recovery.ts"
import { appendDirect } from "./segments.ts"
import type { ChainRow } from "./tables.ts"
import { verifyRecord } from "./verify.ts"

export interface Restored {
  files: number
  bytes: number
  records: number
  /** Where the folder is now that was there before. */
  previous?: string
}

/**
 * Makes a data folder out of a backup. Every file is checked against its digest and the record is verified before
 * anything takes the place of what is there; with `replace` that is moved aside, never removed.
 */
export async function restore(
  folder: string,
  dataDir: string,
  { replace = false }: { replace?: boolean } = {},
): Promise<Restored> {
  const target = resolve(dataDir)
  const manifest = await readManifest(resolve(folder))
  if (manifest.storeVersion > currentVersion) {
    throw new StoreUnavailable(
      `The backup was made by a newer version of Quartermaster (${manifest.storeVersion}). Update Quartermaster.`,
    )
  }
  await refuse(target, replace)
  const half = join(dirname(target), `.${newId()}.restore`)
  try {
    ensureFolder(half)
    const bytes = await copyAll(resolve(folder), half, manifest)
    const records = await settle(half, manifest)
    const previous = await takePlace(half, target)
    return { files: manifest.files.length, bytes, records, ...(previous === undefined ? {} : { previous }) }
  } catch (error) {
    await rm(half, { recursive: true, force: true }).catch(() => {})
    if (error instanceof StoreUnavailable) throw error
    const what = messageOf(error)
    throw new StoreUnavailable(`The backup cannot be restored to ${target} (${what}). What was there is unchanged.`, {
      cause: error,
    })
  }
}

async function refuse(target: string, replace: boolean): Promise<void> {
  const file = join(target, databaseName)
  if (!existsSync(file)) return
  if (!replace) {
    throw new StoreUnavailable(
      `${target} has a database. Give another folder, or restore with --replace, which moves it aside.`,
    )
  }
  const living = await livingWriter(file)
  if (living === undefined) return
  throw new StoreUnavailable(`${living} still writes to ${target}. Stop it, then restore again.`)
}

function chainsOf(database: Database): ChainRow[] {
  const chains = "select * from chains where uuid <> ? order by ordinal"
  return database.prepare(chains).all(directChain) as unknown as ChainRow[]
}

async function copyAll(folder: string, half: string, { files }: Manifest): Promise<number> {
  let bytes = 0
  for (const { name, size, sha256 } of files) {
    const copied = await copyFile(join(folder, name), join(half, name))
    if (copied.size !== size || copied.sha256 !== sha256) {
      throw new StoreUnavailable(
        `The backup is damaged: ${name} is not as it was written. Nothing was restored; take another backup.`,
      )
    }
    bytes += size
  }
  for (const name of [databaseName, keyName]) {
    if (!files.some((file) => file.name === name)) {
      throw new StoreUnavailable(`The backup has no ${name}. Nothing was restored; take another backup.`)
    }
  }
  return bytes
}

/** Verifies the copied record, then ends in it what no process walks any more. */
async function settle(half: string, { head, madeAt }: Manifest): Promise<number> {
  const key = recordKey(half)
  const database = await openDatabase(join(half, databaseName))
  try {
    const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number }
    if (version < currentVersion) await (await import("./kysely.ts")).migrate(database)
    const verified = verifyRecord(database, key, head)
    if (!verified.ok) {
      throw new StoreUnavailable(
        `The record in the backup is not as it was written. ${verified.record}: ${verified.problem} Nothing was restored.`,
      )
    }
    await whenFree(() => transaction(database, () => leaveBehind(database, key, madeAt)))
    database.exec("pragma wal_checkpoint(truncate)")
    await leaveOpened(join(half, databaseName))
    return verified.records
  } finally {
    database.close()
  }
}

/** What was opened may stay open for a while after it is closed; a fresh copy takes its place. */
async function leaveOpened(file: string): Promise<void> {
  await copyFile(file, `${file}.settled`)
  for (const ending of ["", "-wal", "-shm"]) await rm(`${file}${ending}`, { force: true })
  await rename(`${file}.settled`, file)
}

/** In the copy nobody writes on: journals have ended, and calls belong to nobody until somebody comes for them. */
function leaveBehind(database: Database, key: RecordKey, madeAt: number): void {
  database.exec("update calls set owner = '', epoch = epoch + 1 where state <> 'ended'; delete from processes")
  askAgain(database)
  for (const chain of chainsOf(database)) if (chain.closed === 0) endChain(database, key, chain)
  const text = `Restored from a backup that was made at ${new Date(madeAt).toISOString()}.`
  appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), text })
}

/**
 * A yes may have been used since the backup was made, so none of them counts twice: what people agreed to, wholly or in
 * part, waits again as a new revision. A no stays a no.
 */
function askAgain(database: Database): void {
  const note = "It was restored from a backup, so what was said to it before counts no more."
  const isNo = "json_extract(answer, '$.approved') = 0 and json_extract(answer, '$.edit') is null"
  database
    .prepare(
      `update calls set state = case state when 'ready' then 'waiting' when 'released' then 'held' else state end,
       answer = null, votes = '[]', revision = revision + 1, card = json_set(card, '$.note', ?)
       where state in ('ready', 'released') and (${isNo}) is not true
       or state in ('waiting', 'held') and votes <> '[]'`,
    )
    .run(note)
}

async function takePlace(half: string, target: string): Promise<string | undefined> {
  let previous: string | undefined
  if (!(await isFree(target))) {
    previous = `${target}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`
    await rename(target, previous)
  }
  try {
    await rename(half, target)
  } catch (error) {
    if (previous !== undefined) await rename(previous, target)
    throw error
  }
  await syncFolder(dirname(target))
  return previous
}
