/** Newest version first. 1.10.0 is newer than 1.9.0, and 1.0.0 than 1.0.0-beta. */
export function newestFirst<T extends { version: string }>(items: readonly T[]): T[] {
  return [...items].sort((one, other) => compareVersions(other.version, one.version))
}

export function compareVersions(one: string, other: string): number {
  const [oneMain, onePre] = parts(one)
  const [otherMain, otherPre] = parts(other)
  const main = compareParts(oneMain, otherMain)
  if (main !== 0) return main
  if (onePre.length === 0 || otherPre.length === 0) return otherPre.length - onePre.length
  return compareParts(onePre, otherPre)
}

function parts(version: string): [main: string[], pre: string[]] {
  const [main = "", ...pre] = version.split("+")[0]!.split("-")
  return [main.split("."), pre.length === 0 ? [] : pre.join("-").split(".")]
}

function compareParts(one: readonly string[], other: readonly string[]): number {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const [left = "0", right = "0"] = [one[index], other[index]]
    const difference = comparePart(left, right)
    if (difference !== 0) return difference
  }
  return 0
}

/** Numbers by size and before words; words alphabetically. */
function comparePart(one: string, other: string): number {
  const [oneIsNumber, otherIsNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (oneIsNumber !== otherIsNumber) return oneIsNumber ? -1 : 1
  const [left, right] = oneIsNumber ? [BigInt(one), BigInt(other)] : [one, other]
  return left < right ? -1 : left > right ? 1 : 0
}
