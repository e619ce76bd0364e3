import type { Card } from "../../../src/approvals/card/schema.ts"

/** Lines of a table differ in at most so many fields, each of at most so many characters on one line. */
const mostFields = 2
const longestValue = 200

const fieldsOf = (card: Card) =>
  typeof card.input === "object" && card.input !== null ? (card.input as Record<string, unknown>) : {}
const shown = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))
const namesOf = (cards: readonly Card[]) => [...new Set(cards.flatMap((card) => Object.keys(fieldsOf(card))))]
const isEqual = (cards: readonly Card[], name: string) =>
  new Set(cards.map((card) => shown(fieldsOf(card)[name]))).size === 1

/** The fields of the input that differ between cards of one kind. Where none does, their one-line summary. */
export const differingFields = (cards: readonly Card[]): readonly string[] =>
  namesOf(cards).filter((name) => !isEqual(cards, name))

/** The fields that all of them have with the same value. */
export const commonFields = (cards: readonly Card[]): readonly string[] =>
  namesOf(cards).filter((name) => isEqual(cards, name))

export const fieldText = (card: Card, name: string) => shown(fieldsOf(card)[name])

/** Reports whether a card can be judged by its values alone. A long text, or an object, needs the card's preview. */
export const fitsLine = (card: Card): boolean =>
  Object.values(fieldsOf(card)).every((value) => {
    const text = shown(value).trim()
    return text.length <= longestValue && !text.includes("\n") && [value].flat().every(isPlain)
  })
const isPlain = (value: unknown) => typeof value !== "object" || value === null

/** Cards of one kind in tables: what differs inside a table is all in its columns. The order does not matter. */
export function tablesOf(cards: readonly Card[]): readonly (readonly Card[])[] {
  const tables: { cards: Card[]; first: ReadonlyMap<string, string>; differing: ReadonlySet<string> }[] = []
  for (const card of cards.toSorted((one, other) => one.callId.localeCompare(other.callId))) {
    const texts = new Map(Object.entries(fieldsOf(card)).map(([name, value]) => [name, shown(value)]))
    const withThis = ({ first, differing }: (typeof tables)[number]) =>
      new Set([
        ...differing,
        ...[...first.keys(), ...texts.keys()].filter((name) => first.get(name) !== texts.get(name)),
      ])
    const table = tables.find((each) => withThis(each).size <= mostFields)
    if (table === undefined) tables.push({ cards: [card], first: texts, differing: new Set() })
    else {
      table.differing = withThis(table)
      table.cards.push(card)
    }
  }
  return tables.map((table) => table.cards)
}
