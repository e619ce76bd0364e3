import type { Join, Segment } from "./shell-line.ts"
import { posix } from "node:path"

/** The folders that each segment may run in; undefined when the target of a `cd` is unknown. */
export function workingFolders(
  segments: readonly Segment[],
  joins: readonly Join[],
  start: readonly string[],
): readonly (readonly string[])[] | undefined {
  const folders: (readonly string[])[] = []
  let [success, failure] = [start, [] as readonly string[]]
  for (let at = 0; at < segments.length;) {
    const end = pipelineEnd(joins, at, segments.length)
    const join = at === 0 ? ";" : joins[at - 1]!
    const begin = join === "&&" ? success : join === "||" ? failure : union(success, failure)
    for (let part = at; part < end; part++) folders.push(begin)
    let [afterSuccess, afterFailure] = [begin, begin]
    // Each part of a pipeline runs in its own shell, so a `cd` there changes nothing outside.
    if (end === at + 1 && segments[at]!.words[0]!.value === "cd") {
      const target = cdTarget(segments[at]!)
      if (target === undefined) return undefined
      afterSuccess = begin.map((folder) => posix.resolve(folder, target))
    }
    if (segments[at]!.negated) [afterSuccess, afterFailure] = [afterFailure, afterSuccess]
    ;[success, failure] = joined(join, [success, failure], [afterSuccess, afterFailure])
    at = end
  }
  return folders
}

/** The target of a plain `cd folder`. */
export function cdTarget({ words }: Segment): string | undefined {
  const target = words[1]
  if (words.length !== 2 || target === undefined || target.glob !== -1 || /^[-+]|^$/.test(target.value))
    return undefined
  return target.value
}

/** The possible folders after success, and after failure. */
type Outcome = [success: readonly string[], failure: readonly string[]]

function joined(join: Join, [success, failure]: Outcome, [nextSuccess, nextFailure]: Outcome): Outcome {
  if (join === "&&") return [nextSuccess, union(failure, nextFailure)]
  if (join === "||") return [union(success, nextSuccess), nextFailure]
  return [nextSuccess, nextFailure]
}

function pipelineEnd(joins: readonly Join[], start: number, count: number): number {
  let end = start
  while (end < count - 1 && (joins[end] === "|" || joins[end] === "|&")) end++
  return end + 1
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return b.length === 0 ? a : [...new Set([...a, ...b])]
}
