import type { RecordKey } from "./key.ts"
import type { EndEntry, RecordEntry } from "../model/record.ts"
import { chainOf, directChain, moveHead, placeOf } from "./chains.ts"
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
  const ended = database.prepare(
    `insert into ended (place, call, start_place, at, agent, role, tool, status, code, duration_ms, ran)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const step = database.prepare("insert into steps (place, call, kind) values (?, ?, ?)")
  const open = new Map<number, string>()
  let first = 0
  let seq = 0
  let seal = ""
  for (const frame of framesOf(text)) {
    seal = frame.seal
    for (const line of frame.lines) {
      seq = numberOf(line)
      if (first === 0) first = seq
      if (isStart(line)) {
        open.set(seq, line)
        continue
      }
      const entry = JSON.parse(line) as RecordEntry & { n: number; s?: number }
      if (entry.kind === "end") {
        const row = endedRow(ordinal, entry)
        if (entry.s !== undefined) open.delete(entry.s)
        ended.run(
          row.place,
          row.call,
          row.start_place,
          row.at,
          row.agent,
          row.role,
          row.tool,
          row.status,
          row.code,
          row.duration_ms,
          row.ran,
        )
      } else if (entry.callId !== "") step.run(placeOf(ordinal, seq), entry.callId, entry.kind)
    }
  }
  for (const [number, line] of open)
    step.run(placeOf(ordinal, number), (JSON.parse(line) as RecordEntry).callId, "start")
  database
    .prepare("insert into segments (place, last_seq, text) values (?, ?, ?)")
    .run(placeOf(ordinal, first), seq, text)
  return { seq, seal }
}

/** Starts are most of what there is and are looked at only when their end is not near. */
export function isStart(line: string): boolean {
  return line.startsWith('"kind":"start"', line.indexOf(",") + 1)
}

export function endedRow(ordinal: number, entry: EndLine): EndedRow {
  return {
    place: placeOf(ordinal, entry.n),
    call: entry.callId,
    start_place: entry.s === undefined ? null : placeOf(ordinal, entry.s),
    at: entry.at,
    agent: entry.agentId,
    role: entry.role ?? null,
    tool: entry.tool,
    status: entry.status,
    code: entry.code ?? null,
    duration_ms: entry.durationMs,
    ran: entry.ran ? 1 : 0,
  }
}

/** Appends one entry to the chain of direct entries. Call it inside a transaction. */
export function appendDirect(database: Database, key: RecordKey, entry: RecordEntry): void {
  const chain = chainOf(database, key, directChain, "")
  const line = numbered(chain.last_seq + 1, JSON.stringify(entry))
  const seal = sealOf(key, chain.last_mac, line)
  const { seq } = addSegment(database, chain.ordinal, frameText(line, seal))
  moveHead(database, key, chain, { seq, seal, file: null, offset: 0 })
}
