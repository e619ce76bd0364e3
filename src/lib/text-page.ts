/**
 * The part of a text from `offset` on, about `limit` characters long, and where the next part begins. A part never begins
 * or ends within a surrogate pair.
 */
export function textPage(text: string, offset: number, limit: number): { part: string; end: number } {
  const end = boundary(text, offset + limit)
  return { part: text.slice(boundary(text, offset), end), end }
}

/** Moves an offset that lies within a surrogate pair behind the pair. */
function boundary(text: string, at: number): number {
  const before = text.charCodeAt(at - 1)
  return at < text.length && before >= 0xd800 && before <= 0xdbff ? at + 1 : Math.min(at, text.length)
}
