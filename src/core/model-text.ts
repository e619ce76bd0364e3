import { mcpText } from "./mcp-text.ts"
import { withoutImageData, withoutImages } from "./result-image.ts"
import { isTicket, ToolExecuteStatus, type Ticket, type ToolResult } from "./result.ts"

/** The most characters of a result that a model is given. */
export const modelTextLimit = 30_000

/** Options of the text that tells a model of a result. */
export interface TextOptions {
  /** The most characters of the result (default 30,000). */
  limit?: number
  /**
   * The tool by which the model reads on in the artifact of a cut result; false when it has none. Left out: not known.
   */
  reader?: string | false
}

/** The text to give a model about an ended call, cut where it is too long. It contains nothing that was withheld. */
export function modelText(result: ToolResult, options: TextOptions = {}): string {
  const whole = textOfTool(result)
  if (whole === undefined) return sentenceFor(result)
  const { shown, note } = cut(whole, result.truncated, options)
  return `${shown}${note}`
}

/**
 * Returns the text that `modelText` may have to cut: the result, or the error of a tool that ran. Undefined for
 * sentences of ours.
 */
export function textOfTool(result: ToolResult): string | undefined {
  if (result.status === ToolExecuteStatus.SUCCESS) return resultAsText(result.result)
  return result.status === ToolExecuteStatus.ERROR && result.metadata?.["ran"] === true
    ? `Error: ${result.error}`
    : undefined
}

function sentenceFor({ status, error }: ToolResult): string {
  switch (status) {
    case ToolExecuteStatus.EXECUTION_REJECTED:
      return `${notExecuted(ended(error ?? "A person did not agree"))} Do not retry the same call.`
    case ToolExecuteStatus.RESULT_REJECTED:
      return `The tool ran, but its result is withheld. ${error ?? ""}`.trim()
    case ToolExecuteStatus.NOT_FOUND:
      return notExecuted(error ?? "There is no such tool.")
    default:
      return notExecuted(error ?? "The call was refused.")
  }
}

/** The sentence is for people too, and may say itself that the tool was not executed: once is enough. */
function notExecuted(sentence: string): string {
  const [, reason = sentence] = /^\S+ was not executed(?:: |, because )(.+)$/s.exec(sentence) ?? []
  const why = reason.replace(/, so \S+ was not executed\.$/, ".")
  return `NOT EXECUTED. ${why.charAt(0).toUpperCase()}${why.slice(1)}`
}

/** People give reasons without a full stop. */
function ended(sentence: string): string {
  return /[.!?\u3002\uff01\uff1f]$/.test(sentence) ? sentence : `${sentence}.`
}

/**
 * Returns a call as text for a model: as `modelText`, also with a person's changes and words, and for a call that still
 * waits.
 */
export function answerText(ended: ToolResult | Ticket, tool: string, options?: TextOptions): string {
  if (isTicket(ended)) return ticketText(ended, tool)
  return `${personText(ended)}${modelText(ended, options)}`
}

/**
 * Describes a person's changes to a call before it ran, and their words of approval. Empty, or ends with a new
 * line.
 */
export function personText({ ranInput, approvalNote }: ToolResult): string {
  const edited =
    ranInput === undefined ? "" : `A person changed the input before it ran, to ${JSON.stringify(ranInput)}.\n`
  return approvalNote === undefined
    ? edited
    : `${edited}A person approved this and says: ${JSON.stringify(approvalNote)}\n`
}

/** Tells a model that a call still waits, and how it gets the result later. */
export function ticketText({ state, until }: Ticket, tool: string): string {
  if (state === "started") return "The call is let through. Run the tool, and report what came of it."
  const deadline = Number.isFinite(until) ? ` It waits until ${new Date(until).toISOString()}.` : ""
  const status = {
    waiting: "NOT EXECUTED YET. The call waits for a person to approve it.",
    ready: "NOT EXECUTED YET. A person has answered the call.",
    held: "The tool ran, but its result is held back until a person releases it.",
  }[state]
  return `${status}${deadline} Call ${tool} again with the same arguments to continue this call and get its result.`
}

/**
 * A string as it is, an MCP result as its texts, anything else as JSON. Of an image only its description, not its
 * bytes.
 */
export function resultAsText(value: unknown): string {
  if (value === undefined) return "(no result)"
  if (typeof value === "string") return value
  const blocks = mcpText(value)
  if (blocks !== undefined) return blocks
  const text = JSON.stringify(withoutImageData(value))
  return text.length > 1000 && text.includes('"mimeType":"image/') ? JSON.stringify(withoutImages(value)) : text
}

/** Reports whether `resultAsText` writes a value as JSON. */
export function isJsonText(value: unknown): boolean {
  if (value === undefined || typeof value === "string") return false
  return mcpText(value) === undefined || (value as { content: readonly unknown[] }).content.length === 0
}

/** Returns the shown part of a text, and a note about the rest where there is one. */
export function cut(
  text: string,
  truncated: ToolResult["truncated"],
  { limit = modelTextLimit, reader }: TextOptions,
): { shown: string; note: string } {
  if (text.length <= limit) return { shown: text, note: "" }
  const shown = wholeCharacters(text, limit)
  const rest = (): string => {
    if (truncated === undefined) return "Ask for a part of it."
    if (reader === false) return "You have no tool that reads the rest: ask for a part of it."
    if (reader === undefined) return `The whole text is stored as ${truncated.stored}.`
    const { stored: ref, total, part } = truncated
    const page = (given: object) => `${reader} ${JSON.stringify({ ref, ...given })}.`
    // A part that is cut is read again in smaller ones.
    if (part !== undefined) {
      const half = Math.ceil(part.length / 2)
      return `Read it in parts with ${page({ offset: part.offset, limit: Math.min(pageLength(limit), half) })}`
    }
    // In a dialect the stored text is not the one that is shown.
    const offset = total === text.length ? shown.length : 0
    return `Read on with ${page({ offset, limit: pageLength(limit) })}`
  }
  return { shown, note: `\n[truncated: ${shown.length} of ${text.length} characters. ${rest()}]` }
}

/**
 * Returns the length of an artifact's part to read at once, so that it is not cut again: as JSON it is longer and has
 * other fields.
 */
function pageLength(limit: number): number {
  return Math.max(100, Math.floor((limit - 400) * 0.6))
}

/** The first `length` characters of a text, without splitting a surrogate pair. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
