import type { RecordEntry } from "../model/record.ts"
import { ordinalOf, placeOf, seqOf } from "./chains.ts"
import type { Database } from "./database.ts"
import { framesOf, numberOf } from "./frames.ts"

/** How much of the record a reader holds at once: segments, and characters in them. */
const mostSegments = 8
const mostCharacters = 16 * 1024 * 1024

interface Opened {
  first: number
  size: number
  lines: readonly string[]
}

/** The entry at a place, read out of its segment; undefined when it was dropped or cannot be read. */
export function lineAt(database: Database, place: number): RecordEntry | undefined {
  return lineReader(database)(place)
}

/** Reads many entries. The last few segments stay open, because neighbours are asked for one after the other. */
export function lineReader(database: Database): (place: number) => RecordEntry | undefined {
  const statement = database.prepare(
    "select place, text from segments where place <= ? and place >= ? order by place desc limit 1",
  )
  let opened: Opened[] = []

  function open(place: number): Opened | undefined {
    const row = statement.get(place, placeOf(ordinalOf(place), 0)) as { place: number; text: string } | undefined
    if (row === undefined) return undefined
    const lines = [...framesOf(row.text)].flatMap((frame) => frame.lines)
    return { first: row.place, size: row.text.length, lines }
  }

  return (place) => {
    const found = opened.find(({ first, lines }) => place >= first && place < first + lines.length) ?? open(place)
    if (found === undefined) return undefined
    if (opened[0] !== found) opened = newest([found, ...opened.filter((other) => other.first !== found.first)])
    return entryIn(found, place)
  }
}

/** The first of them, as many as may be held; always one. */
function newest(segments: readonly Opened[]): Opened[] {
  let size = 0
  return segments.filter((segment, index) => {
    size += segment.size
    return index === 0 || (index < mostSegments && size <= mostCharacters)
  })
}

function entryIn({ first, lines }: Opened, place: number): RecordEntry | undefined {
  const line = lines[place - first]
  if (line === undefined || numberOf(line) !== seqOf(place)) return undefined
  try {
    return JSON.parse(line) as RecordEntry
  } catch {
    return undefined
  }
}
