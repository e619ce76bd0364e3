import type { Join, Segment } from "./line.ts"
import { posix } from "node:path"

/** In which folders each segment may run; undefined where a `cd` leads somewhere nobody can tell. */
export function foldersOf(
  segments: readonly Segment[],
  joins: readonly Join[],
  start: readonly string[],
): readonly (readonly string[])[] | undefined {
  const places: (readonly string[])[] = []
  let [success, failure] = [start, [] as readonly string[]]
  for (let at = 0; at < segments.length;) {
    const end = pipelineEnd(joins, at, segments.length)
    const join = at === 0 ? ";" : joins[at - 1]!
    const begin = join === "&&" ? success : join === "||" ? failure : union(success, failure)
    for (let part = at; part < end; part++) places.push(begin)
    let [after, missed] = [begin, begin]
    // In a pipeline each part has a shell of its own.
    if (end === at + 1 && segments[at]!.words[0]!.value === "cd") {
      const target = cdTarget(segments[at]!)
      if (target === undefined) return undefined
      after = begin.map((folder) => posix.resolve(folder, target))
    }
    if (segments[at]!.negated) [after, missed] = [missed, after]
    ;[success, failure] = joined(join, [success, failure], [after, missed])
    at = end
  }
  return places
}

/** The folder of a plain `cd`. */
export function cdTarget({ words }: Segment): string | undefined {
  const target = words[1]
  if (words.length !== 2 || target === undefined || target.glob !== -1 || /^[-+]|^$/.test(target.value))
    return undefined
  return target.value
}

type Outcome = [readonly string[], readonly string[]]

function joined(join: Join, [success, failure]: Outcome, [after, missed]: Outcome): Outcome {
  if (join === "&&") return [after, union(failure, missed)]
  if (join === "||") return [union(success, after), missed]
  return [after, missed]
}

function pipelineEnd(joins: readonly Join[], start: number, most: number): number {
  let end = start
  while (end < most - 1 && (joins[end] === "|" || joins[end] === "|&")) end++
  return end + 1
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return other.length === 0 ? one : [...new Set([...one, ...other])]
}
