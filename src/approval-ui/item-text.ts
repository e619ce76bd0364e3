import type { PendingItem } from "../model/approval.ts"
import { printableJson } from "../lib/printable.ts"
import { oneLine, quoteName } from "./card-rows.ts"

/** Who waits for what, without anything of the input. */
export function itemHeadline({ kind, agentId, tool }: PendingItem): string {
  const [who, name] = [quoteName(agentId), quoteName(tool)]
  if (kind === "question") return `${who} asks a question with ${name}`
  return kind === "result" ? `the result of ${name} for ${who} is held` : `${who} wants to call ${name}`
}

/** The same with the beginning of the question, the preview or the input. */
export function itemText(item: PendingItem): string {
  const { kind, preview, input, question } = item
  const about =
    kind === "question" ? question?.question : (preview ?? (input === undefined ? "" : printableJson(input)))
  return `${itemHeadline(item)}: ${beginning(about ?? "")}`
}

const longestBeginning = 60

function beginning(text: string): string {
  const [line = ""] = text.split("\n", 1)
  const isCut = line.length < text.length || line.length > longestBeginning
  return oneLine(line.slice(0, longestBeginning)) + (isCut ? "…" : "")
}
