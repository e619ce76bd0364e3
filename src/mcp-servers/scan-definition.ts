import { isValueTooDeep } from "../lib/json-depth.ts"
import type { McpToolDefinition } from "../core/mcp.ts"

/** The longest description. */
export const maxDescriptionCharacters = 16_000
/** The longest definition of one tool as JSON. */
export const maxDefinitionCharacters = 256 * 1024

const maxDepth = 64
const maxShown = 10

/**
 * Finds invisible characters in the texts of a definition: one sentence for each text that has some. A model reads them
 * and a person does not see them, so they can carry hidden instructions.
 */
export function hiddenCharacters(definition: McpToolDefinition): string[] {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition
  return findHiddenCharacters({ name, title, description, inputSchema, outputSchema, annotations })
}

/** The same for all texts of any other item that a server lists. */
export function findHiddenCharacters(item: unknown): string[] {
  const sentences: string[] = []
  visitTexts(item, "", (text, where) => {
    const found = text.match(hidden)
    if (found !== null) sentences.push(hiddenSentence(text, where, found))
  })
  return sentences
}

/** A sentence that says why a definition is too large to be used. */
export function definitionSizeProblem(definition: McpToolDefinition): string | undefined {
  const { description = "" } = definition
  const problem = (what: string) => `Its ${what} are the most. It is left out.`
  if (description.length > maxDescriptionCharacters) {
    return problem(`description has ${description.length} characters; ${maxDescriptionCharacters}`)
  }
  if (isValueTooDeep(definition, maxDepth)) return problem(`definition is nested too deep; ${maxDepth} levels`)
  const { length } = JSON.stringify(definition)
  return length > maxDefinitionCharacters
    ? problem(`definition has ${length} characters; ${maxDefinitionCharacters}`)
    : undefined
}

/** Replaces invisible characters by escapes. */
export function escapeHiddenCharacters(text: string): string {
  return text.replace(hidden, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Variation selectors and joiners that are parts of emoji count as visible. */
const emojiParts = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f\u20e3|(?<=\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d(?=\p{Extended_Pictographic})`
/** Blank characters that Unicode does not list as ignorable. */
const blank = String.raw`\u070f\u2800\ufff9-\ufffb\u{13430}-\u{1343f}`
const hidden = new RegExp(
  String.raw`(?![\t\n]|\r\n|${emojiParts})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}${blank}]`,
  "gu",
)

function hiddenSentence(text: string, where: string, found: readonly string[]): string {
  const kinds = [...new Set(found)].slice(0, maxShown).map((character) => escapeHiddenCharacters(character))
  const at = Math.max(0, text.search(hidden) - 20)
  const around = escapeHiddenCharacters(text.slice(at, at + 60).toWellFormed())
  const count = found.length === 1 ? "a hidden character" : `${found.length} hidden characters`
  return `Its ${escapeHiddenCharacters(where)} has ${count} (${kinds.join(" ")}), near "${around}".`
}

/** Visits every text of a value, including field names, with its path. */
function visitTexts(value: unknown, where: string, visit: (text: string, where: string) => void): void {
  if (typeof value === "string") return visit(value, where)
  if (typeof value !== "object" || value === null) return
  for (const [key, part] of Object.entries(value)) {
    const place = where === "" ? key : `${where}.${key}`
    if (!Array.isArray(value)) visit(key, place)
    visitTexts(part, place, visit)
  }
}
