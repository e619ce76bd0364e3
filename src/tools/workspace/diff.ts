import type { StructuredPatchHunk } from "diff"
import type { Preview } from "../../core/preview.ts"
import { commonEnd, commonStart, type Region } from "./edits.ts"
import { countLines } from "./lines.ts"

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

/** With more changed lines in one place, that whole place is shown as removed and added. */
const maxChanges = 1000
/** A difference that covers more than this is counted instead of shown, because it would block the process. */
const maxShown = { characters: 1_000_000, lines: 50_000 }
const contextLines = 3

/**
 * Deterministic. `before` is undefined for a new file. Only the lines around `regions` are compared; without them, the
 * lines between the common start and end of both texts.
 */
export async function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string,
  regions: readonly Region[] = [changedRegion(before ?? "", after)],
): Promise<UnifiedDiff> {
  const old = before ?? ""
  const from = before === undefined ? "/dev/null" : `a/${path}`
  const top = `--- ${from}\n+++ b/${path}\n`
  const spans = changedSpans(old, after, regions, contextLines)
  if (isTooLarge(old, after, spans)) {
    const { additions, deletions } = countChanged(old, after, changedSpans(old, after, regions, 0))
    const text = `${top}The difference is too large to show: ${deletions} lines become ${additions} lines.\n`
    return { text, additions, deletions }
  }
  const hunks = await hunksOf(old, after, spans)
  const count = (sign: string) =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(sign)).length, 0)
  const lines = hunks.flatMap((hunk) => [header(hunk), ...hunk.lines])
  return { text: [top, ...lines.map((line) => `${line}\n`)].join(""), additions: count("+"), deletions: count("-") }
}

/** The region between the common start and the common end. */
function changedRegion(old: string, fresh: string): Region {
  const front = commonStart(old, fresh)
  const back = commonEnd(old, fresh, front)
  return { start: front, end: old.length - back, text: fresh.slice(front, fresh.length - back) }
}

/** Whole lines of the old text and of the new one that differ. */
interface Span {
  readonly start: number
  readonly end: number
  readonly freshStart: number
  readonly freshEnd: number
}

/** The lines of the regions with `context` lines around them, in order. Spans that meet become one. */
function changedSpans(old: string, fresh: string, regions: readonly Region[], context: number): Span[] {
  const spans: Span[] = []
  let shift = 0
  for (const region of regions) {
    const start = linesBefore(old, region.start, context)
    const freshStart = start + shift
    shift += region.text.length - (region.end - region.start)
    const isWhole = isLineStart(old, region.end) && isLineStart(fresh, region.end + shift)
    const end = linesAfter(old, region.end, context + (isWhole ? 0 : 1))
    const last = spans.at(-1)
    if (last === undefined || start > last.end) spans.push({ start, end, freshStart, freshEnd: end + shift })
    else {
      const further = Math.max(last.end, end)
      spans[spans.length - 1] = { ...last, end: further, freshEnd: further + shift }
    }
  }
  return spans
}

function isLineStart(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === "\n"
}

/** The start of the line that is `lines` lines before the one at `at`. */
function linesBefore(text: string, at: number, lines: number): number {
  let start = at
  for (let passed = 0; passed <= lines && start > 0; passed++) {
    // The line feed just before a line's start belongs to the line before it.
    const from = passed === 0 ? start - 1 : start - 2
    start = from < 0 ? 0 : text.lastIndexOf("\n", from) + 1
  }
  return start
}

/** The end of the `lines`-th line from `at`. */
function linesAfter(text: string, at: number, lines: number): number {
  let end = at
  for (let passed = 0; passed < lines && end < text.length; passed++) {
    const found = text.indexOf("\n", end)
    end = found === -1 ? text.length : found + 1
  }
  return end
}

function isTooLarge(old: string, fresh: string, spans: readonly Span[]): boolean {
  const characters = spans.reduce(
    (sum, { start, end, freshStart, freshEnd }) => sum + end - start + freshEnd - freshStart,
    0,
  )
  if (characters > maxShown.characters) return true
  const { additions, deletions } = countChanged(old, fresh, spans)
  return additions + deletions > maxShown.lines
}

function countChanged(old: string, fresh: string, spans: readonly Span[]) {
  const sum = (count: (span: Span) => number) => spans.reduce((total, span) => total + count(span), 0)
  return {
    deletions: sum(({ start, end }) => countLines(old.slice(start, end), "\n")),
    additions: sum(({ freshStart, freshEnd }) => countLines(fresh.slice(freshStart, freshEnd), "\n")),
  }
}

async function hunksOf(old: string, fresh: string, spans: readonly Span[]): Promise<StructuredPatchHunk[]> {
  const { structuredPatch } = await import("diff")
  const options = { context: contextLines, maxEditLength: maxChanges }
  const hidesCrlf = isPaired(old) && isPaired(fresh)
  const shown = (text: string) => (hidesCrlf ? text.replaceAll("\r\n", "\n") : text)
  let [at, line, freshAt, freshLine] = [0, 0, 0, 0]
  return spans.flatMap(({ start, end, freshStart, freshEnd }) => {
    line += countLines(old.slice(at, start), "\n")
    freshLine += countLines(fresh.slice(freshAt, freshStart), "\n")
    at = start
    freshAt = freshStart
    const [out, put] = [shown(old.slice(start, end)), shown(fresh.slice(freshStart, freshEnd))]
    const hunks = structuredPatch("", "", out, put, "", "", options)?.hunks ?? [coarse(out, put)]
    return hunks.map((hunk) => ({ ...hunk, oldStart: hunk.oldStart + line, newStart: hunk.newStart + freshLine }))
  })
}

/** Reports whether every line ends with CRLF. It is hidden if that is so in both texts. */
function isPaired(text: string): boolean {
  return !/\r(?!\n)|(?<!\r)\n/.test(text)
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
