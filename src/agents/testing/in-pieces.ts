/** A text in pieces of that many characters; an empty one has none. */
export function inPieces(text: string, length = Infinity): string[] {
  if (text.length <= length) return text === "" ? [] : [text]
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  )
}

/** Arguments as a model writes them. */
export function argumentsText(given: unknown): string {
  return typeof given === "string" ? given : JSON.stringify(given)
}
