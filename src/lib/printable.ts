/**
 * Text that is safe to show to a person: control, bidirectional, zero-width and other invisible characters become escapes.
 * Tabs, line ends and emoji variation selectors stay.
 */
export function printable(text: string): string {
  return text.replace(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** The same for a value as JSON. Parsing it gives the value back. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null"
  return text.replace(invisible, (character) => character.split("").map(unitEscape).join(""))
}

const emojiMark = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|[\ufe0e\ufe0f]\u20e3`
/** Invisible formatting characters that Unicode does not list as ignorable. */
const formatting = String.raw`\u070f\ufff9-\ufffb\u{13430}-\u{1343f}`
const invisible = new RegExp(
  String.raw`(?![\t\n]|${emojiMark})[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}${formatting}]`,
  "gu",
)

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
}
