import { withoutImageData } from "./image.ts"
import { ToolExecuteStatus, type ToolResult } from "./result.ts"

/** How many characters of a result a model is given at most. */
export const modelTextLimit = 30_000

/** The text a model reads about an ended call. What was withheld is not in it. */
export function modelText(result: ToolResult): string {
  switch (result.status) {
    case ToolExecuteStatus.SUCCESS:
      return cut(plainText(result.result), result)
    case ToolExecuteStatus.EXECUTION_REJECTED:
      return `NOT EXECUTED. ${result.error ?? "A person did not agree."} Do not retry the same call.`
    case ToolExecuteStatus.RESULT_REJECTED:
      return `The tool ran, but its result is withheld. ${result.error ?? ""}`.trim()
    case ToolExecuteStatus.NOT_FOUND:
      return `NOT EXECUTED. ${result.error ?? "There is no such tool."}`
    default:
      return result.metadata?.["ran"] === true
        ? cut(`Error: ${result.error ?? "The tool failed."}`, result)
        : `NOT EXECUTED. ${result.error ?? "The call was refused."}`
  }
}

/** A string as it is, anything else as JSON; of an image only what is known about it. */
export function plainText(value: unknown): string {
  if (value === undefined) return "(no result)"
  return typeof value === "string" ? value : JSON.stringify(withoutImageData(value))
}

function cut(text: string, result: ToolResult): string {
  if (text.length <= modelTextLimit) return text
  const where = result.truncated ? ` The whole text is stored as ${result.truncated.stored}.` : ""
  return `${wholeCharacters(text, modelTextLimit)}\n[truncated: ${modelTextLimit} of ${text.length} characters.${where}]`
}

/** The first characters of a text, never half of a surrogate pair. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
