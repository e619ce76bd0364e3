import type { DeskItem } from "../model/approval.ts"
import type { Approvers } from "../model/rule.ts"
import { counted, named, type Limit } from "./card-rows.ts"
import { deadlineWords } from "./deadline-words.ts"
import type { Colour, Paint } from "../model/paint.ts"
import { most, penFor, some, type CardOptions } from "./pen.ts"
import { printableJson } from "./printable.ts"
import { questionRows } from "./question-rows.ts"

/**
 * What an approver sees, the same at every door that shows text. Everything that an agent or a tool's author wrote
 * stands behind a bar, in quotes or inside a line of ours; nothing of it is hidden, and how long it is is always said.
 */
export function cardLines(item: DeskItem, options: CardOptions = {}): string[] {
  const pen = penFor(options)
  const { line, inside, block, titled, paint, whole } = pen
  const { now = Date.now() } = options

  return [
    ...line(headline(item), paint.bold),
    ...origin(item, inside).flatMap((text) => line(text)),
    ...(item.description === "" ? [] : block(item.description, some)),
    ...item.reasons.flatMap((reason) => line(because(reason, inside), reason.shadow ? paint.dim : paint.yellow)),
    ...matter(),
    ...agreement(item, inside).flatMap((text) => line(text)),
    ...line(deadlineWords(item, now), paint.dim),
  ]

  /** The question, the result, the preview or the input. */
  function matter(): string[] {
    if (item.kind === "question") return questionRows(item.question ?? { question: "" }, pen)
    if (item.kind === "result") return [...given(some), ...resulted()]
    if (item.preview === undefined) return given()
    const colourOf = isDiff(item.preview) ? diffColours(paint) : undefined
    return [...titled("preview", item.preview, most, colourOf), ...(whole ? given() : onlyCounted())]
  }

  function given(limit?: Limit): string[] {
    return item.input === undefined
      ? line("The input was erased.")
      : titled("input as JSON", printableJson(item.input, 2), limit)
  }

  function onlyCounted(): string[] {
    return item.input === undefined
      ? line("The input was erased.")
      : line(`input as JSON, ${counted(printableJson(item.input, 2))}: only in the whole view.`, paint.dim)
  }

  function resulted(): string[] {
    const { result } = item
    if (result === undefined) return line("The result is not there.")
    if (!result.success) return titled("error", result.error ?? "")
    if (result.result === undefined) return line("It gave no result.")
    return typeof result.result === "string"
      ? titled("result as text", result.result)
      : titled("result as JSON", printableJson(result.result, 2))
  }
}

function headline(item: DeskItem): string {
  const maker = item.roleMadeBy === undefined ? "" : ` (made by agent ${named(item.roleMadeBy)})`
  const who = `${named(item.agentId)} (${named(item.role)}${maker})`
  const tool = named(item.tool)
  if (item.kind === "question") return `${who} asks a question with ${tool} [${item.level}]`
  if (item.kind === "result") return `${tool} has run for ${who}. May the model see its result? [${item.level}]`
  return `${who} wants to call ${tool} [${item.level}]`
}

function origin(item: DeskItem, inside: (text: string) => string): string[] {
  const lines: string[] = []
  if (item.spawners.length > 0) lines.push(`spawned by: ${item.spawners.map(named).join(" ← ")}`)
  if (item.userId !== undefined) lines.push(`acts for: ${named(item.userId)}`)
  const edited = item.editedBy === undefined ? "" : `edited by ${named(item.editedBy)}`
  const revision = item.revision > 1 ? `revision ${item.revision}` : ""
  if (edited !== "" || revision !== "") lines.push([revision, edited].filter((text) => text !== "").join(", "))
  const { list, proved } = item.touches
  const touched = list.map(({ kind, what }) => `${kind} ${named(what)}`).join(", ")
  if (touched !== "" || !proved) lines.push(`touches: ${touched}${proved ? "" : " and whatever nobody could prove"}`)
  if (item.note !== undefined) lines.push(`it came back: ${inside(item.note)}`)
  return lines
}

function because(reason: DeskItem["reasons"][number], inside: (text: string) => string): string {
  const said = `${inside(reason.sentence)} (${inside(reason.source)})`
  if (reason.shadow !== undefined) return `in shadow, it would ${reason.shadow}: ${said}`
  return `because: ${said}${reason.binding === true ? "; only a person can say yes to this" : ""}`
}

function agreement(item: DeskItem, inside: (text: string) => string): string[] {
  const lines: string[] = []
  if (item.approvers.length > 0) lines.push(`must agree: ${item.approvers.map(people).join(", and ")}`)
  if (item.votes.length > 0) lines.push(`agreed so far: ${item.votes.map(({ by }) => named(by)).join(", ")}`)
  return [...lines, ...item.remember.map(({ words }) => `a yes can be remembered: ${inside(words)}`)]
}

function people({ role, count }: Approvers): string {
  const many = count === 1 ? "1 person" : `${count} people`
  return role === undefined ? many : `${many} with the role ${named(role)}`
}

function isDiff(text: string): boolean {
  return /^(@@ |--- .*\n\+\+\+ )/m.test(text)
}

function diffColours(paint: Paint): (row: string) => Colour {
  return (row) => {
    if (row.startsWith("+")) return paint.green
    if (row.startsWith("-")) return paint.red
    return row.startsWith("@@") ? paint.cyan : (text) => text
  }
}
