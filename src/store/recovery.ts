import { statSync } from "node:fs"
import { join } from "node:path"
import type { StartEntry } from "../model/record.ts"
import { directChain, findChain, placeOf } from "./chains.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, type Database } from "./database.ts"
import { filesOf, journalsIn, removeFile, writtenOf } from "./journal-files.ts"
import type { RecordKey } from "./key.ts"
import { lineAt } from "./lines.ts"
import { moveBatch, removeMoved, type Journals } from "./mover.ts"
import { ownerLives } from "./owner.ts"
import { readPlain } from "./plain-file.ts"
import { appendDirect } from "./segments.ts"
import type { ChainRow } from "./tables.ts"

/** Moves what is left in every journal, also of processes that died, and says what became of their calls. */
export function catchUp(journals: Journals): void {
  const { database, dir } = journals
  moveAll(journals)
  const uuids = journalsIn(dir)
  const dead = uuids.filter((uuid) => isDead(findChain(database, uuid)))
  // They write no more, so that only now their journals can be moved whole.
  if (dead.length > 0) moveAll(journals)
  const lost = lostCalls(journals, dead)
  // If another process went on with one of these, its end was in a journal before its row was closed: it is moved now.
  if (lost.size > 0) moveAll(journals)
  for (const uuid of dead) recover(journals, uuid, lost)
  recoverDirect(journals, lost)
  for (const uuid of uuids) {
    removeMoved(journals, uuid)
    discardEmpty(journals, uuid)
  }
}

function moveAll(journals: Journals): void {
  for (const uuid of journalsIn(journals.dir)) while (moveBatch(journals, uuid).more);
}

function isDead(chain: ChainRow | undefined): boolean {
  return chain !== undefined && chain.closed === 0 && !ownerLives(chain.owner)
}

/** Calls of dead processes that seem to have no end. What seems so only later has its end in a journal. */
function lostCalls({ database }: Journals, dead: readonly string[]): Set<string> {
  const chains = dead.flatMap((uuid) => findChain(database, uuid) ?? [])
  const direct = findChain(database, directChain)
  const starts = [
    ...chains.flatMap((chain) => unended(database, chain)),
    ...(direct ? leftDirect(database, direct) : []),
  ]
  return new Set(starts.map(({ callId }) => callId))
}

/**
 * Once the writer is gone: calls it had started are interrupted, a torn last frame is noted, the chain is closed. Of
 * several processes that find it, the first to get the lock does it.
 */
function recover({ database, key, dir }: Journals, uuid: string, lost: ReadonlySet<string>): void {
  transaction(database, () => {
    const chain = findChain(database, uuid)
    if (chain === undefined || chain.closed === 1) return
    const torn = leftover(dir, chain)
    if (torn > 0) {
      const text = `A torn last piece of ${torn} bytes was dropped from journal ${uuid}; nothing of it was acknowledged.`
      appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), text })
    }
    endChain(database, key, chain, lost)
  })
}

/** Calls that a process started which wrote without a journal, and then died, are interrupted. */
function recoverDirect({ database, key }: Journals, lost: ReadonlySet<string>): void {
  const chain = findChain(database, directChain)
  if (chain === undefined || lost.size === 0) return
  transaction(database, () => {
    for (const start of leftDirect(database, chain)) {
      if (lost.has(start.callId)) appendDirect(database, key, interrupted(start))
    }
  })
}

/**
 * Ends a chain whose writer is gone: calls it had started are interrupted; only those that are lost, where it is known
 * which are. Call it inside a transaction.
 */
export function endChain(database: Database, key: RecordKey, chain: ChainRow, lost?: ReadonlySet<string>): void {
  for (const start of unended(database, chain)) {
    if (lost === undefined || lost.has(start.callId)) appendDirect(database, key, interrupted(start))
  }
  database.prepare("update chains set closed = 1 where uuid = ?").run(chain.uuid)
  writeCheckpoint(database, key)
}

/**
 * Removes a journal without a single whole frame, old enough to be nobody's: nothing in it was acknowledged. Under the
 * lock, so that nobody reads it meanwhile.
 */
function discardEmpty({ database, dir }: Journals, uuid: string): void {
  const files = filesOf(dir, uuid).map((file) => join(dir, file))
  const changedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (findChain(database, uuid) !== undefined || files.some((file) => Date.now() - changedAt(file) < 60_000)) return
  transaction(database, () => {
    if (findChain(database, uuid) === undefined) for (const file of files) removeFile(file)
  })
}

/** How many bytes were written behind the last whole frame. */
function leftover(dir: string, chain: ChainRow): number {
  let bytes = 0
  for (const file of filesOf(dir, chain.uuid)) {
    if (chain.file !== null && file < chain.file) continue
    bytes += writtenOf(readPlain(join(dir, file)).subarray(file === chain.file ? chain.byte_offset : 0))
  }
  return bytes
}

function unended(database: Database, { ordinal }: ChainRow): StartEntry[] {
  const rows = database
    .prepare(
      `select place from steps where place between ? and ? and kind = 'start'
       and not exists (select 1 from ended where ended.call = steps.call)
       and not exists (select 1 from calls where calls.id = steps.call and calls.state <> 'ended')`,
    )
    .all(placeOf(ordinal, 0), placeOf(ordinal + 1, 0) - 1) as { place: number }[]
  return rows.flatMap(({ place }) => (lineAt(database, place) as StartEntry | undefined) ?? [])
}

/** How far back the chain that never closes is looked through. */
const newest = 1000

/** The same for the newest calls of that chain, whose processes are gone. */
function leftDirect(database: Database, { ordinal }: ChainRow): StartEntry[] {
  const rows = database
    .prepare("select place, call from steps where place between ? and ? and kind = 'start' order by place desc limit ?")
    .all(placeOf(ordinal, 0), placeOf(ordinal + 1, 0) - 1, newest) as { place: number; call: string }[]
  const ended = database.prepare("select 1 from ended where call = ?")
  const walked = database.prepare("select 1 from calls where id = ? and state <> 'ended'")
  return rows
    .filter(({ call }) => ended.get(call) === undefined && walked.get(call) === undefined)
    .flatMap(({ place }) => (lineAt(database, place) as StartEntry | undefined) ?? [])
    .filter(({ owner }) => owner !== undefined && !ownerLives(owner))
}

function interrupted({ callId, agentId, role, tool, sessionId, at }: StartEntry) {
  return {
    kind: "end" as const,
    callId,
    at: Date.now(),
    agentId,
    role,
    tool,
    sessionId,
    status: "error" as const,
    code: "interrupted" as const,
    startedAt: at,
    durationMs: 0,
    error: "The process ended while the tool ran; what it did is not known.",
    ran: true,
  }
}
