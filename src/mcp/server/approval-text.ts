import type { PendingItem } from "../../model/approval.ts"
import type { Touch } from "../../model/rule.ts"
import { wholeCharacters } from "../../model/model-text.ts"
import { intentText } from "../../model/intent.ts"

const maxCharacters = 4000

/** The plain text that the person at the client reads before deciding. */
export function approvalText(item: PendingItem): string {
  const { agentId, role, tool, input, reasons, preview, touches, editedBy, note, intent } = item
  const lines = [
    `Agent ${agentId} (${role}) wants to call ${tool}.`,
    ...(editedBy === undefined ? [] : [`The input was edited by ${editedBy}.`]),
    ...(note === undefined ? [] : [note]),
    ...(intent === undefined ? [] : [intentText(intent)]),
    `Why you are asked: ${reasons.map(({ sentence }) => sentence).join(" ")}`,
    ...touches.list.map(({ kind, what }) => `${touchVerbs[kind]} ${what}`),
    "",
    preview === undefined ? `Input: ${cut(JSON.stringify(input, undefined, 2) ?? "nothing")}` : cut(preview),
  ]
  return escapeInvisibleCharacters(lines.join("\n"))
}

const touchVerbs: Readonly<Record<Touch["kind"], string>> = {
  read: "It reads",
  write: "It writes",
  command: "It runs the command",
  host: "It connects to",
  database: "It uses the database",
}

function cut(text: string): string {
  if (text.length <= maxCharacters) return text
  return `${wholeCharacters(text, maxCharacters)}\n[cut: ${maxCharacters} of ${text.length} characters]`
}

/** Writes invisible characters, and those that change how others are displayed, as escapes. */
export function escapeInvisibleCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]/gu, (character) =>
      character === "\n" || character === "\t"
        ? character
        : `\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`,
    )
}
