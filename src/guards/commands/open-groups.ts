import { refuse } from "./script-cursor.ts"
import type { GroupToken } from "./shell-line.ts"

/** The tokens that may follow a token of a group. */
const followers = new Map<string, readonly GroupToken[]>([
  ["if", ["then"]],
  ["then", ["elif", "else", "fi"]],
  ["elif", ["then"]],
  ["else", ["fi"]],
  ["{", ["}"]],
  ["(", [")"]],
])
const starts: ReadonlySet<string> = new Set(["if", "{", "("])
const ends: ReadonlySet<string> = new Set(["fi", "}", ")"])
const maxDepth = 5

export function isGroupToken(value: string): value is GroupToken {
  return followers.has(value) || ends.has(value)
}

export function isGroupStart(token: GroupToken): boolean {
  return starts.has(token)
}

/** A condition or group that has not ended yet. */
interface Group {
  /** The last token of the group that was read. */
  token: GroupToken
  /** The index of its first segment. */
  readonly firstSegment: number
  /** The index of the first segment after `token`. */
  partStart: number
}

/** The conditions and groups that are open while a script is read. `segment` is the index of the next segment. */
export class OpenGroups {
  readonly #open: Group[] = []

  /** The last token of the innermost group. */
  get token(): GroupToken | undefined {
    return this.#open.at(-1)?.token
  }

  start(token: GroupToken, segment: number): void {
    if (this.#open.length >= maxDepth) refuse(`it nests more than ${maxDepth} groups`)
    this.#open.push({ token, firstSegment: segment, partStart: segment })
  }

  /** Continues the innermost group, or ends it and returns the index of its first segment. */
  next(token: GroupToken, segment: number): number | undefined {
    const last = this.#open.at(-1)
    if (last === undefined || !followers.get(last.token)!.includes(token)) refuse(`'${token}' stands where it may not`)
    if (segment === last.partStart) refuse(`there is no command before '${token}'`)
    if (!ends.has(token)) {
      last.token = token
      last.partStart = segment
      return undefined
    }
    this.#open.pop()
    return last.firstSegment
  }
}
