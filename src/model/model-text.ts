import { mcpText } from "./mcp-text.ts"
import { withoutImageData, withoutImages } from "./result-image.ts"
import { isTicket, ToolExecuteStatus, type Ticket, type ToolResult } from "./result.ts"

/** The most characters of a result that a model is given. */
export const modelTextLimit = 30_000

/** The text to give a model about an ended call, at most `limit` characters. It contains nothing that was withheld. */
export function modelText(result: ToolResult, limit: number = modelTextLimit): string {
  switch (result.status) {
    case ToolExecuteStatus.SUCCESS:
      return cut(resultAsText(result.result), result, limit)
    case ToolExecuteStatus.EXECUTION_REJECTED:
      return `NOT EXECUTED. ${result.error ?? "A person did not agree."} Do not retry the same call.`
    case ToolExecuteStatus.RESULT_REJECTED:
      return `The tool ran, but its result is withheld. ${result.error ?? ""}`.trim()
    case ToolExecuteStatus.NOT_FOUND:
      return `NOT EXECUTED. ${result.error ?? "There is no such tool."}`
    default:
      return result.metadata?.["ran"] === true
        ? cut(`Error: ${result.error ?? "The tool failed."}`, result, limit)
        : `NOT EXECUTED. ${result.error ?? "The call was refused."}`
  }
}

/** What a model is told of a call: as `modelText`, also of what a person changed or said, and of a call that still waits. */
export function answerText(ended: ToolResult | Ticket, tool: string, limit = modelTextLimit): string {
  if (isTicket(ended)) return ticketText(ended, tool)
  return `${personText(ended)}${modelText(ended, limit)}`
}

/** What a person changed in a call before it ran, and what they said with their approval. Empty, or ends with a new line. */
export function personText({ ranInput, approvalNote }: ToolResult): string {
  const edited =
    ranInput === undefined ? "" : `A person changed the input before it ran, to ${JSON.stringify(ranInput)}.\n`
  return approvalNote === undefined
    ? edited
    : `${edited}A person approved this and says: ${JSON.stringify(approvalNote)}\n`
}

/** Tells a model that a call still waits, and how it gets the result later. */
export function ticketText({ state, until }: Ticket, tool: string): string {
  const deadline = Number.isFinite(until) ? ` It waits until ${new Date(until).toISOString()}.` : ""
  const status = {
    waiting: "NOT EXECUTED YET. The call waits for a person to approve it.",
    ready: "NOT EXECUTED YET. A person has answered the call.",
    held: "The tool ran, but its result is held back until a person releases it.",
  }[state]
  return `${status}${deadline} Call ${tool} again with the same arguments to continue this call and get its result.`
}

/** A string as it is, an MCP result as its texts, anything else as JSON. Of an image only its description, not its bytes. */
export function resultAsText(value: unknown): string {
  if (value === undefined) return "(no result)"
  if (typeof value === "string") return value
  const blocks = mcpText(value)
  if (blocks !== undefined) return blocks
  const text = JSON.stringify(withoutImageData(value))
  return text.length > 1000 && text.includes('"mimeType":"image/') ? JSON.stringify(withoutImages(value)) : text
}

function cut(text: string, result: ToolResult, limit: number): string {
  if (text.length <= limit) return text
  const where = result.truncated ? `The whole text is stored as ${result.truncated.stored}.` : "Ask for a part of it."
  return `${wholeCharacters(text, limit)}\n[truncated: ${limit} of ${text.length} characters. ${where}]`
}

/** The first `length` characters of a text, without splitting a surrogate pair. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
