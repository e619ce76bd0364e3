import type { AssistantPart, ModelMessage, ToolResultPart } from "../models/port.ts"
import type { Reflection } from "../reflection/reflector.ts"
import type { CallResult, ChainTurn, SummaryTurn } from "./turns.ts"

/**
 * The messages that a model is sent for these turns. Results always follow their calls directly: what was said while the
 * model answered or the calls ran comes after them.
 */
export function messagesOf(turns: readonly ChainTurn[], instructions?: string): ModelMessage[] {
  const view = viewOf(turns)
  const { summary } = view
  const messages: ModelMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }]
  if (summary !== undefined) messages.push({ role: "user", content: summaryText(summary.text) })
  let awaitsResults = false
  let later: ModelMessage[] | undefined
  for (const turn of turns) {
    if (summary !== undefined && turn.index < summary.before) continue
    if (turn.kind === "user") {
      const { text, images } = turn.body
      const message: ModelMessage = { role: "user", content: text, ...(images && { images }) }
      if (awaitsResults || view.unread.has(turn.index)) (later ??= []).push(message)
      else messages.push(message)
    } else if (turn.kind === "reflection" && turn.body.verdict !== "continue") {
      // Right after the results it is about, so that what a person said meanwhile comes last.
      const results = messages.findLastIndex(({ role }) => role === "tool")
      messages.splice(results === -1 ? messages.length : results + 1, 0, {
        role: "user",
        content: reflectionText(turn.body),
      })
    } else if (turn.kind === "assistant") {
      messages.push({ role: "assistant", content: sendable(turn.body.content) })
      awaitsResults = turn.body.calls.length > 0
    } else if (turn.kind === "results") {
      messages.push({ role: "tool", content: turn.body.results.map((result) => resultPart(result, view)) })
      awaitsResults = false
    } else continue
    if (later !== undefined && !awaitsResults && (turn.kind === "assistant" || turn.kind === "results")) {
      messages.push(...later)
      later = undefined
    }
  }
  return messages
}

/** The settings for how turns are shown to the model. */
interface View {
  summary: SummaryTurn | undefined
  /** The results that are shown as a reference only. */
  references: ReadonlySet<string>
  /** The indexes of what was said while the model answered. */
  unread: ReadonlySet<number>
  /** The results whose image is shown. */
  withImage: ReadonlySet<CallResult>
}

/** Images cost much and are soon out of date: the model is shown the newest ones only. */
const shownImages = 2

function viewOf(turns: readonly ChainTurn[]): View {
  let summary: SummaryTurn | undefined
  // Most conversations have none of these.
  let references: Set<string> | undefined
  let unread: Set<number> | undefined
  let images: CallResult[] | undefined
  for (const turn of turns) {
    if (turn.kind === "summary") summary = turn.body
    else if (turn.kind === "references") {
      references ??= new Set()
      for (const ref of turn.body.refs) references.add(ref)
    } else if (turn.kind === "assistant") {
      const { index, body } = turn
      for (let place = body.read ?? index; place < index; place++) (unread ??= new Set()).add(place)
    } else if (turn.kind === "results") {
      for (const result of turn.body.results) if (result.image !== undefined) (images ??= []).push(result)
    }
  }
  return {
    summary,
    references: references ?? nothing,
    unread: unread ?? nothing,
    withImage: images === undefined ? nothing : new Set(images.slice(-shownImages)),
  }
}

const nothing: ReadonlySet<never> = new Set<never>()

function summaryText(text: string): string {
  return `Summary of the conversation so far, because it became too long:\n\n${text}`
}

function reflectionText({ assessment, lessons, nextFocus }: Reflection): string {
  return [assessment, ...lessons, nextFocus].filter((text) => text !== undefined && text !== "").join(" ")
}

/** Providers refuse an assistant message without content, and leave out thoughts that other providers had. */
function sendable(content: readonly AssistantPart[]): readonly AssistantPart[] {
  const isAnswer = content.some(
    (part) => part.type === "tool-call" || (part.type === "text" && part.text.trim() !== ""),
  )
  return isAnswer ? content : [...content, { type: "text", text: "(no answer)" }]
}

function resultPart(result: CallResult, { references, withImage }: View): ToolResultPart {
  const { id, name, isError, image } = result
  const type = "tool-result"
  if (references.has(result.ref)) return { type, id, name, isError, output: referenceText(result) }
  const output = withNumber(result)
  if (image === undefined) return { type, id, name, isError, output }
  if (withImage.has(result)) return { type, id, name, isError, output, image }
  const note = "[Its image is no longer shown: there are newer ones.]"
  return { type, id, name, isError, output: `${output}\n${note}` }
}

const longText = 1000

/** The text of a result. A long one ends with its number, so that the model can pass it on without repeating it. */
function withNumber({ ref, text, isError }: CallResult): string {
  if (isError || text.length < longText) return text
  return `${text}\n[This is result ${ref}. To pass it on as it is shown here, write {"$ref":"${ref}"} as an argument.]`
}

/** Returns the text in place of a result that was taken out of the context. */
export function referenceText({ ref, text }: Pick<CallResult, "ref" | "text">): string {
  return `[Result ${ref} (${text.length} characters) is no longer shown. Make the call again if you need it.]`
}
