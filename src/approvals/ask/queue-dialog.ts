import type { Answer, PendingItem } from "../../core/approval.ts"
import { answerToCall, answerToQuestion, answerToResult } from "../queue/decision-answers.ts"
import { askAboutCall } from "./call-dialog.ts"
import { choose, type Screen } from "./dialog.ts"
import { enterKey } from "./keys.ts"
import { itemText } from "./item-text.ts"
import { askAboutQuestion } from "./question-dialog.ts"
import { askAboutResult } from "./result-dialog.ts"

/** A person's answer, and for how long the rule of the card is added with it. */
export interface GivenAnswer {
  answer: Answer
  ruleFor?: string
}

/** Shows what waits and returns the person's answer; undefined if they leave it for later or the dialog was closed. */
export async function askAboutItem(screen: Screen, item: PendingItem): Promise<GivenAnswer | undefined> {
  if (item.kind === "call") {
    const decision = await askAboutCall(screen, item)
    return decision && { answer: answerToCall(decision, item), ruleFor: decision.ruleFor }
  }
  if (item.kind === "result") {
    const decision = await askAboutResult(screen, item)
    return decision && { answer: answerToResult(decision) }
  }
  const decision = await askAboutQuestion(screen, item)
  return decision && { answer: answerToQuestion(decision) }
}

/** Only the first of a list have a number. */
export const mostListed = 9

/** A question with what stands before it. */
export function withNote(note: string | undefined, question: string): string {
  return note === undefined ? question : `${note} · ${question}`
}

/**
 * Lists what waits and returns the one that the person wants to see. Nothing is answered by that. `putOff` is how many
 * others wait that the person left for later. Items that are added to the list while it is shown can be chosen too.
 */
export async function chooseItem(
  screen: Screen,
  items: readonly PendingItem[],
  { putOff = 0, note }: { putOff?: number; note?: string } = {},
): Promise<PendingItem | undefined> {
  const listed = items.slice(0, mostListed)
  const rows = listed.map((item, place) => `  ${place + 1}  ${fitted(itemText(item), screen.columns - 5)}`)
  const more = items.length > listed.length ? [`  … and ${items.length - listed.length} more after these`] : []
  const waits = items.length === 1 ? "1 waits for a person:" : `${items.length} wait for a person:`
  const title = putOff === 0 ? waits : `${items.length} more, ${putOff} put off:`
  const numbers = Array.from({ length: mostListed }, (_, place) => [String(place + 1), ""])
  const words = { ...Object.fromEntries(numbers), [enterKey]: "the first" }
  const question = withNote(note, listed.length === 1 ? "Show it?" : `Show which one? 1 to ${listed.length},`)
  let lines = [screen.paint.bold(title), ...rows, ...more]
  for (;;) {
    const key = await choose(screen, lines, question, words, screen.escape)
    if (key === undefined) return undefined
    const chosen = items[key === enterKey ? 0 : Number(key) - 1]
    if (chosen !== undefined) return chosen
    lines = []
  }
}

/** Cut to the width, counting a wide character as two columns. */
function fitted(text: string, columns: number): string {
  let used = 0
  let shown = ""
  for (const character of text) {
    used += character.codePointAt(0)! < 0x1100 ? 1 : 2
    if (used > columns - 1) return `${shown}…`
    shown += character
  }
  return shown
}
