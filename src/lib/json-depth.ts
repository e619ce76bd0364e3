/** No real message or input is nested this deeply. */
const deepest = 200

const quote = 0x22
const backslash = 0x5c

/** Reports whether a JSON text is nested too deeply for recursive code. */
export function isJsonTooDeep(text: string, levels: number = deepest): boolean {
  if (text.length <= 2 * levels) return false
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index)
        break
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > levels) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
    }
  }
  return false
}

/** The same for a value. Without recursion, because the value may be deeper than the stack. */
export function isValueTooDeep(value: unknown, levels: number = deepest): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((part) => (typeof part === "object" && part !== null ? Object.values(part) : []))
  }
  return false
}

/** The end of the string that begins at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1
    if (escapes % 2 === 0) return end
  }
  return text.length
}
