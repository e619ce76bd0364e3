import type { AssistantPart, ModelMessage, ToolResultPart } from "../models/port.ts"
import type { Reflection } from "../reflection/reflector.ts"
import type { CallResult, ChainTurn } from "./turns.ts"

/**
 * The messages that a model is sent for these turns. Results always follow their calls directly: what was said while the
 * model answered or the calls ran comes after them.
 */
export function messagesOf(turns: readonly ChainTurn[], instructions?: string): ModelMessage[] {
  const summary = turns.findLast((turn) => turn.kind === "summary")?.body
  const isReference = new Set(turns.flatMap((turn) => (turn.kind === "references" ? turn.body.refs : [])))
  const messages: ModelMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }]
  if (summary !== undefined) messages.push({ role: "user", content: summaryText(summary.text) })
  const unread = new Set(turns.flatMap((turn) => (turn.kind === "assistant" ? unreadBefore(turn) : [])))
  const seen = lastImages(turns)
  let awaitsResults = false
  const later: ModelMessage[] = []
  for (const turn of turns) {
    if (turn.index < (summary?.before ?? 0)) continue
    if (turn.kind === "user") {
      const message: ModelMessage = { role: "user", content: turn.body.text }
      if (awaitsResults || unread.has(turn.index)) later.push(message)
      else messages.push(message)
    }
    // Right after the results it is about, so that what a person said meanwhile comes last.
    if (turn.kind === "reflection" && turn.body.verdict !== "continue") {
      const results = messages.findLastIndex(({ role }) => role === "tool")
      messages.splice(results === -1 ? messages.length : results + 1, 0, {
        role: "user",
        content: reflectionText(turn.body),
      })
    }
    if (turn.kind === "assistant") {
      messages.push({ role: "assistant", content: sendable(turn.body.content) })
      awaitsResults = turn.body.calls.length > 0
    }
    if (turn.kind === "results") {
      messages.push({ role: "tool", content: turn.body.results.map((result) => resultPart(result, isReference, seen)) })
      awaitsResults = false
    }
    if ((turn.kind === "assistant" || turn.kind === "results") && !awaitsResults) messages.push(...later.splice(0))
  }
  return messages
}

/** The places of what was said while the model gave this answer. */
function unreadBefore({ index, body: { read = index } }: ChainTurn & { kind: "assistant" }): number[] {
  return Array.from({ length: index - read }, (_, place) => read + place)
}

function summaryText(text: string): string {
  return `Summary of the conversation so far, because it became too long:\n\n${text}`
}

function reflectionText({ assessment, lessons, nextFocus }: Reflection): string {
  return [assessment, ...lessons, nextFocus].filter((text) => text !== undefined && text !== "").join(" ")
}

/** Providers refuse an assistant message without content. */
function sendable(content: readonly AssistantPart[]): readonly AssistantPart[] {
  return content.length > 0 ? content : [{ type: "text", text: "(no answer)" }]
}

/** Images cost much and are soon out of date: the model is shown the newest ones only. */
const shownImages = 2

function lastImages(turns: readonly ChainTurn[]): ReadonlySet<CallResult> {
  const withImage = turns.flatMap((turn) =>
    turn.kind === "results" ? turn.body.results.filter(({ image }) => image !== undefined) : [],
  )
  return new Set(withImage.slice(-shownImages))
}

function resultPart(
  result: CallResult,
  isReference: ReadonlySet<string>,
  seen: ReadonlySet<CallResult>,
): ToolResultPart {
  const { id, name, isError, image } = result
  const part = { type: "tool-result" as const, id, name, isError }
  if (isReference.has(result.ref)) return { ...part, output: referenceText(result) }
  if (image !== undefined && !seen.has(result))
    return { ...part, output: `${withNumber(result)}\n[Its image is no longer shown: there are newer ones.]` }
  return { ...part, output: withNumber(result), ...(image !== undefined && { image }) }
}

const longText = 1000

/** The text of a result. A long one ends with its number, so that the model can pass it on without repeating it. */
function withNumber({ ref, text, isError }: CallResult): string {
  if (isError || text.length < longText) return text
  return `${text}\n[This is result ${ref}. To pass it on as it is shown here, write {"$ref":"${ref}"} as an argument.]`
}

/** What stands in place of a result that was taken out of the context. */
export function referenceText({ ref, text }: Pick<CallResult, "ref" | "text">): string {
  return `[Result ${ref} (${text.length} characters) is no longer shown. Make the call again if you need it.]`
}
