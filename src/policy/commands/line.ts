/** A word as the shell hands it to a program, quotes removed. */
export interface Word {
  readonly value: string
  /** Where its first unquoted `*` or `?` stands in `value`; -1 when there is none. */
  readonly glob: number
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

/** A script of plain words: simple commands and what stands between each and the next. */
export interface Line {
  readonly segments: readonly Segment[]
  readonly joins: readonly Join[]
}

/** Why a script could not be read as plain words; the words go on from "because". */
export interface Unread {
  readonly because: string
}

/** The pieces of a line in their order; two parsers that read the same line make the same pieces. */
export type Piece =
  | { readonly kind: "word" | "assignment" | "redirect"; readonly at: number; readonly text: string }
  | { readonly kind: "join"; readonly at: number; readonly text: Join | "!" }

/** Whether two readings are the same line. `;` and the end of a line mean the same, and a last one means nothing. */
export function isSameLine(one: readonly Piece[], other: readonly Piece[]): boolean {
  return one.length === other.length && one.every(({ kind, text }, at) => isPiece(other[at]!, kind, text))
}

function isPiece(piece: Piece, kind: Piece["kind"], text: string): boolean {
  return piece.kind === kind && piece.text === text
}
