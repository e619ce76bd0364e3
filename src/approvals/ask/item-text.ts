import type { PendingItem } from "../../core/approval.ts"
import { wholeCharacters } from "../../core/model-text.ts"
import { oneLine, quoteName } from "./card-rows.ts"

/** Says who waits for what, without anything of the input. */
export function itemHeadline({ kind, agentId, tool }: PendingItem): string {
  const [who, name] = [quoteName(agentId), quoteName(tool)]
  if (kind === "question") return `${who} asks a question with ${name}`
  return kind === "result" ? `the result of ${name} for ${who} is held` : `${who} wants to call ${name}`
}

/** The same with what it is about. */
export function itemText(item: PendingItem): string {
  return `${itemHeadline(item)}: ${aboutItem(item)}`
}

/** The touches besides the commands above, behind the name of the tool: ` (write notes.md)`. */
export function targetText({ touches }: PendingItem): string {
  const others = touches.list.filter(({ kind }) => kind !== "command")
  const text = others.map(({ kind, what }) => `${kind} ${quoteName(what)}`).join(", ")
  if (text === "") return ""
  return ` (${text.length > longestBeginning ? `${wholeCharacters(text, longestBeginning)}…` : text})`
}

/** The reason for asking again, as a sentence after another one; empty when there is none. */
export function askedAgainText({ note }: Pick<PendingItem, "note">): string {
  return note === undefined ? "" : ` ${oneLine(note)}`
}

/** Says what an answer did, after what it was about: `write_file of dev (a.md): Approved.` */
export function answeredText(item: PendingItem, sentence: string): string {
  return `${quoteName(item.tool)} of ${quoteName(item.agentId)} (${aboutItem(item)}): ${sentence}`
}

/** The beginning of the summary: the command, the paths, the address or the question. */
export function aboutItem({ summary }: PendingItem): string {
  return beginning(summary)
}

const longestBeginning = 60

function beginning(text: string): string {
  const [line = ""] = text.split("\n", 1)
  const isCut = line.length < text.length || line.length > longestBeginning
  return oneLine(line.slice(0, longestBeginning)) + (isCut ? "…" : "")
}
