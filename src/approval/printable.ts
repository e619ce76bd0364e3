/**
 * Text for a person's eyes: control, bidirectional, zero-width and other characters nobody sees are shown as escapes.
 * Tabs, line ends and the marks that choose between text and emoji stay.
 */
export function printable(text: string): string {
  return text.replace(unseen, (character) =>
    kept.includes(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

const kept = "\t\n\ufe0e\ufe0f"
const unseen = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
