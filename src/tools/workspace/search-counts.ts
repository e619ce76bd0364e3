import { StringDecoder } from "node:string_decoder"
import { FirstOf } from "./first-of.ts"
import { runRipgrep, type RipgrepEnd, type RipgrepRun } from "./ripgrep.ts"
import type { SearchRoot } from "./search-root.ts"

export interface FileCount {
  readonly file: string
  readonly count: number
}

/** What was counted, and the first files in the order of their paths: as many as can be shown. */
export class Counts {
  total = 0
  fileCount = 0
  readonly #first: FirstOf<FileCount>

  constructor(most: number) {
    this.#first = new FirstOf(most, (one, other) => (one.file < other.file ? -1 : 1))
  }

  add(file: string, count: number): void {
    this.total += count
    this.fileCount += 1
    this.#first.add({ file, count })
  }

  first(): readonly FileCount[] {
    return this.#first.sorted()
  }
}

/** How many matches each file has, as ripgrep prints them, in no order. */
export async function countMatches(
  { target }: SearchRoot,
  options: readonly string[],
  run: Omit<RipgrepRun, "onOutput">,
  each: (printed: string, count: number) => void,
): Promise<RipgrepEnd> {
  if (target === undefined) return { timedOut: false, unreadable: false }
  const decoder = new StringDecoder("utf8")
  let rest = ""
  const onOutput = (bytes: Buffer) => {
    const text = rest + decoder.write(bytes)
    rest = text.slice(readCounts(text, each))
  }
  const command = ["--count-matches", "--with-filename", "--null", ...options, "--", target]
  return runRipgrep(command, { ...run, onOutput })
}

/** Each is a name, NUL, a number and the end of the line; a name may have an end of a line in it. Returns where it ended. */
function readCounts(text: string, each: (printed: string, count: number) => void): number {
  for (let at = 0; ;) {
    const nul = text.indexOf("\0", at)
    const end = nul === -1 ? -1 : text.indexOf("\n", nul)
    if (end === -1) return at
    each(text.slice(at, nul), Number(text.slice(nul + 1, end)))
    at = end + 1
  }
}
