import { readStoredReasons } from "../../core/reason.ts"
import type { AuditEntry } from "../../core/audit-entry.ts"
import { ordinalOf, recordPlace, seqOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { parseFrames, lineNumber } from "./frames.ts"

/** Limits of cached segments per reader, and of characters in them. */
const maxSegments = 8
const maxCharacters = 16 * 1024 * 1024

interface ParsedSegment {
  first: number
  size: number
  lines: readonly string[]
}

/** The entry at a place; undefined when it was dropped or cannot be read. */
export function entryAtPlace(database: Database, place: number): AuditEntry | undefined {
  return entryReader(database)(place)
}

/** Reads many entries. Caches the last few segments, because neighbouring entries are usually read one after the other. */
export function entryReader(database: Database): (place: number) => AuditEntry | undefined {
  const statement = database.prepare(
    "select place, text from segments where place <= ? and place >= ? order by place desc limit 1",
  )
  let cached: ParsedSegment[] = []

  function open(place: number): ParsedSegment | undefined {
    const row = statement.get(place, recordPlace(ordinalOf(place), 0)) as { place: number; text: string } | undefined
    if (row === undefined) return undefined
    const lines = [...parseFrames(row.text)].flatMap((frame) => frame.lines)
    return { first: row.place, size: row.text.length, lines }
  }

  return (place) => {
    const found = cached.find(({ first, lines }) => place >= first && place < first + lines.length) ?? open(place)
    if (found === undefined) return undefined
    if (cached[0] !== found) cached = withinLimits([found, ...cached.filter(({ first }) => first !== found.first)])
    return entryIn(found, place)
  }
}

/** As many of the first segments as the limits allow, at least one. */
function withinLimits(segments: readonly ParsedSegment[]): ParsedSegment[] {
  let size = 0
  return segments.filter((segment, index) => {
    size += segment.size
    return index === 0 || (index < maxSegments && size <= maxCharacters)
  })
}

function entryIn({ first, lines }: ParsedSegment, place: number): AuditEntry | undefined {
  const line = lines[place - first]
  if (line === undefined || lineNumber(line) !== seqOf(place)) return undefined
  try {
    const entry = JSON.parse(line) as AuditEntry
    return "reasons" in entry && entry.reasons !== undefined
      ? ({ ...entry, reasons: readStoredReasons(entry.reasons) } as AuditEntry)
      : entry
  } catch {
    return undefined
  }
}
