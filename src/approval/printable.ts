/**
 * Text for a person's eyes: control, bidirectional, zero-width and other characters nobody sees are shown as escapes.
 * Tabs and line ends stay, and the mark that makes an emoji of the sign right before it.
 */
export function printable(text: string): string {
  return text.replace(unseen, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A value as JSON in which nothing is hidden either, and which still says the same when it is read back. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? "null"
  return text.replace(unseen, (character) => character.split("").map(unitEscape).join(""))
}

const emojiMark = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|[\ufe0e\ufe0f]\u20e3`
/** Formatting characters that Unicode does not count among the ignorable ones, though they look like nothing. */
const formatting = String.raw`\u070f\ufff9-\ufffb\u{13430}-\u{1343f}`
const unseen = new RegExp(
  String.raw`(?![\t\n]|${emojiMark})[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}${formatting}]`,
  "gu",
)

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
}
