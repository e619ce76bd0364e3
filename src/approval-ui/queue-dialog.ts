import type { Answer, PendingItem } from "../model/approval.ts"
import { answerToCall, answerToQuestion, answerToResult } from "../model/decision-answers.ts"
import { askAboutCall } from "./call-dialog.ts"
import { oneLine, quoteName } from "./card-rows.ts"
import { printableJson } from "../lib/printable.ts"
import { choose, type Screen } from "./dialog.ts"
import { enterKey } from "./keys.ts"
import { askAboutQuestion } from "./question-dialog.ts"
import { askAboutResult } from "./result-dialog.ts"

/** Shows what waits and returns the person's answer; undefined if they leave it for later or the dialog was closed. */
export async function askAboutItem(screen: Screen, item: PendingItem): Promise<Answer | undefined> {
  if (item.kind === "call") {
    const decision = await askAboutCall(screen, item)
    return decision && answerToCall(decision, item)
  }
  if (item.kind === "result") {
    const decision = await askAboutResult(screen, item)
    return decision && answerToResult(decision)
  }
  const decision = await askAboutQuestion(screen, item)
  return decision && answerToQuestion(decision)
}

const mostListed = 9

/** Lists what waits and returns the one that the person wants to see. Nothing is answered by that. */
export async function chooseItem(screen: Screen, items: readonly PendingItem[]): Promise<PendingItem | undefined> {
  const listed = items.slice(0, mostListed)
  const rows = listed.map((item, place) => `  ${place + 1}  ${fitted(itemText(item), screen.columns - 5)}`)
  const more = items.length > listed.length ? [`  … and ${items.length - listed.length} more after these`] : []
  const title = items.length === 1 ? "1 waits for a person:" : `${items.length} wait for a person:`
  const words = { ...Object.fromEntries(listed.map((_, place) => [String(place + 1), ""])), [enterKey]: "the first" }
  const key = await choose(
    screen,
    [screen.paint.bold(title), ...rows, ...more],
    listed.length === 1 ? "Show it?" : "Show which? its number,",
    words,
    screen.escape,
  )
  if (key === undefined) return undefined
  return key === enterKey ? listed[0] : listed[Number(key) - 1]
}

/** What waits, in one line: who, what, and the beginning of the preview, the input or the question. */
export function itemText(item: PendingItem): string {
  const { kind, agentId, tool, preview, input, question } = item
  const [who, name] = [quoteName(agentId), quoteName(tool)]
  if (kind === "question") return `${who} asks: ${beginning(question?.question ?? "")}`
  const about = beginning(preview ?? (input === undefined ? "" : printableJson(input)))
  return `${kind === "result" ? `result of ${name} for ${who}` : `${who} wants to call ${name}`}: ${about}`
}

function beginning(text: string): string {
  const [line = ""] = text.split("\n", 1)
  return (
    oneLine(line.slice(0, longestBeginning)) + (line.length < text.length || line.length > longestBeginning ? "…" : "")
  )
}

const longestBeginning = 60

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
