import type { Card } from "../../../src/http/api/schemas.ts"

const fieldsOf = (card: Card) =>
  typeof card.input === "object" && card.input !== null ? (card.input as Record<string, unknown>) : {}
const shown = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** The fields of the input that differ between cards of one kind. Where none does, their one-line summary. */
export function differingFields(cards: readonly Card[]): readonly string[] {
  const names = [...new Set(cards.flatMap((card) => Object.keys(fieldsOf(card))))]
  return names.filter((name) => new Set(cards.map((card) => shown(fieldsOf(card)[name]))).size > 1)
}

export const fieldText = (card: Card, name: string) => shown(fieldsOf(card)[name])
