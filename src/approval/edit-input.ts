import { messageOf } from "../model/message.ts"
import { oneLine } from "./card-rows.ts"
import { printable, printableJson } from "./printable.ts"

/** What a person made of an input, or why it is none. */
export type Edited = { input: unknown } | { wrong: string }

/** Reads the JSON a person wrote. */
export function readInput(text: string): Edited {
  try {
    return { input: JSON.parse(text) as unknown }
  } catch (error) {
    return { wrong: `That is no JSON: ${oneLine(messageOf(error))}.` }
  }
}

/** A text that should be JSON as one line that hides nothing. */
export function onOneLine(text: string): string {
  const read = readInput(text)
  return "input" in read ? printableJson(read.input) : printable(text.replaceAll(/\s+/g, " "))
}
