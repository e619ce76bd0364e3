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
      messages.push({ role: "tool", content: turn.body.results.map((result) => resultPart(result, isReference)) })
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

function resultPart(result: CallResult, isReference: ReadonlySet<string>): ToolResultPart {
  const { id, name, isError } = result
  const output = isReference.has(result.ref) ? referenceText(result) : withNumber(result)
  return { type: "tool-result", id, name, output, isError }
}

const longText = 1000

/** The text of a result. A long one ends with its number, so that the model can pass it on without repeating it. */
function withNumber({ ref, text, isError }: CallResult): string {
  if (isError || text.length < longText) return text
  return `${text}\n[This is result ${ref}. To pass all of it on, write {"$ref":"${ref}"} as an argument.]`
}

/** What stands in place of a result that was taken out of the context. */
export function referenceText({ ref, text }: Pick<CallResult, "ref" | "text">): string {
  return `[Result ${ref} (${text.length} characters) is no longer shown. Make the call again if you need it.]`
}
