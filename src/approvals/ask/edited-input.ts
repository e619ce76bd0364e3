import { errorMessage } from "../../lib/error-message.ts"
import { oneLine } from "./card-rows.ts"
import { printable, printableJson } from "../../lib/printable.ts"

/** The input that a person wrote, or why it is not valid. */
export type EditedInput = { input: unknown } | { wrong: string }

/** Reads the JSON a person wrote. */
export function parseEditedInput(text: string): EditedInput {
  try {
    return { input: JSON.parse(text) as unknown }
  } catch (error) {
    return { wrong: `That is not valid JSON: ${oneLine(errorMessage(error))}.` }
  }
}

/** JSON text as one line without hidden characters. */
export function singleLineJson(text: string): string {
  const read = parseEditedInput(text)
  return "input" in read ? printableJson(read.input) : printable(text.replaceAll(/\s+/g, " "))
}
