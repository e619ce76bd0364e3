/** The known name most similar to `written`, if one is similar enough for "Did you mean …?". */
export function nearestName(written: string, known: Iterable<string>): string | undefined {
  const wanted = written.toLowerCase().slice(0, 100)
  let best: string | undefined
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const name of known) {
    if (Math.abs(name.length - wanted.length) >= least) continue
    const steps = distance(wanted, name.toLowerCase(), least)
    if (steps < least && steps < Math.max(wanted.length, name.length)) {
      least = steps
      best = name
    }
  }
  return best
}

/** Levenshtein distance in which a swap of neighbours counts once. Stops at `limit`. */
function distance(one: string, other: string, limit: number): number {
  let before: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    let smallest = row
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let steps = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) steps = Math.min(steps, before[column - 2]! + 1)
      line.push(steps)
      if (steps < smallest) smallest = steps
    }
    if (smallest >= limit) return limit
    before = above
    above = line
  }
  return above[other.length]!
}
