import fastStringWidth from "fast-string-width"

/** The number of terminal columns of a text; colours take none. */
export function width(text: string): number {
  return fastStringWidth(text)
}

/** Pads a text with spaces to that many columns. */
export function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - width(text)))
}

/** Cuts a text to that many columns, with `…` at the end if it was cut. */
export function cutTo(text: string, columns: number): string {
  if (width(text) <= columns) return text
  let cut = ""
  let used = 1
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += width(segment)
    if (used > columns) break
    cut += segment
  }
  return columns < 1 ? "" : `${cut.trimEnd()}…`
}
