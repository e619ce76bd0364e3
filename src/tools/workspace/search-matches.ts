import type { Files } from "../../model/files.ts"
import type { Counts, FileCount } from "./search-counts.ts"
import { runRipgrep, type RipgrepRun } from "./ripgrep.ts"
import type { SearchInput } from "./search-files.ts"
import { entriesOf, type Message, type ShownMatch } from "./search-entries.ts"
import type { SearchRoot } from "./search-root.ts"
import { isStillThere } from "./search-proof.ts"

export interface ShownMatches {
  readonly matches: ShownMatch[]
  readonly total: number
  readonly fileCount: number
  readonly truncated: boolean
  readonly nextOffset?: number
}

/** The matches from `offset` on, of the files they are in.  */
export async function showMatches(
  files: Files,
  root: SearchRoot,
  found: Counts,
  pattern: readonly string[],
  given: SearchInput,
  run: Omit<RipgrepRun, "onOutput">,
): Promise<ShownMatches> {
  const { offset, limit } = given
  const needed = filesBetween(found.first(), offset, offset + limit)
  const most = offset + limit - (needed[0]?.before ?? 0)
  const looked = await look(root, needed, [...pattern, ...shownOptions(given, most)], run)
  const matches: ShownMatch[] = []
  let { total, fileCount } = found
  let next = Math.min(offset, total)
  for (const { file, count, before } of needed) {
    const { messages, binary } = looked.get(file) ?? { messages: [], binary: false }
    if (binary) {
      total -= count
      fileCount -= 1
      continue
    }
    const proved = await isStillThere(files, file, root, messages)
    let index = before
    for (const entry of entriesOf(file, messages, given)) {
      if (index >= offset + limit) break
      if (proved && index >= offset) matches.push(entry)
      index += entry.count ?? 1
      next = Math.max(next, index)
    }
    // What is not shown, because it has changed or is too long, is passed over.
    next = Math.max(next, Math.min(before + count, offset + limit))
  }
  const truncated = next < total
  return { matches, total, fileCount, truncated, ...(truncated ? { nextOffset: next } : {}) }
}

/** The files that have the matches between two numbers, each with how many are before it. */
function filesBetween(found: readonly FileCount[], from: number, to: number): (FileCount & { before: number })[] {
  const between: (FileCount & { before: number })[] = []
  let before = 0
  for (const one of found) {
    if (before >= to) break
    if (before + one.count > from) between.push({ ...one, before })
    before += one.count
  }
  return between
}

function shownOptions({ context, before = context ?? 0, after = context ?? 0 }: SearchInput, most: number): string[] {
  return ["--json", "--no-ignore", `--before-context=${before}`, `--after-context=${after}`, `--max-count=${most}`]
}

interface Looked {
  readonly messages: Message[]
  /** It has bytes that no text has. */
  binary: boolean
}

async function look(
  root: SearchRoot,
  needed: readonly FileCount[],
  options: readonly string[],
  run: Omit<RipgrepRun, "onOutput">,
): Promise<Map<string, Looked>> {
  const looked = new Map<string, Looked>()
  const onLine = (line: Buffer) => {
    const { type, data } = JSON.parse(line.toString("utf8")) as Message
    if (type === "summary") return
    const file = root.pathOf(data.path.text ?? "")
    const one = looked.get(file) ?? { messages: [], binary: false }
    looked.set(file, one)
    if (type === "end") one.binary = data.binary_offset !== null
    else if (type !== "begin") one.messages.push({ type, data })
  }
  for (const batch of inBatches(needed.map(({ file }) => root.printedOf(file)))) {
    await runRipgrep([...options, "--", ...batch], { ...run, onOutput: byLines(onLine) })
  }
  return looked
}

/** What one command line can hold. */
const longestCommand = process.platform === "win32" ? 20_000 : 400_000

function* inBatches(names: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let length = 0
  for (const name of names) {
    if (batch.length > 0 && length + name.length > longestCommand) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(name)
    length += name.length + 1
  }
  if (batch.length > 0) yield batch
}

/** A message that is longer is left out: its line is too long for anybody. */
const longestMessage = 16 * 1024 * 1024

function byLines(onLine: (line: Buffer) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = []
  let length = 0
  return (bytes) => {
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      const last = bytes.subarray(from, end)
      length += last.length
      if (length <= longestMessage) onLine(parts.length === 0 ? last : Buffer.concat([...parts, last]))
      parts = []
      length = 0
      from = end + 1
    }
    if (from === bytes.length) return
    length += bytes.length - from
    if (length <= longestMessage) parts.push(bytes.subarray(from))
    else parts = []
  }
}
