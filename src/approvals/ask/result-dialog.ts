import type { PendingItem, ResultDecision } from "../../core/approval.ts"
import { askRejectReason } from "./call-dialog.ts"
import { cardLines } from "./card.ts"
import { quoteName } from "./card-rows.ts"
import { targetText } from "./item-text.ts"
import { choose, promptText, type Screen } from "./dialog.ts"
import { readRedactions } from "./redactions.ts"

/** Shows a held result and returns the decision of the person; undefined if the dialog was closed. */
export async function askAboutResult(screen: Screen, item: PendingItem): Promise<ResultDecision | undefined> {
  const words = { a: "release", d: "redact", r: "withhold", s: "show whole" }
  let lines = cardLines(item, screen)
  for (;;) {
    const key = await choose(
      screen,
      lines,
      `Release the result of ${quoteName(item.tool)}${targetText(item)}?`,
      words,
      screen.escape,
    )
    lines = []
    if (key === undefined) return undefined
    if (key === "a") return { approved: true }
    if (key === "s") lines = cardLines(item, { ...screen, whole: true })
    else {
      const decision = await (key === "r" ? withhold(screen) : redact(screen, item))
      if (decision !== undefined) return decision
    }
  }
}

async function withhold(screen: Screen): Promise<ResultDecision | undefined> {
  const rejectReason = await askRejectReason(screen)
  return rejectReason === undefined ? undefined : { approved: false, rejectReason }
}

async function redact(screen: Screen, { result }: PendingItem): Promise<ResultDecision | undefined> {
  const line = await promptText(screen, {
    message: "What to take out, as JSON pointers (/rows/0/name, /total), or the text to put in its place:",
    wrong: (text) => {
      if (text.trim() === "") return "Name a place, or write the text that the model gets instead."
      const read = readRedactions(text, result)
      return isPointers(text) && "wrong" in read ? read.wrong : undefined
    },
  })
  if (line === undefined) return undefined
  if (!isPointers(line)) return { approved: true, replace: { value: line } }
  const read = readRedactions(line, result)
  return "wrong" in read ? undefined : { approved: true, redact: read.redact }
}

function isPointers(line: string): boolean {
  return line.trimStart().startsWith("/")
}
