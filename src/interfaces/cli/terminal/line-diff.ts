/** A line diff: `- ` removed, `+ ` added, two spaces unchanged. Unchanged lines far from a change are left out. */
export function lineDiff(before: string, after: string, around = 3): string[] {
  const lines = compare(before === "" ? [] : before.split("\n"), after === "" ? [] : after.split("\n"))
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => !line.startsWith("  ")),
  )
  return lines.flatMap((line, index) => {
    if (near[index] === true) return [line]
    return near[index - 1] === true || index === 0 ? ["  …"] : []
  })
}

const maxCells = 4_000_000

function compare(before: readonly string[], after: readonly string[]): string[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end++
  }
  const same = (line: string) => `  ${line}`
  return [
    ...before.slice(0, start).map(same),
    ...between(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** By the longest common subsequence; texts too long for that are shown as removed and added. */
function between(before: readonly string[], after: readonly string[]): string[] {
  const removed = (line: string) => `- ${line}`
  const added = (line: string) => `+ ${line}`
  if (before.length * after.length > maxCells) return [...before.map(removed), ...after.map(added)]
  const width = after.length + 1
  const common = new Uint32Array((before.length + 1) * width)
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const at = row * width + column
      common[at] =
        before[row] === after[column] ? common[at + width + 1]! + 1 : Math.max(common[at + width]!, common[at + 1]!)
    }
  }
  const lines: string[] = []
  let row = 0
  let column = 0
  while (row < before.length || column < after.length) {
    const at = row * width + column
    if (row < before.length && column < after.length && before[row] === after[column]) {
      lines.push(`  ${before[row]}`)
      row++
      column++
    } else if (column === after.length || (row < before.length && common[at + width]! >= common[at + 1]!)) {
      lines.push(removed(before[row++]!))
    } else lines.push(added(after[column++]!))
  }
  return lines
}
