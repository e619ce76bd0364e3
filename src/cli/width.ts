/** How many columns of a terminal a text takes: East Asian wide characters and emoji take two, combining marks none. */
export function width(text: string): number {
  let columns = 0
  for (const character of text) columns += columnsOf(character)
  return columns
}

/** The text with spaces behind it up to that many columns. */
export function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - width(text)))
}

/** The text, or as much of it as fits with a mark that something is missing. */
export function cutTo(text: string, columns: number): string {
  if (width(text) <= columns) return text
  let cut = ""
  let used = 1
  for (const character of text) {
    used += columnsOf(character)
    if (used > columns) break
    cut += character
  }
  return columns < 1 ? "" : `${cut.trimEnd()}…`
}

function columnsOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) return 0
  return wide.some(([first, last]) => code >= first && code <= last) || /\p{Emoji_Presentation}/u.test(character)
    ? 2
    : 1
}

/** Unicode's East Asian Width W and F, in whole blocks. */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18aff],
  [0x1b000, 0x1b2ff],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
]
