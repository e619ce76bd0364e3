import type { DeskItem } from "../../model/approval.ts"
import { wholeCharacters } from "../../model/text.ts"

const longest = 4000

/** What the person at the other end reads before they decide, as plain text. */
export function cardText(item: DeskItem): string {
  const { agentId, role, tool, input, reasons, preview, touches, editedBy, note } = item
  const lines = [
    `Agent ${agentId} (${role}) wants to call ${tool}.`,
    ...(editedBy === undefined ? [] : [`The input was edited by ${editedBy}.`]),
    ...(note === undefined ? [] : [note]),
    `Why you are asked: ${reasons.map(({ sentence }) => sentence).join(" ")}`,
    ...touches.list.map(({ kind, what }) => `It touches the ${kind} ${what}.`),
    "",
    preview === undefined ? `Input: ${cut(JSON.stringify(input, undefined, 2) ?? "nothing")}` : cut(preview),
  ]
  return shown(lines.join("\n"))
}

function cut(text: string): string {
  if (text.length <= longest) return text
  return `${wholeCharacters(text, longest)}\n[cut: ${longest} of ${text.length} characters]`
}

/** Characters that cannot be seen, or change how others are shown, are written out. */
export function shown(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]/gu, (character) =>
      character === "\n" || character === "\t"
        ? character
        : `\\u{${character.codePointAt(0)?.toString(16).padStart(4, "0")}}`,
    )
}
