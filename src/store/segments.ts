import type { RecordKey } from "./key.ts"
import type { EndEntry, RecordEntry } from "../model/record.ts"
import { chainOf, directChain, moveHead, placeOf, seqOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { frameText, framesOf, numbered, numberOf, sealOf } from "./frames.ts"
import type { EndedRow } from "./tables.ts"

/** An end as its line has it: `s` is the number of its start in the same chain. */
export type EndLine = EndEntry & { n: number; s?: number }

/**
 * Puts whole frames into the table as they were written, and what finds their calls beside them. Call it inside a
 * transaction. Returns the number of the last line and its seal.
 */
export function addSegment(database: Database, ordinal: number, text: string): { seq: number; seal: string } {
  const step = database.prepare("insert into steps (place, call, kind) values (?, ?, ?)")
  const open = new Map<number, string>()
  const ended: EndedRow[] = []
  let first = 0
  let seq = 0
  let seal = ""
  for (const frame of framesOf(text)) {
    seal = frame.seal
    for (const line of frame.lines) {
      seq = numberOf(line) || seq + 1
      if (first === 0) first = seq
      if (isStart(line)) {
        open.set(seq, line)
        continue
      }
      const entry = readLine(line)
      // A line that cannot be read stays where it is: the seal tells that it was changed.
      if (entry === undefined) continue
      if (entry.kind === "end") {
        ended.push(endedRow(ordinal, entry))
        if (entry.s !== undefined) open.delete(entry.s)
      } else if (entry.callId !== "") step.run(placeOf(ordinal, seq), storable(entry.callId), storable(entry.kind))
    }
  }
  for (const [number, line] of open) {
    const start = readLine(line)
    if (start !== undefined) step.run(placeOf(ordinal, number), storable(start.callId), "start")
  }
  insertEnded(database, ended)
  database
    .prepare("insert into segments (place, last_seq, text) values (?, ?, ?)")
    .run(placeOf(ordinal, first), seq, text)
  return { seq, seal }
}

const rowsAtOnce = 50

/** Many rows a statement: crossing into SQLite costs more than the row. */
function insertEnded(database: Database, rows: readonly EndedRow[]): void {
  const into = "insert into ended (place, call, start_place, at, agent, tool, ending, duration_ms, role) values "
  const one = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
  const whole = rows.length - (rows.length % rowsAtOnce)
  const many = whole > 0 ? database.prepare(into + Array(rowsAtOnce).fill(one).join()) : undefined
  for (let from = 0; from < whole; from += rowsAtOnce)
    many?.run(...rows.slice(from, from + rowsAtOnce).flatMap(valuesOf))
  const single = whole < rows.length ? database.prepare(into + one) : undefined
  for (const row of rows.slice(whole)) single?.run(...valuesOf(row))
}

function valuesOf(row: EndedRow): (string | number | null)[] {
  return [row.place, row.call, row.start_place, row.at, row.agent, row.tool, row.ending, row.duration_ms, row.role]
}

/** Starts are most of what there is and are looked at only when their end is not near. */
export function isStart(line: string): boolean {
  return line.startsWith('"kind":"start"', line.indexOf(",") + 1)
}

export function endedRow(ordinal: number, entry: EndLine): EndedRow {
  return {
    place: placeOf(ordinal, entry.n),
    call: storable(entry.callId),
    start_place: entry.s === undefined ? null : placeOf(ordinal, entry.s),
    at: Number(entry.at) || 0,
    agent: storable(entry.agentId),
    tool: storable(entry.tool),
    ending: storable(entry.code ?? entry.status),
    duration_ms: Number(entry.durationMs) || 0,
    role: storable(entry.role),
  }
}

function readLine(line: string): (RecordEntry & { n: number; s?: number }) | undefined {
  try {
    return JSON.parse(line) as RecordEntry & { n: number }
  } catch {
    return undefined
  }
}

/** Text that the database gives back as it was given. */
export function storable(value: unknown): string {
  return String(value ?? "")
    .toWellFormed()
    .replaceAll("\0", "\\0")
}

/** Appends one entry to the chain of direct entries. Call it inside a transaction. */
export function appendDirect(database: Database, key: RecordKey, entry: RecordEntry): void {
  const chain = chainOf(database, key, directChain, "")
  const start = entry.kind === "end" ? startIn(database, chain.ordinal, entry.callId) : undefined
  const json = JSON.stringify(start === undefined ? entry : { ...entry, s: start })
  const line = numbered(chain.last_seq + 1, json)
  const seal = sealOf(key, chain.last_mac, line)
  const { seq } = addSegment(database, chain.ordinal, frameText(line, seal))
  moveHead(database, key, chain, { seq, seal, file: null, offset: 0 })
}

/** The number of a call's start in the same chain. */
function startIn(database: Database, ordinal: number, callId: string): number | undefined {
  const row = database
    .prepare("select place from steps where call = ? and kind = 'start' and place between ? and ?")
    .get(callId, placeOf(ordinal, 0), placeOf(ordinal + 1, 0) - 1) as { place: number } | undefined
  return row && seqOf(row.place)
}
