import type { PendingItem } from "../../core/approval.ts"
import type { Colour, TerminalStyle } from "../../lib/terminal-style.ts"
import { printableJson } from "../../lib/printable.ts"
import { lengthText, type TextLimit } from "./card-rows.ts"
import { longLimit, shortLimit, type CardStyle } from "./card-style.ts"
import { questionRows } from "./question-rows.ts"

/** The rows of the question, the result, the preview or the input: at most this many. */
export function contentRows(item: PendingItem, style: CardStyle, rows: number | undefined): string[] {
  const { titledBlock, paint } = style
  if (item.kind === "question") return questionRows(item.question ?? { question: "" }, item.tool, style)
  if (item.kind === "result") {
    const input = inputRows(item, style, within(shortLimit, rows && Math.floor(rows / 3)))
    return [...input, ...resultRows(item, style, within(longLimit, rows && rows - input.length))]
  }
  if (item.preview === undefined) return inputRows(item, style, within(longLimit, rows))
  const input = showsInput(item, style) ? inputRows(item, style, shortLimit) : []
  const isDiff = item.previewData?.kind === "diff"
  const limit = within(longLimit, rows && rows - input.length)
  // The last line of a diff has an end too, which is no row.
  const text = isDiff ? item.preview.replace(/\n$/, "") : item.preview
  return [...titledBlock("preview", text, limit, isDiff ? diffColours(paint) : undefined), ...input]
}

/** Names what only the whole view shows of a call. */
export function leftOut(item: PendingItem, style: CardStyle): string[] {
  if (item.kind !== "call" || item.preview === undefined) return []
  const length = previewSaysAll(item) ? "" : ` (${lengthText(inputText(item))})`
  return [
    ...(item.description === "" || isDescribed(item, style) ? [] : ["what the tool does"]),
    ...(showsInput(item, style) ? [] : [`the input as JSON${length}`]),
  ]
}

/** Reports whether the card says what the tool does. Where the preview shows it, only the whole view does. */
export function isDescribed(item: PendingItem, { whole }: CardStyle): boolean {
  return item.description !== "" && (whole || !previewSaysAll(item))
}

/** Reports whether the input is beside the preview: not where the preview says the same, and not where it is long. */
function showsInput(item: PendingItem, { whole }: CardStyle): boolean {
  if (whole || item.input === undefined) return true
  const text = inputText(item)
  const isShort = text.length <= shortLimit.characters && text.split("\n").length <= shortLimit.lines
  return isShort && !previewSaysAll(item)
}

/** A diff, a command and a request are all that their input says. Another preview may leave something out. */
function previewSaysAll({ kind, previewData }: PendingItem): boolean {
  return kind === "call" && ["diff", "command", "request"].includes(previewData?.kind ?? "")
}

function inputText({ input }: Pick<PendingItem, "input">): string {
  return input === undefined ? "" : printableJson(input, 2)
}

function inputRows(item: PendingItem, { line, titledBlock }: CardStyle, limit: TextLimit): string[] {
  return item.input === undefined ? line("The input was erased.") : titledBlock("input as JSON", inputText(item), limit)
}

function resultRows({ result }: PendingItem, { line, titledBlock }: CardStyle, limit: TextLimit): string[] {
  if (result === undefined) return line("The result is missing.")
  if (!result.success) return titledBlock("error", result.error ?? "", limit)
  if (result.result === undefined) return line("It gave no result.")
  return typeof result.result === "string"
    ? titledBlock("result as text", result.result, limit)
    : titledBlock("result as JSON", printableJson(result.result, 2), limit)
}

const fewestRows = 4

/** A limit in so many rows, of which the title of the text takes one. */
function within(limit: TextLimit, rows: number | undefined): TextLimit {
  return rows === undefined ? limit : { ...limit, rows: Math.max(fewestRows, rows - 1) }
}

function diffColours(paint: TerminalStyle): (row: string) => Colour {
  return (row) => {
    if (row.startsWith("+")) return paint.green
    if (row.startsWith("-")) return paint.red
    return row.startsWith("@@") ? paint.cyan : (text) => text
  }
}
