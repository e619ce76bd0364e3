import { statSync } from "node:fs"
import { join } from "node:path"
import type { StartEntry } from "../../core/audit-entry.ts"
import { directChain, findChain, recordPlace } from "./chains.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, type Database } from "./database.ts"
import { listJournalFiles, listJournals, removeFile, lengthBeforeZeros } from "./journal-files.ts"
import type { RecordKey } from "./record-key.ts"
import { entryAtPlace } from "./entry-reader.ts"
import { moveBatch, removeMoved, type Journals } from "./journal-mover.ts"
import { isOwnerAlive } from "./owner.ts"
import { readOwnFileSync } from "./data-file.ts"
import { appendDirect } from "./segments.ts"
import type { ChainRow } from "./tables.ts"

/** Moves what is left in all journals, and ends the calls of dead processes as interrupted. */
export function catchUp(journals: Journals): void {
  const { database, dir } = journals
  moveAll(journals)
  const uuids = listJournals(dir)
  const dead = uuids.filter((uuid) => isDead(findChain(database, uuid)))
  // Moved again, because they may have written until they died.
  if (dead.length > 0) moveAll(journals)
  const lost = lostCalls(journals, dead)
  // Another process may have continued one of these calls. Then its end was in a journal before its row was closed.
  if (lost.size > 0) moveAll(journals)
  for (const uuid of dead) recover(journals, uuid, lost)
  recoverDirect(journals, lost)
  for (const uuid of uuids) {
    removeMoved(journals, uuid)
    discardEmpty(journals, uuid)
  }
}

function moveAll(journals: Journals): void {
  for (const uuid of listJournals(journals.dir)) while (moveBatch(journals, uuid).more);
}

function isDead(chain: ChainRow | undefined): boolean {
  return chain !== undefined && chain.closed === 0 && !isOwnerAlive(chain.owner)
}

/** The calls of dead processes that have no end in the tables. */
function lostCalls({ database }: Journals, dead: readonly string[]): Set<string> {
  const chains = dead.flatMap((uuid) => findChain(database, uuid) ?? [])
  const direct = findChain(database, directChain)
  const starts = [
    ...chains.flatMap((chain) => unendedStarts(database, chain)),
    ...(direct ? unendedDirectStarts(database, direct) : []),
  ]
  return new Set(starts.map(({ callId }) => callId))
}

/**
 * Closes the chain of a dead process: ends its started calls as interrupted and notes a torn last frame. When several
 * processes try, the first one that gets the lock does it.
 */
function recover({ database, key, dir }: Journals, uuid: string, lost: ReadonlySet<string>): void {
  transaction(database, () => {
    const chain = findChain(database, uuid)
    if (chain === undefined || chain.closed === 1) return
    const torn = tornBytes(dir, chain)
    if (torn > 0) {
      const text = `A torn last piece of ${torn} bytes was dropped from journal ${uuid}; nothing of it was acknowledged.`
      appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), text })
    }
    closeAbandonedChain(database, key, chain, lost)
  })
}

/** Ends the calls of dead processes that wrote without a journal as interrupted. */
function recoverDirect({ database, key }: Journals, lost: ReadonlySet<string>): void {
  const chain = findChain(database, directChain)
  if (chain === undefined || lost.size === 0) return
  transaction(database, () => {
    for (const start of unendedDirectStarts(database, chain)) {
      if (lost.has(start.callId)) appendDirect(database, key, interrupted(start))
    }
  })
}

/**
 * Closes the chain of a dead process and ends its started calls as interrupted; with `lost`, only those. Call it inside a
 * transaction.
 */
export function closeAbandonedChain(
  database: Database,
  key: RecordKey,
  chain: ChainRow,
  lost?: ReadonlySet<string>,
): void {
  for (const start of unendedStarts(database, chain)) {
    if (lost === undefined || lost.has(start.callId)) appendDirect(database, key, interrupted(start))
  }
  database.prepare("update chains set closed = 1 where uuid = ?").run(chain.uuid)
  writeCheckpoint(database, key)
}

/**
 * Removes a journal that has no whole frame and was not written for a minute: nothing in it was acknowledged. Holds the
 * lock, so that no other process reads it meanwhile.
 */
function discardEmpty({ database, dir }: Journals, uuid: string): void {
  const files = listJournalFiles(dir, uuid).map((file) => join(dir, file))
  const changedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (findChain(database, uuid) !== undefined || files.some((file) => Date.now() - changedAt(file) < 60_000)) return
  transaction(database, () => {
    if (findChain(database, uuid) === undefined) for (const file of files) removeFile(file)
  })
}

/** The number of bytes written after the last whole frame. */
function tornBytes(dir: string, chain: ChainRow): number {
  let bytes = 0
  for (const file of listJournalFiles(dir, chain.uuid)) {
    if (chain.file !== null && file < chain.file) continue
    bytes += lengthBeforeZeros(readOwnFileSync(join(dir, file)).subarray(file === chain.file ? chain.byte_offset : 0))
  }
  return bytes
}

function unendedStarts(database: Database, { ordinal }: ChainRow): StartEntry[] {
  const rows = database
    .prepare(
      `select place from steps where place between ? and ? and kind = 'start'
       and not exists (select 1 from ended where ended.call = steps.call)
       and not exists (select 1 from calls where calls.id = steps.call and calls.state <> 'ended')`,
    )
    .all(recordPlace(ordinal, 0), recordPlace(ordinal + 1, 0) - 1) as { place: number }[]
  return rows.flatMap(({ place }) => (entryAtPlace(database, place) as StartEntry | undefined) ?? [])
}

/** Limit of the newest starts of the direct chain that are checked. That chain never closes. */
const maxDirectStarts = 1000

/** The same for the direct chain: the newest starts whose processes are dead. */
function unendedDirectStarts(database: Database, { ordinal }: ChainRow): StartEntry[] {
  const rows = database
    .prepare("select place, call from steps where place between ? and ? and kind = 'start' order by place desc limit ?")
    .all(recordPlace(ordinal, 0), recordPlace(ordinal + 1, 0) - 1, maxDirectStarts) as { place: number; call: string }[]
  const ended = database.prepare("select 1 from ended where call = ?")
  const hasOpenRow = database.prepare("select 1 from calls where id = ? and state <> 'ended'")
  return rows
    .filter(({ call }) => ended.get(call) === undefined && hasOpenRow.get(call) === undefined)
    .flatMap(({ place }) => (entryAtPlace(database, place) as StartEntry | undefined) ?? [])
    .filter(({ owner }) => owner !== undefined && !isOwnerAlive(owner))
}

function interrupted({ callId, agentId, role, tool, sessionId, taskId, at }: StartEntry) {
  return {
    kind: "end" as const,
    callId,
    at: Date.now(),
    agentId,
    role,
    tool,
    sessionId,
    taskId,
    status: "error" as const,
    code: "interrupted" as const,
    startedAt: at,
    durationMs: 0,
    error: "The process ended while the tool ran; what it did is not known.",
    ran: true,
  }
}
