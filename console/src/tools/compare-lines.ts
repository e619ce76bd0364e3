export interface Line {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
}

/** A definition as lines with sorted names, and characters that nobody sees as codes. */
export function definitionLines(value: unknown): readonly string[] {
  return JSON.stringify(sorted(value), null, 2)
    .replaceAll(/[^\P{C}\n]|[^\P{Z} ]/gu, (hidden) => `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`)
    .split("\n")
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, part]) => [name, sorted(part)]),
  )
}

/** The lines of both, in order, by their longest common part. Definitions are short enough for the plain way. */
export function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  const width = after.length + 1
  // common[i * width + j]: how many lines the rests from i and j have in common.
  const common = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const one = before[i]
    const other = after[j]
    if (one !== undefined && one === other) {
      lines.push({ kind: "same", text: one })
      i++
      j++
    } else if (
      one !== undefined &&
      (other === undefined || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    ) {
      lines.push({ kind: "removed", text: one })
      i++
    } else if (other !== undefined) {
      lines.push({ kind: "added", text: other })
      j++
    }
  }
  return lines
}
