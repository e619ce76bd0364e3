import type { RecordEntry } from "../model/record.ts"
import { ordinalOf, placeOf, seqOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { framesOf, numberOf } from "./frames.ts"

/** The entry at a place, read out of its segment. */
export function lineAt(database: Database, place: number): RecordEntry | undefined {
  const row = database
    .prepare("select text from segments where place <= ? and place >= ? order by place desc limit 1")
    .get(place, placeOf(ordinalOf(place), 0)) as { text: string } | undefined
  if (row === undefined) return undefined
  for (const { lines } of framesOf(row.text)) {
    const last = numberOf(lines.at(-1) ?? "")
    if (last < seqOf(place)) continue
    const line = lines.find((candidate) => numberOf(candidate) === seqOf(place))
    return line === undefined ? undefined : (JSON.parse(line) as RecordEntry)
  }
  return undefined
}
