import type { PendingItem } from "../model/approval.ts"
import type { Approvers } from "../model/rule.ts"
import { lengthText, quoteName, type TextLimit } from "./card-rows.ts"
import { deadlineText } from "./deadline-text.ts"
import type { Colour, TerminalStyle } from "../lib/terminal-style.ts"
import { longLimit, cardStyle, shortLimit, type CardOptions } from "./card-style.ts"
import { printableJson } from "../lib/printable.ts"
import { intentText } from "../model/intent.ts"
import { questionRows } from "./question-rows.ts"

/**
 * What an approver sees, the same in every interface that shows text. Everything that an agent or a tool's author wrote is
 * behind a bar, in quotes or inside a line of our own. Hidden characters are shown, and so is the length of each text.
 */
export function cardLines(item: PendingItem, options: CardOptions = {}): string[] {
  const style = cardStyle(options)
  const { line, inline, block, titledBlock, paint, whole } = style
  const { now = Date.now() } = options

  return [
    ...line(headline(item), paint.bold),
    ...origin(item, inline).flatMap((text) => line(text)),
    ...(item.description === "" ? [] : block(whole ? item.description : firstSentence(item.description), shortLimit)),
    ...(item.intent === undefined ? [] : line(intentText(item.intent))),
    ...item.reasons.flatMap((reason) => line(because(reason, inline), reason.shadow ? paint.dim : paint.yellow)),
    ...content(),
    ...agreement(item, inline).flatMap((text) => line(text)),
    ...line(deadlineText(item, now), paint.dim),
  ]

  /** The question, the result, the preview or the input. */
  function content(): string[] {
    if (item.kind === "question") return questionRows(item.question ?? { question: "" }, style)
    if (item.kind === "result") return [...inputRows(shortLimit), ...resultRows()]
    if (item.preview === undefined) return inputRows()
    const colourOf = item.previewData?.kind === "diff" ? diffColours(paint) : undefined
    return [...titledBlock("preview", item.preview, longLimit, colourOf), ...inputBesidePreview()]
  }

  function inputRows(limit?: TextLimit): string[] {
    return item.input === undefined
      ? line("The input was erased.")
      : titledBlock("input as JSON", printableJson(item.input, 2), limit)
  }

  /** The preview says what will happen, so a long input is only in the whole view. */
  function inputBesidePreview(): string[] {
    const text = item.input === undefined ? "" : printableJson(item.input, 2)
    return whole || isWithin(text, shortLimit)
      ? inputRows()
      : line(`input as JSON, ${lengthText(text)}: only in the whole view.`, paint.dim)
  }

  function resultRows(): string[] {
    const { result } = item
    if (result === undefined) return line("The result is missing.")
    if (!result.success) return titledBlock("error", result.error ?? "")
    if (result.result === undefined) return line("It gave no result.")
    return typeof result.result === "string"
      ? titledBlock("result as text", result.result)
      : titledBlock("result as JSON", printableJson(result.result, 2))
  }
}

/** Authors write a description for models, with every parameter. A person needs what the tool does. */
function firstSentence(text: string): string {
  const [first = text] = /^[^]*?[.!?](?=\s+\p{Lu}|\s*\n|\s*$)/u.exec(text) ?? []
  return first.length === text.trimEnd().length ? text : `${first} …`
}

function isWithin(text: string, { characters, lines }: TextLimit): boolean {
  return text.length <= characters && text.split("\n").length <= lines
}

function headline(item: PendingItem): string {
  const creator = item.roleMadeBy === undefined ? "" : ` (made by agent ${quoteName(item.roleMadeBy)})`
  const who = `${quoteName(item.agentId)} (${quoteName(item.role)}${creator})`
  const tool = quoteName(item.tool)
  if (item.kind === "question") return `${who} asks a question with ${tool} [${item.level}]`
  if (item.kind === "result") return `${tool} has run for ${who}. May the model see its result? [${item.level}]`
  return `${who} wants to call ${tool} [${item.level}]`
}

function origin(item: PendingItem, inline: (text: string) => string): string[] {
  const lines: string[] = []
  if (item.ancestors.length > 0) lines.push(`spawned by: ${item.ancestors.map(quoteName).join(" ← ")}`)
  if (item.userId !== undefined) lines.push(`acts for: ${quoteName(item.userId)}`)
  const edited = item.editedBy === undefined ? "" : `edited by ${quoteName(item.editedBy)}`
  const revision = item.revision > 1 ? `revision ${item.revision}` : ""
  if (edited !== "" || revision !== "") lines.push([revision, edited].filter((text) => text !== "").join(", "))
  const { list, proved } = item.touches
  const touched = list.map(({ kind, what }) => `${kind} ${quoteName(what)}`).join(", ")
  if (touched !== "" || !proved)
    lines.push(`touches: ${touched}${proved ? "" : " and possibly more, which cannot be proved"}`)
  if (item.note !== undefined) lines.push(`it came back: ${inline(item.note)}`)
  return lines
}

function because(reason: PendingItem["reasons"][number], inline: (text: string) => string): string {
  const text = `${inline(reason.sentence)} (${inline(reason.source)})`
  if (reason.shadow !== undefined) return `in shadow, it would ${reason.shadow}: ${text}`
  return `because: ${text}${reason.binding === true ? "; only a person can approve this" : ""}`
}

function agreement(item: PendingItem, inline: (text: string) => string): string[] {
  const lines: string[] = []
  if (item.approvers.length > 0) lines.push(`must agree: ${item.approvers.map(people).join(", and ")}`)
  if (item.votes.length > 0) lines.push(`agreed so far: ${item.votes.map(({ by }) => quoteName(by)).join(", ")}`)
  if (item.rule !== undefined) {
    const command = `qm approvals approve ${item.callId} --rule 8h`
    lines.push(`the user of this machine can add a rule: ${inline(item.rule.words)} (${command})`)
  }
  return [...lines, ...item.remember.map(({ words }) => `a yes can be remembered: ${inline(words)}`)]
}

function people({ role, count }: Approvers): string {
  const many = count === 1 ? "1 person" : `${count} people`
  return role === undefined ? many : `${many} with the role ${quoteName(role)}`
}

function diffColours(paint: TerminalStyle): (row: string) => Colour {
  return (row) => {
    if (row.startsWith("+")) return paint.green
    if (row.startsWith("-")) return paint.red
    return row.startsWith("@@") ? paint.cyan : (text) => text
  }
}
