/** A word as the program gets it, quotes removed. */
export interface Word {
  readonly value: string
  /** The index of its first unquoted `*` or `?` in `value`; -1 when there is none. */
  readonly glob: number
}

export interface Redirect {
  /** The number before the operator, if one is written. */
  readonly descriptor: string
  readonly operator: ">" | ">>" | ">|" | "<" | "<>" | "&>" | "&>>" | ">&" | "<&" | "<<<" | "<<"
  /** The file or descriptor; for `<<` the delimiter. */
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

/**
 * A script of plain words: its simple commands in order, and the operators between them. Groups and conditions are
 * flattened as if all their commands ran, with a `;` where a group ends or begins after a pipe.
 */
export interface ShellLine {
  readonly segments: readonly Segment[]
  readonly joins: readonly Join[]
}

/** Why a script is not proved; the text continues a sentence after "because". */
export interface Unprovable {
  readonly because: string
}

/** A token that begins, divides or ends a group or condition. */
export type GroupToken = "if" | "then" | "elif" | "else" | "fi" | "{" | "}" | "(" | ")"

/** A token of a line. Parsers that read a line in the same way produce the same tokens. */
export type ShellToken =
  | { readonly kind: "word" | "assignment" | "redirect" | "group"; readonly at: number; readonly text: string }
  | { readonly kind: "join"; readonly at: number; readonly text: Join | "!" }

/** Reports whether two parsers read a line in the same way. */
export function areSameTokens(a: readonly ShellToken[], b: readonly ShellToken[]): boolean {
  return a.length === b.length && a.every(({ kind, text }, at) => b[at]!.kind === kind && b[at]!.text === text)
}

/** Drops each `;` that separates nothing: the last one, and one before `then` or `fi`. */
export function dropTrailingSeparators(tokens: readonly ShellToken[]): ShellToken[] {
  return tokens.filter(({ kind, text }, at) => {
    const next = tokens[at + 1]
    return kind !== "join" || text !== ";" || !(next === undefined || (next.kind === "group" && ending.test(next.text)))
  })
}

const ending = /^(?:then|elif|else|fi|[})])$/
