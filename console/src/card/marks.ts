/** A part of a line from `from` to before `to` with a class name. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly name: string
}

export interface Piece {
  readonly text: string
  readonly names: readonly string[]
}

/** Cuts a line where any span begins or ends, so that each piece has the class names of all spans over it. */
export function cut(text: string, spans: readonly Span[]): readonly Piece[] {
  const edges = new Set([0, text.length])
  for (const { from, to } of spans) {
    edges.add(Math.max(0, Math.min(from, text.length)))
    edges.add(Math.max(0, Math.min(to, text.length)))
  }
  const places = [...edges].sort((one, other) => one - other)
  return places.slice(0, -1).flatMap((from, at) => {
    const to = places[at + 1] ?? text.length
    const names = spans.filter((span) => span.from <= from && span.to >= to).map(({ name }) => name)
    return from === to ? [] : [{ text: text.slice(from, to), names }]
  })
}
