import type { CardTouch, PendingItem } from "../../core/approval.ts"
import { headingOf } from "../../approvals/card/view.ts"
import { wholeCharacters } from "../../core/model-text.ts"
import { intentText } from "../../schema/intent-text.ts"

const maxCharacters = 4000

/** The most characters of the first line. */
const maxHeadline = 500

/**
 * The plain text that the person at the client reads before deciding. Some clients show three lines of it: the risk with
 * the title, what would happen, and who wants it.
 */
export function approvalText(item: PendingItem): string {
  const { agentId, role, tool, reasons, preview, touches, editedBy, note, intent } = item
  const what = headline(item)
  const isCut = what.length > maxHeadline
  const rest = preview ?? (isCut ? `Input: ${JSON.stringify(item.input, undefined, 2)}` : undefined)
  const lines = [
    onOneLine(headingOf(item)),
    `${tool}: ${isCut ? `${wholeCharacters(what, maxHeadline)} … [goes on below]` : what}`,
    `Agent ${agentId} (${role}) wants to call ${tool}. Why you are asked: ${reasons.map(({ sentence }) => sentence).join(" ")}`,
    ...(editedBy === undefined ? [] : [`The input was edited by ${editedBy}.`]),
    ...(note === undefined ? [] : [note]),
    ...(intent === undefined ? [] : [intentText(intent)]),
    ...touches.list.map(({ kind, what: touched }) => onOneLine(`${touchVerbs[kind]} ${touched}`)),
    ...(rest === undefined ? [] : ["", cut(rest)]),
  ]
  return escapeInvisibleCharacters(lines.join("\n"))
}

/** The command, the changed lines or the input, on one line. */
function headline({ previewData, input }: PendingItem): string {
  switch (previewData?.kind) {
    case "command":
      return onOneLine(previewData.command)
    case "diff":
      return previewData.files.map(({ path, diff }) => onOneLine([path, ...changedLines(diff)].join("\n"))).join("; ")
    case "request":
      return onOneLine(
        [`${previewData.method} ${previewData.url}`, ...(previewData.body?.split("\n") ?? [])].join("\n"),
      )
    default:
      return JSON.stringify(input) ?? "{}"
  }
}

/** The lines of a unified difference that are added or removed, without its two header lines. */
function changedLines(diff: string): string[] {
  return diff
    .split("\n")
    .slice(2)
    .filter((line) => line.startsWith("+") || line.startsWith("-"))
}

function onOneLine(text: string): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join(" ⏎ ")
}

const touchVerbs: Readonly<Record<CardTouch["kind"], string>> = {
  read: "It reads",
  write: "It writes",
  delete: "It deletes",
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
