import type { RecordKey } from "./record-key.ts"
import type { EndEntry, AuditEntry } from "../../core/audit-entry.ts"
import { findOrBeginChain, directChain, moveHead, recordPlace, seqOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { frameText, parseFrames, numberLine, lineNumber, sealOf } from "./frames.ts"
import { addSums, countEntry, mayNameRule, noCounts } from "./sums.ts"
import type { EndedRow } from "./tables.ts"

/** An end entry as it is written: `n` is its line number, `s` the line number of its start in the same chain. */
export type EndLine = EndEntry & { n: number; s?: number }

/**
 * Inserts whole frames as one segment, and the rows that index the calls in it. Call it inside a transaction. Returns
 * the number of the last line and its seal.
 */
export function addSegment(database: Database, ordinal: number, text: string): { seq: number; seal: string } {
  const insertStep = database.prepare("insert into steps (place, call, kind) values (?, ?, ?)")
  const open = new Map<number, string>()
  const ended: EndedRow[] = []
  const counts = noCounts()
  let first = 0
  let seq = 0
  let seal = ""
  for (const frame of parseFrames(text)) {
    seal = frame.seal
    for (const line of frame.lines) {
      seq = lineNumber(line) || seq + 1
      if (first === 0) first = seq
      if (isStartLine(line)) {
        open.set(seq, line)
        const start = mayNameRule(line) ? readLine(line) : undefined
        if (start !== undefined) countEntry(counts, start)
        continue
      }
      const entry = readLine(line)
      // An unreadable line stays in the segment. `verify` reports it by its seal.
      if (entry === undefined) continue
      countEntry(counts, entry)
      if (entry.kind === "end") {
        ended.push(endedRow(ordinal, entry))
        if (entry.s !== undefined) open.delete(entry.s)
      } else if (entry.callId !== "")
        insertStep.run(recordPlace(ordinal, seq), storableText(entry.callId), storableText(entry.kind))
    }
  }
  for (const [number, line] of open) {
    const start = readLine(line)
    if (start !== undefined) insertStep.run(recordPlace(ordinal, number), storableText(start.callId), "start")
  }
  insertEnded(database, ended)
  addSums(database, [recordPlace(ordinal, first), recordPlace(ordinal, seq)], counts)
  database
    .prepare("insert into segments (place, last_seq, text) values (?, ?, ?)")
    .run(recordPlace(ordinal, first), seq, text)
  return { seq, seal }
}

const rowsAtOnce = 50

/** Inserts many rows per statement, because calling SQLite costs more than a row. */
function insertEnded(database: Database, rows: readonly EndedRow[]): void {
  const into = "insert into ended (place, call, start_place, at, agent, tool, ending, duration_ms, role, task) values "
  const one = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
  const whole = rows.length - (rows.length % rowsAtOnce)
  const many = whole > 0 ? database.prepare(into + Array(rowsAtOnce).fill(one).join()) : undefined
  for (let from = 0; from < whole; from += rowsAtOnce)
    many?.run(...rows.slice(from, from + rowsAtOnce).flatMap(valuesOf))
  const single = whole < rows.length ? database.prepare(into + one) : undefined
  for (const row of rows.slice(whole)) single?.run(...valuesOf(row))
}

function valuesOf(row: EndedRow): (string | number | null)[] {
  const { place, call, start_place, at, agent, tool, ending, duration_ms, role, task } = row
  return [place, call, start_place, at, agent, tool, ending, duration_ms, role, task]
}

/** Reports whether a line is a start. Starts are parsed only when their end is not in the same segment. */
export function isStartLine(line: string): boolean {
  return line.startsWith('"kind":"start"', line.indexOf(",") + 1)
}

export function endedRow(ordinal: number, entry: EndLine): EndedRow {
  return {
    place: recordPlace(ordinal, entry.n),
    call: storableText(entry.callId),
    start_place: entry.s === undefined ? null : recordPlace(ordinal, entry.s),
    at: Number(entry.at) || 0,
    agent: storableText(entry.agentId),
    tool: storableText(entry.tool),
    ending: storableText(entry.code ?? entry.status),
    duration_ms: Number(entry.durationMs) || 0,
    role: storableText(entry.role),
    task: storableText(entry.taskId),
  }
}

function readLine(line: string): (AuditEntry & { n: number; s?: number }) | undefined {
  try {
    return JSON.parse(line) as AuditEntry & { n: number }
  } catch {
    return undefined
  }
}

/** Text that the database returns unchanged. */
export function storableText(value: unknown): string {
  return String(value ?? "")
    .toWellFormed()
    .replaceAll("\0", "\\0")
}

/** Appends one entry to the chain of direct entries. Call it inside a transaction. */
export function appendDirect(database: Database, key: RecordKey, entry: AuditEntry): void {
  const chain = findOrBeginChain(database, key, directChain, "")
  const start = entry.kind === "end" ? startIn(database, chain.ordinal, entry.callId) : undefined
  const json = JSON.stringify(start === undefined ? entry : { ...entry, s: start })
  const line = numberLine(chain.last_seq + 1, json)
  const seal = sealOf(key, chain.last_mac, line)
  const { seq } = addSegment(database, chain.ordinal, frameText(line, seal))
  moveHead(database, key, chain, { seq, seal, file: null, offset: 0 })
}

/** The number of a call's start in the same chain. */
function startIn(database: Database, ordinal: number, callId: string): number | undefined {
  const row = database
    .prepare("select place from steps where call = ? and kind = 'start' and place between ? and ?")
    .get(callId, recordPlace(ordinal, 0), recordPlace(ordinal + 1, 0) - 1) as { place: number } | undefined
  return row && seqOf(row.place)
}
