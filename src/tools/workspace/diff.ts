import type { StructuredPatchHunk } from "diff"
import type { Preview } from "../../model/preview.ts"

/** A unified diff. */
export interface UnifiedDiff {
  readonly text: string
  readonly additions: number
  readonly deletions: number
}

/** The diff of one file as an approver sees it, with the size that the file will have. */
export function diffPreview(path: string, { text, additions, deletions }: UnifiedDiff, bytes: number): Preview {
  return { kind: "diff", files: [{ path, diff: text, added: additions, removed: deletions }], bytes }
}

/** With more changed lines, the whole changed part is shown as removed and added. */
const maxChanges = 1000

/** Deterministic. `before` is undefined for a new file. */
export async function unifiedDiff(path: string, before: string | undefined, after: string): Promise<UnifiedDiff> {
  const [old, fresh] = withoutCommonCrlf(before ?? "", after)
  const { structuredPatch } = await import("diff")
  const options = { context: 3, maxEditLength: maxChanges }
  const hunks = structuredPatch(path, path, old, fresh, "", "", options)?.hunks ?? [coarse(old, fresh)]
  const lines = hunks.flatMap((hunk) => [header(hunk), ...hunk.lines])
  const count = (sign: string) =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(sign)).length, 0)
  const from = before === undefined ? "/dev/null" : `a/${path}`
  return {
    text: `${[`--- ${from}`, `+++ b/${path}`, ...lines].join("\n")}\n`,
    additions: count("+"),
    deletions: count("-"),
  }
}

/** Hides CRLF if every line of both texts ends with it. */
function withoutCommonCrlf(before: string, after: string): [string, string] {
  const isPaired = (text: string) => !/\r(?!\n)|(?<!\r)\n/.test(text)
  if (!isPaired(before) || !isPaired(after)) return [before, after]
  return [before.replaceAll("\r\n", "\n"), after.replaceAll("\r\n", "\n")]
}

/** A side without lines has the number of the line before it. */
function header({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string {
  const from = oldLines === 0 ? oldStart - 1 : oldStart
  const to = newLines === 0 ? newStart - 1 : newStart
  return `@@ -${from},${oldLines} +${to},${newLines} @@`
}

function coarse(before: string, after: string): StructuredPatchHunk {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let front = 0
  while (front < old.length && old[front] === fresh[front]) front++
  let back = 0
  while (back < Math.min(old.length, fresh.length) - front && old.at(-1 - back) === fresh.at(-1 - back)) back++
  const out = old.slice(front, old.length - back)
  const put = fresh.slice(front, fresh.length - back)
  return {
    oldStart: front + 1,
    oldLines: out.length,
    newStart: front + 1,
    newLines: put.length,
    lines: [...out.flatMap((line) => signed("-", line)), ...put.flatMap((line) => signed("+", line))],
  }
}

function signed(sign: string, line: string): string[] {
  return line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, "\\ No newline at end of file"]
}

/** Lines with their endings. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}
