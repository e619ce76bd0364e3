import { runRipgrep, type RipgrepEnd, type RipgrepRun } from "./ripgrep.ts"
import type { SearchRoot } from "./search-root.ts"

export interface Counted extends RipgrepEnd {
  /** As ripgrep prints them, in no order. */
  readonly files: readonly { readonly printed: string; readonly count: number }[]
}

/** How many matches each file has. */
export async function countMatches(
  { target }: SearchRoot,
  options: readonly string[],
  run: Omit<RipgrepRun, "onOutput">,
): Promise<Counted> {
  if (target === undefined) return { files: [], timedOut: false, unreadable: false }
  const chunks: Buffer[] = []
  const command = ["--count-matches", "--with-filename", "--null", ...options, "--", target]
  const end = await runRipgrep(command, { ...run, onOutput: (bytes) => void chunks.push(bytes) })
  return { files: readCounts(Buffer.concat(chunks).toString("utf8")), ...end }
}

/** Each is a name, NUL, a number and the end of the line; a name may have an end of a line in it. */
function readCounts(text: string): { printed: string; count: number }[] {
  const files: { printed: string; count: number }[] = []
  for (let at = 0; at < text.length;) {
    const nul = text.indexOf("\0", at)
    const end = nul === -1 ? -1 : text.indexOf("\n", nul)
    // What was cut off when it was ended.
    if (end === -1) break
    files.push({ printed: text.slice(at, nul), count: Number(text.slice(nul + 1, end)) })
    at = end + 1
  }
  return files
}
