import { rename, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { existsSync } from "node:fs"
import { StoreUnavailable } from "../core/ending.ts"
import type { Sentence } from "../core/reason.ts"
import { newId } from "../lib/new-id.ts"
import { societyPrefix } from "../core/society-conversation.ts"
import { errorMessage } from "../lib/error-message.ts"
import {
  copyFile,
  databaseName,
  isEmptyOrMissing,
  keyName,
  readManifest,
  syncFolder,
  type Manifest,
} from "../store/sqlite/backup-files.ts"
import { directChain } from "../store/sqlite/chains.ts"
import { openDatabase, transaction, retryWhileBusy, type Database } from "../store/sqlite/database.ts"
import { ensureFolder } from "../lib/ensure-folder.ts"
import { loadRecordKey, type RecordKey } from "../store/sqlite/record-key.ts"
import { findLiveWriter } from "../store/sqlite/find-live-writer.ts"
import { currentVersion } from "../store/sqlite/migrations-version.ts"
import { closeAbandonedChain } from "../store/sqlite/recovery.ts"
import { appendDirect } from "../store/sqlite/segments.ts"
import type { ChainRow } from "../store/sqlite/tables.ts"
import { verifyAuditLog } from "../audit/verify.ts"

export interface RestoreResult {
  files: number
  bytes: number
  records: number
  /** The number of conversations that stand still until a person resumes them. */
  paused: number
  /** The new path of the replaced data folder. */
  previous?: string
}

/**
 * Restores a data folder from a backup. It checks every file against its digest and verifies the audit log before it
 * replaces anything. With `replace` an existing data folder is moved aside, never removed.
 */
export async function restore(
  folder: string,
  dataDir: string,
  { replace = false }: { replace?: boolean } = {},
): Promise<RestoreResult> {
  const target = resolve(dataDir)
  const manifest = await readManifest(resolve(folder))
  if (manifest.storeVersion > currentVersion) {
    throw new StoreUnavailable(
      `The backup was made by a newer version of Quartermaster (${manifest.storeVersion}). Update Quartermaster.`,
    )
  }
  await refuseUsedTarget(target, replace)
  const temporary = join(dirname(target), `.${newId()}.restore`)
  try {
    ensureFolder(temporary)
    const bytes = await copyAll(resolve(folder), temporary, manifest)
    const { records, paused } = await verifyAndClose(temporary, manifest)
    const previous = await moveIntoPlace(temporary, target)
    return { files: manifest.files.length, bytes, records, paused, ...(previous === undefined ? {} : { previous }) }
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => {})
    if (error instanceof StoreUnavailable) throw error
    const what = errorMessage(error)
    throw new StoreUnavailable(`The backup cannot be restored to ${target} (${what}). What was there is unchanged.`, {
      cause: error,
    })
  }
}

async function refuseUsedTarget(target: string, replace: boolean): Promise<void> {
  const file = join(target, databaseName)
  if (!existsSync(file)) return
  if (!replace) {
    throw new StoreUnavailable(
      `${target} has a database. Give another folder, or restore with --replace, which moves it aside.`,
    )
  }
  const writer = await findLiveWriter(file)
  if (writer === undefined) return
  throw new StoreUnavailable(`${writer} still writes to ${target}. Stop it, then restore again.`)
}

function chainsOf(database: Database): ChainRow[] {
  const chains = "select * from chains where uuid <> ? order by ordinal"
  return database.prepare(chains).all(directChain) as unknown as ChainRow[]
}

