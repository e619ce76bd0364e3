import type { Card } from "../../../src/approvals/card/schema.ts"
import { fitsLine, tablesOf } from "./alike.ts"

export type Tab = "all" | "calls" | "results" | "questions"
export type Band = Card["risk"]["band"]

export const bandOrder: readonly Band[] = ["high", "medium", "low"]
const kindOf = { calls: "call", results: "result", questions: "question" } as const

/** A line of the list: a card, and the cards of the same kind that stand behind it. */
export interface Row {
  readonly card: Card
  readonly alike: readonly Card[]
  readonly gone: boolean
}

/** A card in the list. One that no longer waits stays for a moment where it was. */
export interface Entry {
  readonly card: Card
  readonly goneAt: number | undefined
}

/** Time that an answered card stays in its place, so that nothing moves under the pointer. */
export const goneMs = 5000

/** By risk, then by time left. Newest first would let old ones expire unseen. */
export function compareCards(one: Card, other: Card): number {
  const bands = bandOrder.indexOf(one.risk.band) - bandOrder.indexOf(other.risk.band)
  return bands || one.until - other.until || one.callId.localeCompare(other.callId)
}

interface Now {
  readonly time: number
  /** The pointer is over the list: nothing may move. New cards are counted, and shown when it leaves. */
  readonly still: boolean
  readonly shown: string | undefined
}

/** The next list after the server said what waits. */
export function nextEntries(
  before: readonly Entry[],
  waiting: readonly Card[],
  { time, still, shown }: Now,
): { entries: readonly Entry[]; heldBack: number } {
  const byId = new Map(waiting.map((card) => [card.callId, card]))
  const kept = before.flatMap((entry): Entry[] => {
    const card = byId.get(entry.card.callId)
    byId.delete(entry.card.callId)
    if (card !== undefined) return [{ card, goneAt: undefined }]
    const goneAt = entry.goneAt ?? time
    return still || time - goneAt < goneMs || entry.card.callId === shown ? [{ ...entry, goneAt }] : []
  })
  const arrived = [...byId.values()]
  // An empty list has nothing that could move.
  if (still && before.length > 0) {
    const asked = arrived.filter((card) => card.callId === shown)
    return {
      entries: [...kept, ...asked.map((card) => ({ card, goneAt: undefined }))],
      heldBack: arrived.length - asked.length,
    }
  }
  const all = [...kept, ...arrived.map((card) => ({ card, goneAt: undefined }))]
  return { entries: all.sort((one, other) => compareCards(one.card, other.card)), heldBack: 0 }
}

export function countTabs(entries: readonly Entry[]): Record<Tab, number> {
  const waiting = entries.filter(({ goneAt }) => goneAt === undefined)
  const of = (kind: Card["kind"]) => waiting.filter(({ card }) => card.kind === kind).length
  return { all: waiting.length, calls: of("call"), results: of("result"), questions: of("question") }
}

/** Calls of the same kind stand together. What has high risk, or more than a line can show, is looked at alone. */
const mayStandTogether = (card: Card) =>
  card.kind === "call" && card.alike !== "" && card.risk.band !== "high" && fitsLine(card)

/** Cards by the table that they share; a card that shares none is a table of its own. */
export function tablesAmong(cards: readonly Card[]): readonly (readonly Card[])[] {
  const kinds = new Map<string, Card[]>()
  for (const card of cards) {
    const key = mayStandTogether(card) ? `${card.risk.band} ${card.alike}` : `one ${card.callId}`
    kinds.set(key, [...(kinds.get(key) ?? []), card])
  }
  return [...kinds.values()].flatMap(tablesOf)
}

/** The lines of each band. Calls of the same kind are one line. */
export function bandsOf(
  entries: readonly Entry[],
  tab: Tab,
): readonly { band: Band; rows: readonly Row[]; count: number }[] {
  const shown = tab === "all" ? entries : entries.filter(({ card }) => card.kind === kindOf[tab])
  const waiting = shown.filter(({ goneAt }) => goneAt === undefined).map(({ card }) => card)
  const tables = new Map(tablesAmong(waiting).flatMap((table) => table.map((card) => [card, table] as const)))
  return bandOrder.flatMap((band) => {
    const placed = new Set<Card>()
    const rows = shown.flatMap(({ card, goneAt }): Row[] => {
      if (card.risk.band !== band || placed.has(card)) return []
      // One of several that was answered leaves at once: its line stays, with one less behind it.
      if (goneAt !== undefined)
        return waiting.some((other) => tablesAmong([other, card]).length === 1)
          ? []
          : [{ card, alike: [card], gone: true }]
      const table = tables.get(card) ?? [card]
      for (const other of table) placed.add(other)
      return [{ card, alike: waiting.filter((other) => table.includes(other)), gone: false }]
    })
    const count = rows.reduce((sum, row) => sum + (row.gone ? 0 : row.alike.length), 0)
    return rows.length === 0 ? [] : [{ band, rows, count }]
  })
}

/** The line before or after the shown one. A card that is not in the list leads to the first. */
export function neighbour(rows: readonly Row[], shown: string | undefined, step: 1 | -1): Row | undefined {
  const at = rows.findIndex((row) => row.alike.some(({ callId }) => callId === shown))
  if (at === -1) return rows.find((row) => !row.gone)
  for (let next = at + step; next >= 0 && next < rows.length; next += step)
    if (rows[next]?.gone === false) return rows[next]
  return undefined
}
