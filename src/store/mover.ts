import type { RecordKey } from "./key.ts"
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import type { StartEntry } from "../model/record.ts"
import { chainOf, directChain, findChain, moveHead, placeOf } from "./chains.ts"
import { writeCheckpoint } from "./checkpoint.ts"
import { transaction, type Database } from "./database.ts"
import { framesOf, wholeFrames } from "./frames.ts"
import { lineAt } from "./lines.ts"
import { ownerLives } from "./owner.ts"
import { addSegment, appendDirect } from "./segments.ts"
import type { ChainRow } from "./tables.ts"

/** The most that is moved in one transaction. */
const chunk = 4 * 1024 * 1024

/** Where journals lie and what seals them. */
export interface Journals {
  database: Database
  key: RecordKey
  dir: string
}

/**
 * Moves one batch of a journal's frames into the table and returns the last line moved. Any process may do it at any
 * time: the place reached is part of the same transaction.
 */
export function moveBatch({ database, key, dir }: Journals, uuid: string): { seq: number; more: boolean } {
  return transaction(database, () => {
    const known = findChain(database, uuid)
    const files = filesOf(dir, uuid)
    const file = known?.file ?? files[0]
    if (file === undefined || known?.closed === 1) return { seq: known?.last_seq ?? 0, more: false }
    const offset = known?.byte_offset ?? 0
    const { text, bytes, atEnd } = readFrames(join(dir, file), offset)
    if (bytes > 0) {
      const chain = known ?? chainOf(database, key, uuid, ownerIn(text))
      const { seq, seal } = addSegment(database, chain.ordinal, text)
      moveHead(database, key, chain, { seq, seal, file, offset: offset + bytes })
      return { seq, more: !atEnd || file !== files.at(-1) }
    }
    const next = files[files.indexOf(file) + 1]
    if (next === undefined || known === undefined) return { seq: known?.last_seq ?? 0, more: false }
    moveHead(database, key, known, { seq: known.last_seq, seal: known.last_mac, file: next, offset: 0 })
    return { seq: known.last_seq, more: true }
  })
}

/** Removes the files of a journal that have been moved whole. */
export function removeMoved({ database, dir }: Journals, uuid: string): void {
  const chain = findChain(database, uuid)
  if (chain === undefined) return
  for (const file of filesOf(dir, uuid)) {
    if (chain.closed === 1 || (chain.file !== null && file < chain.file)) removeFile(join(dir, file))
  }
}

/** Moves what is left in every journal, also of processes that died, and says what became of their calls. */
export function catchUp(journals: Journals): void {
  const uuids = journalsIn(journals.dir)
  for (const uuid of uuids) while (moveBatch(journals, uuid).more);
  // Only now: the end of a call may stand in another journal than its start.
  for (const uuid of uuids) {
    recover(journals, uuid)
    removeMoved(journals, uuid)
  }
  recoverDirect(journals)
}

/** Ends a chain for good: nothing is added to it any more, and a checkpoint says where it ended. */
export function closeChain({ database, key }: Journals, uuid: string): void {
  transaction(database, () => {
    database.prepare("update chains set closed = 1 where uuid = ?").run(uuid)
    writeCheckpoint(database, key)
  })
}

function journalsIn(dir: string): string[] {
  return [...new Set(namesIn(dir).flatMap((name) => /^([0-9a-f-]{36})\.\d+\.log$/.exec(name)?.[1] ?? []))].sort()
}

function filesOf(dir: string, uuid: string): string[] {
  return namesIn(dir)
    .filter((name) => name.startsWith(`${uuid}.`))
    .sort()
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
}

/** Whole frames from an offset on. What has no seal yet stays where it is. */
function readFrames(file: string, offset: number): { text: string; bytes: number; atEnd: boolean } {
  const descriptor = openSync(file, "r")
  try {
    for (let size = chunk; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size)
      const length = readSync(descriptor, buffer, 0, size, offset)
      const written = writtenOf(buffer.subarray(0, length))
      const read = buffer.toString("utf8", 0, written)
      const whole = wholeFrames(read)
      const atEnd = written < size
      // A frame larger than the chunk: look at more of it.
      if (whole === 0 && !atEnd) continue
      const text = read.slice(0, whole)
      return { text, bytes: Buffer.byteLength(text), atEnd }
    }
  } finally {
    closeSync(descriptor)
  }
}

function ownerIn(text: string): string {
  const first = framesOf(text).next().value
  return first === undefined ? "" : ((JSON.parse(first.lines[0]!) as { by?: string }).by ?? "")
}

/**
 * Once the writer is gone: calls it had started are interrupted, a torn last frame is noted, the chain is closed. Of
 * several processes that find it, the first to get the lock does it.
 */
function recover({ database, key, dir }: Journals, uuid: string): void {
  const found = findChain(database, uuid)
  if (found === undefined) return discardEmpty(dir, uuid)
  if (found.closed === 1 || ownerLives(found.owner)) return
  transaction(database, () => {
    const chain = findChain(database, uuid)
    if (chain === undefined || chain.closed === 1) return
    const torn = leftover(dir, chain)
    if (torn > 0) {
      const text = `A torn last piece of ${torn} bytes was dropped from journal ${uuid}; nothing of it was acknowledged.`
      appendDirect(database, key, { kind: "note", callId: "", at: Date.now(), text })
    }
    endChain(database, key, chain)
  })
}

/** Calls that a process started which wrote without a journal, and then died, are interrupted. */
function recoverDirect({ database, key }: Journals): void {
  const chain = findChain(database, directChain)
  if (chain === undefined) return
  if (leftDirect(database, chain).length === 0) return
  transaction(database, () => {
    for (const start of leftDirect(database, chain)) appendDirect(database, key, interrupted(start))
  })
}

/** Ends a chain whose writer is gone: calls it had started are interrupted. Call it inside a transaction. */
export function endChain(database: Database, key: RecordKey, chain: ChainRow): void {
  for (const start of unended(database, chain)) appendDirect(database, key, interrupted(start))
  database.prepare("update chains set closed = 1 where uuid = ?").run(chain.uuid)
  writeCheckpoint(database, key)
}

/** A journal without a single whole frame, old enough to be nobody's: nothing in it was acknowledged. */
function discardEmpty(dir: string, uuid: string): void {
  const files = filesOf(dir, uuid).map((file) => join(dir, file))
  const changedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (files.every((file) => Date.now() - changedAt(file) > 60_000)) for (const file of files) removeFile(file)
}

/** Another process may have been faster. */
function removeFile(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

/** How many bytes were written behind the last whole frame. */
function leftover(dir: string, chain: ChainRow): number {
  let bytes = 0
  for (const file of filesOf(dir, chain.uuid)) {
    if (chain.file !== null && file < chain.file) continue
    bytes += writtenOf(readFileSync(join(dir, file)).subarray(file === chain.file ? chain.byte_offset : 0))
  }
  return bytes
}

/** A journal may be longer than what is written in it; the rest is zeros, which no line has. */
function writtenOf(bytes: Buffer): number {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes.length : end
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
