import type { AuditEntry } from "../core/audit-entry.ts"
import { recordName, recordPlace } from "../store/sqlite/chains.ts"
import type { Database } from "../store/sqlite/database.ts"
import { endedRow, isStartLine, storableText, type EndLine } from "../store/sqlite/segments.ts"
import type { EndedRow, Tables } from "../store/sqlite/tables.ts"

export type VerifyProblem = { record: string; problem: string }

const wrongIndex = "Its index row was changed or is missing."

/** Compares the index tables with the lines, in one pass. Close it after use. */
export function indexTablesChecker(database: Database, range: readonly [number, number]) {
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
      const place = recordPlace(ordinal, seq)
      if (isStartLine(line)) {
        if (nextStep.value?.place !== place) return void open.add(seq)
        const { callId } = JSON.parse(line) as AuditEntry
        if (!sameRow(nextStep.value, { place, call: storableText(callId), kind: "start" })) return wrongIndex
        nextStep = steps.next()
        return undefined
      }
      const entry = JSON.parse(line) as AuditEntry & { n: number }
      if (entry.kind === "end") {
        if (!sameRow(nextEnd.value, endedRow(ordinal, entry as EndLine))) return wrongIndex
        open.delete((entry as EndLine).s ?? 0)
        nextEnd = ended.next()
      } else if (entry.callId !== "") {
        if (!sameRow(nextStep.value, { place, call: storableText(entry.callId), kind: entry.kind })) return wrongIndex
        nextStep = steps.next()
      }
      return undefined
    },
    /** After the last line: reports index rows without lines and starts without index rows. */
    finish(ordinal: number): VerifyProblem | undefined {
      const [lost] = open
      if (lost !== undefined) return { record: recordName(recordPlace(ordinal, lost)), problem: wrongIndex }
      const extra = (nextEnd.value ?? nextStep.value) as { place: number } | undefined
      return extra && { record: recordName(extra.place), problem: "It was added later." }
    },
    /** An open cursor keeps an old snapshot on this connection, and SQLite refuses writes from an old snapshot. */
    close(): void {
      ended.return?.()
      steps.return?.()
    },
  }
}

function sameRow(found: object | undefined, expected: object): boolean {
  if (found === undefined) return false
  const row = found as Record<string, unknown>
  return Object.entries(expected).every(([column, value]) => row[column] === value)
}
