import { refuse } from "./cursor.ts"
import type { Loop, Mark, Word } from "./line.ts"

/** What may follow a mark. */
const followers = new Map<string, readonly Mark[]>([
  ["if", ["then"]],
  ["then", ["elif", "else", "fi"]],
  ["elif", ["then"]],
  ["else", ["fi"]],
  ["do", ["done"]],
  ["{", ["}"]],
  ["(", [")"]],
])
const starts: ReadonlySet<string> = new Set(["if", "do", "{", "("])
const ends: ReadonlySet<string> = new Set(["fi", "done", "}", ")"])
const deepest = 5

export function isMark(value: string): value is Mark {
  return followers.has(value) || ends.has(value)
}

export function isStart(mark: Mark): boolean {
  return starts.has(mark)
}

/** Something open that holds commands. */
interface Group {
  /** The last of its marks. */
  mark: Mark
  /** Its first segment, and the first after its last mark. */
  readonly from: number
  part: number
  readonly loop: LoopHeader | undefined
}

export interface LoopHeader {
  readonly name: string
  readonly words: readonly Word[]
}

/** Conditions, loops and groups while they are read. `here` is the number of the next segment. */
export class Groups {
  readonly #open: Group[] = []
  readonly loops: Loop[] = []

  /** The last mark of the innermost that is open. */
  get mark(): Mark | undefined {
    return this.#open.at(-1)?.mark
  }

  start(mark: Mark, here: number, loop?: LoopHeader): void {
    if (this.#open.length >= deepest) refuse("there is too much inside of each other in it")
    this.#open.push({ mark, from: here, part: here, loop })
  }

  /** Goes on with the innermost or ends it; then it is told which segment was its first. */
  next(mark: Mark, here: number): number | undefined {
    const last = this.#open.at(-1)
    if (last === undefined || !followers.get(last.mark)!.includes(mark))
      refuse(`'${mark}' stands in it where it may not`)
    if (here === last.part) refuse(`there is no command before '${mark}'`)
    if (!ends.has(mark)) {
      last.mark = mark
      last.part = here
      return undefined
    }
    this.#open.pop()
    if (last.loop !== undefined) this.loops.push({ ...last.loop, from: last.from, to: here })
    return last.from
  }
}
