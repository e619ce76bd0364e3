import type { RecordEntry } from "../model/record.ts"
import { nameOf, placeOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { endedRow, isStart, storable, type EndLine } from "./segments.ts"
import type { EndedRow, Tables } from "./tables.ts"

export type Problem = { record: string; problem: string }

const notFound = "What finds it was changed or is missing."

/** Compares the tables that find things with what the lines say, in one pass beside them. Close it after use. */
export function finders(database: Database, range: readonly [number, number]) {
  const ended = database
    .prepare("select * from ended where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<EndedRow>
  const steps = database
    .prepare("select * from steps where place between ? and ? order by place")
    .iterate(...range) as IterableIterator<Tables["steps"]>
  const open = new Set<number>()
  let nextEnd = ended.next()
  let nextStep = steps.next()
  return {
    check(line: string, ordinal: number, seq: number): string | undefined {
      const place = placeOf(ordinal, seq)
      if (isStart(line)) {
        if (nextStep.value?.place !== place) return void open.add(seq)
        const { callId } = JSON.parse(line) as RecordEntry
        if (!sameRow(nextStep.value, { place, call: storable(callId), kind: "start" })) return notFound
        nextStep = steps.next()
        return undefined
      }
      const entry = JSON.parse(line) as RecordEntry & { n: number }
      if (entry.kind === "end") {
        if (!sameRow(nextEnd.value, endedRow(ordinal, entry as EndLine))) return notFound
        open.delete((entry as EndLine).s ?? 0)
        nextEnd = ended.next()
      } else if (entry.callId !== "") {
        if (!sameRow(nextStep.value, { place, call: storable(entry.callId), kind: entry.kind })) return notFound
        nextStep = steps.next()
      }
      return undefined
    },
    /** What is left over: rows without lines, or a start that nothing finds. */
    rest(ordinal: number): Problem | undefined {
      const [lost] = open
      if (lost !== undefined) return { record: nameOf(placeOf(ordinal, lost)), problem: notFound }
      const extra = (nextEnd.value ?? nextStep.value) as { place: number } | undefined
      return extra && { record: nameOf(extra.place), problem: "It was put in." }
    },
    /** A cursor left open keeps this connection in the past, and from the past nothing can be written. */
    close(): void {
      ended.return?.()
      steps.return?.()
    },
  }
}

function sameRow(found: object | undefined, expected: object): boolean {
  if (found === undefined) return false
  const has = found as Record<string, unknown>
  return Object.entries(expected).every(([column, value]) => has[column] === value)
}
