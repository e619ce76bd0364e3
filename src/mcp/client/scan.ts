import { isDeeper } from "../../model/depth.ts"
import type { McpToolDefinition } from "../../model/mcp.ts"

/** The longest description, in characters. */
export const longestDescription = 16_000
/** The longest definition of one tool, in characters of its JSON text. */
export const longestDefinition = 256 * 1024

const deepest = 64
const shownAtMost = 10

/**
 * Characters in the texts of a definition that a model reads and nobody sees; one sentence for each text that has some.
 * What a server says of its tools is data, and hidden text in it is how instructions are smuggled to a model.
 */
export function hiddenCharacters(definition: McpToolDefinition): string[] {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition
  return hiddenIn({ name, title, description, inputSchema, outputSchema, annotations })
}

/** The same for whatever else a server lists, all of it. */
export function hiddenIn(item: unknown): string[] {
  const sentences: string[] = []
  visitTexts(item, "", (text, where) => {
    const found = text.match(hidden)
    if (found !== null) sentences.push(hiddenSentence(text, where, found))
  })
  return sentences
}

/** Why a definition is too large to be used, as a sentence. */
export function tooLarge(definition: McpToolDefinition): string | undefined {
  const { description = "" } = definition
  const say = (what: string) => `Its ${what} are the most. It is left out.`
  if (description.length > longestDescription) {
    return say(`description has ${description.length} characters; ${longestDescription}`)
  }
  if (isDeeper(definition, deepest)) return say(`definition is nested too deep; ${deepest} levels`)
  const { length } = JSON.stringify(definition)
  return length > longestDefinition ? say(`definition has ${length} characters; ${longestDefinition}`) : undefined
}

/** The same text with what nobody sees in it escaped. */
export function escaped(text: string): string {
  return text.replace(hidden, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A mark that makes an emoji of the sign before it, and a joiner between two of them, belong to what is seen. */
const ofEmoji = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f\u20e3|(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})`
/** What looks like nothing though Unicode does not count it among the ignorable. */
const blank = String.raw`\u070f\u2800\ufff9-\ufffb\u{13430}-\u{1343f}`
const hidden = new RegExp(
  String.raw`(?![\t\n]|\r\n|${ofEmoji})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}${blank}]`,
  "gu",
)

function hiddenSentence(text: string, where: string, found: readonly string[]): string {
  const kinds = [...new Set(found)].slice(0, shownAtMost).map((character) => escaped(character))
  const at = Math.max(0, text.search(hidden) - 20)
  const around = escaped(text.slice(at, at + 60).toWellFormed())
  const count = found.length === 1 ? "a hidden character" : `${found.length} hidden characters`
  return `Its ${escaped(where)} has ${count} (${kinds.join(" ")}), near "${around}".`
}

/** Every text of a value, the names of its fields too, with where it stands. */
function visitTexts(value: unknown, where: string, visit: (text: string, where: string) => void): void {
  if (typeof value === "string") return visit(value, where)
  if (typeof value !== "object" || value === null) return
  for (const [key, part] of Object.entries(value)) {
    const place = where === "" ? key : `${where}.${key}`
    if (!Array.isArray(value)) visit(key, place)
    visitTexts(part, place, visit)
  }
}
