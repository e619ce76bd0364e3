/** Longer texts are shown as they are written: reading them as Markdown would make the page slow. */
const mostCharacters = 200_000
const mostInOneLine = 20_000
/** So many quotes, lists or brackets inside each other are not meant for a reader. */
const mostNested = 24

/** Reports whether a text is read as Markdown. Text too long or nested too deeply is shown as it is written. */
export function isReadable(text: string): boolean {
  if (text.length > mostCharacters) return false
  for (const line of text.split("\n"))
    if (line.length > mostInOneLine || markers(line) > mostNested || runs(line) > mostNested) return false
  return true
}

/** The quotes and list items that a line begins with. */
function markers(line: string): number {
  const begin = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*/.exec(line)?.[0] ?? ""
  return (begin.match(/[>+*)-]|\d[.]/g)?.length ?? 0) + Math.floor((/[ \t]*$/.exec(begin)?.[0].length ?? 0) / 8)
}

/** The most brackets or marks of emphasis that are open at the same time. */
function runs(line: string): number {
  let open = 0
  let most = 0
  for (const character of line) {
    if (character === "[") open++
    else if (character === "]") open--
    most = Math.max(most, open)
  }
  return most
}

/**
 * A text that is still written, cut where a paragraph, list or block of code has ended: what stands before is not read
 * again with every piece.
 */
export function splitWritten(text: string): readonly [settled: string, written: string] {
  let fence: string | undefined
  let at = 0
  let cut = 0
  let wasBlank = false
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    // A list, a quote or a table goes on after a blank line only when it is indented or marked again.
    if (fence === undefined && wasBlank && /^[^\s>*+\-\d|]/.test(line)) cut = at
    if (mark !== undefined) {
      if (fence === undefined) fence = mark
      else if (mark[0] === fence[0] && mark.length >= fence.length) fence = undefined
    }
    wasBlank = line.trim() === ""
    at += line.length + 1
  }
  return [text.slice(0, cut), text.slice(cut)]
}
