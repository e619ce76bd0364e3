import type { CodeSearchResult, CodeKind, CodeMatch, CodeSearch } from "./code.ts"
import { openFolderReader } from "./folder-reader.ts"

/** A match; line and column count from 0. */
export interface Hit {
  readonly path: string
  readonly rank: number
  readonly kind: CodeKind
  readonly language: string
  readonly method: CodeMatch["method"]
  readonly name: string
  readonly line: number
  readonly column: number
  readonly container?: string
}

const maxLineLength = 300
const maxFileBytes = 10_000_000

/** The best hits with their lines, read from the files as they are now. */
export function bestMatches(
  hits: readonly Hit[],
  search: CodeSearch,
  root: string,
): Pick<CodeSearchResult, "matches" | "total"> {
  const best = firstOf(hits, search.limit)
  const reader = openFolderReader(root)
  const texts = new Map<string, Buffer | undefined>()
  const textOf = (path: string): Buffer | undefined => {
    if (!texts.has(path)) texts.set(path, reader.read(path, maxFileBytes)?.bytes)
    return texts.get(path)
  }
  const matches = best.map((hit) => matchOf(hit, hit.kind === "file" ? undefined : textOf(hit.path), search))
  reader.close()
  return { matches, total: hits.length }
}

function matchOf(hit: Hit, text: Buffer | undefined, { contextLines }: CodeSearch): CodeMatch {
  const { path, kind, name, language, method, container, line, column } = hit
  const first = Math.max(0, line - contextLines)
  const lines = text === undefined ? [] : linesOf(text, first, line + contextLines + 1)
  return {
    path,
    line: line + 1,
    column: column + 1,
    kind,
    name,
    ...(container === undefined ? {} : { container }),
    language,
    method,
    code: (lines[line - first] ?? "").trim(),
    context: lines.join("\n"),
  }
}

/** Some lines of a text, without reading what comes after them. */
function linesOf(text: Buffer, from: number, to: number): string[] {
  let start = 0
  for (let line = 0; line < from; line++) {
    const end = text.indexOf(10, start)
    if (end === -1) return []
    start = end + 1
  }
  const lines: string[] = []
  while (lines.length < to - from && start < text.length) {
    const end = text.indexOf(10, start)
    const stop = end === -1 ? text.length : end
    lines.push(cut(text.toString("utf8", start, Math.min(stop, start + 4 * maxLineLength)).replace(/\r$/, "")))
    start = stop + 1
  }
  return lines
}

function cut(line: string): string {
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
}

/** The best hits in order. Sorts only as many as are asked for. */
function firstOf(hits: readonly Hit[], limit: number): Hit[] {
  const byRank = new Map<number, Hit[]>()
  for (const hit of hits) {
    const list = byRank.get(hit.rank)
    if (list === undefined) byRank.set(hit.rank, [hit])
    else list.push(hit)
  }
  const best: Hit[] = []
  for (const rank of [...byRank.keys()].toSorted((a, b) => a - b)) {
    if (best.length >= limit) break
    best.push(
      ...byRank
        .get(rank)!
        .toSorted(inOrder)
        .slice(0, limit - best.length),
    )
  }
  return best
}

/** By path; within a file the file itself first, then by position. */
function inOrder(a: Hit, b: Hit): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return Number(b.kind === "file") - Number(a.kind === "file") || a.line - b.line || a.column - b.column
}
