/** A word as the shell hands it to a program, quotes removed. */
export interface Word {
  readonly value: string
  /** Where its first unquoted `*` or `?` stands in `value`; -1 when there is none. */
  readonly glob: number
  /** A variable stands in it by its name: what the word will be is known only when it runs. */
  readonly varies?: boolean
}

export interface Redirect {
  /** The number before the operator, if one is written. */
  readonly descriptor: string
  readonly operator: ">" | ">>" | ">|" | "<" | "<>" | "&>" | "&>>" | ">&" | "<&" | "<<<" | "<<"
  /** What it leads to; for `<<` the text itself. */
  readonly target: Word
}

/** One simple command of a line. */
export interface Segment {
  readonly assignments: readonly { readonly name: string; readonly value: string }[]
  readonly words: readonly Word[]
  readonly redirects: readonly Redirect[]
  readonly negated: boolean
}

export type Join = "&&" | "||" | "|" | "|&" | ";"

/** `for name in words`, and which of the segments it repeats: from one up to, but without, another. */
export interface Loop {
  readonly name: string
  readonly words: readonly Word[]
  readonly from: number
  readonly to: number
}

/**
 * A script of plain words: simple commands in their order and what stands between each and the next. Groups and conditions
 * are not seen in it: what may run is as if all of it did, and a `;` stands where one of them begins behind a pipe or ends.
 */
export interface Line {
  readonly segments: readonly Segment[]
  readonly joins: readonly Join[]
  readonly loops: readonly Loop[]
}

/** Why a script could not be read as plain words; the words go on from "because". */
export interface Unread {
  readonly because: string
}

/** What begins, divides or ends something that holds commands. */
export type Mark = "if" | "then" | "elif" | "else" | "fi" | "do" | "done" | "{" | "}" | "(" | ")"

/** The pieces of a line in their order; two parsers that read the same line make the same pieces. */
export type Piece =
  | { readonly kind: "word" | "assignment" | "redirect" | "mark"; readonly at: number; readonly text: string }
  | { readonly kind: "join"; readonly at: number; readonly text: Join | "!" }

/** Whether two readings are the same line. `;` and the end of a line mean the same. */
export function isSameLine(one: readonly Piece[], other: readonly Piece[]): boolean {
  return one.length === other.length && one.every(({ kind, text }, at) => isPiece(other[at]!, kind, text))
}

function isPiece(piece: Piece, kind: Piece["kind"], text: string): boolean {
  return piece.kind === kind && piece.text === text
}

/** Without each `;` that only ends something: the last one, and one before `then` or `done`. */
export function withoutEnds(pieces: readonly Piece[]): Piece[] {
  return pieces.filter(({ kind, text }, at) => {
    const next = pieces[at + 1]
    return kind !== "join" || text !== ";" || !(next === undefined || (next.kind === "mark" && ending.test(next.text)))
  })
}

const ending = /^(?:then|elif|else|fi|do|done|[})])$/
