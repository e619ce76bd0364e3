import type { CardTouch, PendingItem } from "../../core/approval.ts"
import type { Approvers } from "../../core/rule.ts"
import type { Colour, TerminalStyle } from "../../lib/terminal-style.ts"
import { headingOf } from "../card/view.ts"
import { contentRows, isDescribed, leftOut } from "./card-content.ts"
import { quoteName } from "./card-rows.ts"
import { cardStyle, shortLimit, type CardOptions, type CardStyle } from "./card-style.ts"
import { deadlineText } from "./deadline-text.ts"
import { intentText } from "../../schema/intent-text.ts"

/**
 * The card as text, the same in the terminal and in chats. Everything that an agent or a tool's author wrote is
 * behind a bar, in quotes or inside a line of our own. Hidden characters are shown, and so is the length of each text.
 */
export function cardLines(item: PendingItem, options: CardOptions = {}): string[] {
  const style = cardStyle(options)
  const { line, inline, block, paint, whole } = style
  const { now = Date.now(), offers = true, rows } = options
  const omitted = leftOut(item, style)
  const before = [
    ...line(inline(headingOf(item)), (text) => paint.bold(riskColour(item.risk, paint)(text))),
    ...line(headline(item)),
    ...origin(item, style).flatMap((text) => line(text)),
    ...(isDescribed(item, style) ? block(whole ? item.description : firstSentence(item.description), shortLimit) : []),
    ...(item.intent === undefined ? [] : line(intentText(item.intent))),
    ...item.reasons.flatMap((reason) => line(because(reason, inline), reason.shadow ? paint.dim : paint.yellow)),
  ]
  const after = [
    ...(omitted.length === 0 ? [] : line(`Only in the whole view: ${omitted.join(", ")}.`, paint.dim)),
    ...agreement(item, whole || offers, inline).flatMap((text) => line(text)),
    ...line(deadlineText(item, now), paint.dim),
  ]
  const room = rows === undefined ? undefined : rows - before.length - after.length - questionRows
  return [...before, ...contentRows(item, style, room), ...after]
}

function riskColour({ band }: PendingItem["risk"], { red, yellow }: TerminalStyle): Colour {
  return { high: red, medium: yellow, low: (text: string) => text }[band]
}

/** The rows around a card: an empty one, what else waits, the question with its keys, and the place for the key. */
const questionRows = 6

/** Authors write a description for models, with every parameter. A person needs what the tool does. */
function firstSentence(text: string): string {
  const [first = text] = /^[^]*?[.!?](?=\s+\p{Lu}|\s*\n|\s*$)/u.exec(text) ?? []
  return first.length === text.trimEnd().length ? text : `${first} …`
}

function headline(item: PendingItem): string {
  const creator = item.roleMadeBy === undefined ? "" : ` (made by agent ${quoteName(item.roleMadeBy)})`
  const who = `${quoteName(item.agentId)} (${quoteName(item.role)}${creator})`
  const tool = quoteName(item.tool)
  if (item.kind === "question") return `${who} asks a question with ${tool} [${item.level}]`
  if (item.kind === "result") return `${tool} has run for ${who}. May the model see its result? [${item.level}]`
  return `${who} wants to call ${tool} [${item.level}]`
}

function origin(item: PendingItem, { inline, whole }: CardStyle): string[] {
  const lines: string[] = []
  if (item.ancestors.length > 0) lines.push(`spawned by: ${item.ancestors.map(quoteName).join(" ← ")}`)
  if (item.userId !== undefined) lines.push(`acts for: ${quoteName(item.userId)}`)
  const edited = item.editedBy === undefined ? "" : `edited by ${quoteName(item.editedBy)}`
  const revision = item.revision > 1 ? `revision ${item.revision}` : ""
  if (edited !== "" || revision !== "") lines.push([revision, edited].filter((text) => text !== "").join(", "))
  const touched = touchedText(item, whole)
  if (touched !== "") lines.push(`touches: ${touched}`)
  if (item.note !== undefined) lines.push(`it came back: ${inline(item.note)}`)
  return lines
}

const mostTouches = 6

/** Lists touches. The parts of a command that the preview shows, and what is more than a few, are in the whole view. */
function touchedText({ touches: { list, proved }, previewData }: PendingItem, whole: boolean): string {
  const command = !whole && previewData?.kind === "command" ? previewData.command : ""
  const isPart = ({ kind, what }: CardTouch) => kind === "command" && command.includes(what)
  const others = list.filter((touch) => !isPart(touch))
  const shown = others.slice(0, whole ? Infinity : mostTouches).map(({ kind, what }) => `${kind} ${quoteName(what)}`)
  const hidden = others.length - shown.length
  const all = [
    ...(others.length < list.length ? ["the command below"] : []),
    ...shown,
    ...(hidden === 0 ? [] : [`${hidden} more in the whole view`]),
  ]
  return `${all.join(", ")}${proved ? "" : " and possibly more, which cannot be proved"}`.trimStart()
}

function because(reason: PendingItem["reasons"][number], inline: (text: string) => string): string {
  const text = `${inline(reason.sentence)} (${inline(reason.source)})`
  if (reason.shadow !== undefined) return `in shadow, it would ${reason.shadow}: ${text}`
  return `because: ${text}${reason.binding === true ? "; only a person can approve this" : ""}`
}

function agreement(item: PendingItem, offers: boolean, inline: (text: string) => string): string[] {
  const lines: string[] = []
  if (item.approvers.length > 0) lines.push(`must agree: ${item.approvers.map(people).join(", and ")}`)
  if (item.votes.length > 0) lines.push(`agreed so far: ${item.votes.map(({ by }) => quoteName(by)).join(", ")}`)
  if (!offers) return lines
  if (item.rule !== undefined) {
    const command = `qm approvals approve ${item.callId} --rule 8h`
    lines.push(
      `instead of a yes each time, the user of this machine can add a rule: ${inline(item.rule.words)} (${command})`,
    )
  }
  return [...lines, ...item.remember.map(({ words }) => `a yes can be remembered: ${inline(words)}`)]
}

function people({ role, count }: Approvers): string {
  const many = count === 1 ? "1 person" : `${count} people`
  return role === undefined ? many : `${many} with the role ${quoteName(role)}`
}