async function copyAll(folder: string, temporary: string, { files }: Manifest): Promise<number> {
  let bytes = 0
  for (const { name, size, sha256 } of files) {
    const copied = await copyFile(join(folder, name), join(temporary, name))
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

/** Verifies the copied audit log, then closes what the processes of the original left open. */
async function verifyAndClose(
  temporary: string,
  { head, madeAt }: Manifest,
): Promise<Pick<RestoreResult, "records" | "paused">> {
  const key = loadRecordKey(temporary, () => true)
  const database = await openDatabase(join(temporary, databaseName))
  try {
    const { user_version: version } = database.prepare("pragma user_version").get() as { user_version: number }
    if (version < currentVersion) await (await import("../store/sqlite/kysely.ts")).migrate(database)
    const verified = verifyAuditLog(database, key, head)
    if (!verified.ok) {
      throw new StoreUnavailable(
        `The audit log in the backup was changed after it was written. ${verified.record}: ${verified.problem} Nothing was restored.`,
      )
    }
    const paused = await retryWhileBusy(() => transaction(database, () => closeOpenWork(database, key, madeAt)))
    database.exec("pragma wal_checkpoint(truncate)")
    await replaceWithCopy(join(temporary, databaseName))
    return { records: verified.records, paused }
  } finally {
    database.close()
  }
}

/** SQLite may keep a closed file open for a while, so a new copy takes its place. */
async function replaceWithCopy(file: string): Promise<void> {
  await copyFile(file, `${file}.settled`)
  for (const ending of ["", "-wal", "-shm"]) await rm(`${file}${ending}`, { force: true })
  await rename(`${file}.settled`, file)
}

/**
 * No process writes to the copy yet: closes its journals' chains, and removes the owners of its calls and conversations.
 * Returns how many conversations are paused.
 */
function closeOpenWork(database: Database, key: RecordKey, madeAt: number): number {
  database.exec("update calls set owner = '', epoch = epoch + 1 where state <> 'ended'; delete from processes")
  const paused = pauseConversations(database)
  askAgain(database)
  for (const chain of chainsOf(database)) if (chain.closed === 0) closeAbandonedChain(database, key, chain)
  const text = `Restored from a backup that was made at ${new Date(madeAt).toISOString()}.`
  appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), text })
  return paused
}

/**
 * Pauses conversations: the agents' work since the backup is not known. A person decides whether they go on with what
 * they were in the middle of, and with unread messages. A message to an agent may be the first of its conversation.
 */
function pauseConversations(database: Database): number {
  const isUnread = "select 1 from messages where target = conversations.id and read_at is null"
  const paused = database
    .prepare(
      `update conversations set owner = '', epoch = epoch + 1, state = 'paused'
       where state in ('active', 'waiting', 'paused') or state = 'idle' and exists (${isUnread})`,
    )
    .run()
  const at = Date.now()
  const added = database
    .prepare(
      `insert or ignore into conversations
         (id, agent_id, state, owner, epoch, started_by, settings, spent, root, length, created_at, updated_at)
       select target, recipient, 'paused', '', 0, coalesce(user_id, recipient),
         json_patch('{"society":true}', json_object('taskId', task_id)),
         '{"rounds":0,"calls":0,"inputTokens":0,"outputTokens":0,"cost":0}', '', 0, ?, ?
       from messages where read_at is null and target glob ?`,
    )
    .run(at, at, `${societyPrefix}*`)
  return Number(paused.changes) + Number(added.changes)
}

/**
 * An approval may have been used since the backup was made, and must not be used twice. Calls that people approved, fully
 * or in part, wait again as a new revision. Rejections stay.
 */
function askAgain(database: Database): void {
  const note = "It was restored from a backup, so earlier answers no longer count."
  const again: Sentence[] = [{ code: "again_restored", text: note }]
  const isRejected = "json_extract(answer, '$.approved') = 0 and json_extract(answer, '$.edit') is null"
  database
    .prepare(
      `update calls set state = case state when 'ready' then 'waiting' when 'released' then 'held' else state end,
       answer = null, votes = '[]', revision = revision + 1, card = json_set(card, '$.note', ?, '$.again', json(?))
       where state in ('ready', 'released') and (${isRejected}) is not true
       or state in ('waiting', 'held') and votes <> '[]'`,
    )
    .run(note, JSON.stringify(again))
}

async function moveIntoPlace(temporary: string, target: string): Promise<string | undefined> {
  let previous: string | undefined
  if (!(await isEmptyOrMissing(target))) {
    previous = `${target}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`
    await rename(target, previous)
  }
  try {
    await rename(temporary, target)
  } catch (error) {
    if (previous !== undefined) await rename(previous, target)
    throw error
  }
  await syncFolder(dirname(target))
  return previous
}
