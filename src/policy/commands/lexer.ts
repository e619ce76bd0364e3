import { Cursor, refuse, Refusal, type ReadWord } from "./cursor.ts"
import { Groups, isMark, isStart, type LoopHeader } from "./groups.ts"
import { withoutEnds, type Join, type Line, type Mark, type Piece, type Redirect } from "./line.ts"
import type { Segment, Unread, Word } from "./line.ts"

/** A line, its pieces, and the script without line continuations, as other parsers are to read it. */
export interface Lexed {
  readonly line: Line
  readonly pieces: readonly Piece[]
  readonly script: string
}

/** No plain line that people write is longer. */
const mostCharacters = 4000
const mostSegments = 100

/**
 * Reads a script that is made of plain words only, in lists, groups, conditions and loops over words, and refuses every
 * other: what the shell would run somewhere else, repeat for ever or make of other words is not read here. It is the
 * narrowest of three readings, and all of them must agree.
 */
export function lex(script: string): Lexed | Unread {
  if (script.length > mostCharacters) return { because: `it is longer than ${mostCharacters} characters` }
  const odd = /[^\t\n\x20-\x7e]/u.exec(script)
  if (odd !== null)
    return { because: `it has the character ${nameOf(odd[0])}, which may mean something else to the shell` }
  try {
    return new Lexer(script).read()
  } catch (error) {
    if (error instanceof Refusal) return { because: error.message }
    throw error
  }
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
}

/** Words that begin or end something other than a simple command, where a command may begin, and are not read here. */
const keywords = new Set("while until do case esac select function in [[ ]] coproc".split(" "))

class Lexer {
  readonly #cursor: Cursor
  readonly #pieces: Piece[] = []
  readonly #segments: Segment[] = []
  readonly #joins: Join[] = []
  readonly #groups = new Groups()
  #words: Word[] = []
  #assignments: { name: string; value: string }[] = []
  #redirects: Redirect[] = []
  #negated = false
  /** The first segment of a group that has just ended; words may not follow, redirects may. */
  #ended: number | undefined
  /** A command must follow it. */
  #wants: Join | undefined
  #heredoc: { delimiter: string; quoted: boolean; piece: number } | undefined

  constructor(text: string) {
    this.#cursor = new Cursor(text)
  }

  read(): Lexed {
    const cursor = this.#cursor
    while (cursor.character !== "") this.#step()
    if (this.#heredoc !== undefined) refuse("a here-document in it does not end")
    this.#endSegment()
    if (this.#groups.mark !== undefined) refuse(`'${this.#groups.mark}' in it does not end`)
    if (this.#wants !== undefined) refuse(`it ends with '${this.#wants}'`)
    if (this.#segments.length === 0) refuse("there is no command in it")
    if (this.#joins.length === this.#segments.length) this.#joins.pop()
    const line = { segments: this.#segments, joins: this.#joins, loops: this.#groups.loops }
    return { line, pieces: withoutEnds(this.#pieces), script: cursor.clean }
  }

  #step(): void {
    const cursor = this.#cursor
    const { character } = cursor
    if (character === " " || character === "\t") cursor.take(1)
    else if (cursor.continuation()) return
    else if (character === "\n") this.#newline()
    else if (character === "#") cursor.take(/^[^\n]*/.exec(cursor.text.slice(cursor.at))![0].length)
    else if (";&|".includes(character)) this.#operator()
    else if ("<>".includes(character)) this.#redirect("")
    else if (character === "(" || character === ")") this.#parenthesis(character)
    else this.#word()
  }

  #newline(): void {
    const at = this.#cursor.clean.length
    this.#cursor.take(1)
    if (this.#heredoc !== undefined) this.#heredocBody()
    // After `&&` or `|` a line may break.
    if (!this.#isEmpty() || this.#ended !== undefined) this.#join(";", at)
  }

  #operator(): void {
    const cursor = this.#cursor
    const two = cursor.text.slice(cursor.at, cursor.at + 2)
    if (two === "&>") return this.#redirect("")
    const at = cursor.clean.length
    if (two === "&&" || two === "||" || two === "|&") {
      cursor.take(2)
      return this.#join(two, at)
    }
    if (two === ";;" || two === ";&") refuse(`it has '${two}' outside of a case`)
    const one = cursor.take(1)
    if (one === "&") refuse("'&' leaves a command running in the background")
    this.#join(one as ";" | "|", at)
  }

  #parenthesis(character: "(" | ")"): void {
    const cursor = this.#cursor
    if (character === ")") {
      if (this.#groups.mark !== "(") refuse("')' stands in it without quotes")
      this.#endSegment()
      this.#mark(")", cursor.clean.length)
    } else if (!this.#isEmpty() || cursor.text[cursor.at + 1] === "(") refuse("'(' stands in it without quotes")
    else this.#mark("(", cursor.clean.length)
    cursor.take(1)
  }

  #isEmpty(): boolean {
    return this.#words.length === 0 && this.#assignments.length === 0 && this.#redirects.length === 0
  }

  #join(join: Join, at: number): void {
    if (this.#isEmpty() && this.#ended === undefined) refuse(`there is no command before '${join}'`)
    this.#endSegment()
    this.#pieces.push({ kind: "join", text: join, at })
    this.#wants = join === ";" ? undefined : join
    // What follows a group may run wherever a part of the group left off, or before it.
    if (this.#ended === undefined) this.#joins.push(join)
    this.#ended = undefined
  }

  #endSegment(): void {
    if (this.#isEmpty()) {
      if (this.#negated) refuse("there is no command after '!'")
      return
    }
    if (this.#segments.length >= mostSegments) refuse(`it has more than ${mostSegments} parts`)
    if (this.#words.length === 0) refuse("a part of it sets variables or opens files without a command")
    this.#wants = undefined
    this.#segments.push({
      words: this.#words,
      assignments: this.#assignments,
      redirects: this.#redirects,
      negated: this.#negated,
    })
    this.#words = []
    this.#assignments = []
    this.#redirects = []
    this.#negated = false
  }

  /** Begins, goes on with or ends something that holds commands. */
  #mark(mark: Mark, at: number, loop?: LoopHeader): void {
    if (this.#negated || (this.#ended !== undefined && mark !== ")")) refuse(`'${mark}' stands in it where it may not`)
    this.#pieces.push({ kind: "mark", text: loop === undefined ? mark : `for ${loop.name}`, at })
    const here = this.#segments.length
    if (isStart(mark)) {
      // Each part of a pipeline has a shell of its own, and more than one command of it may run there.
      if (this.#joins.length === here && this.#joins.at(-1)?.startsWith("|") === true) this.#joins[here - 1] = ";"
      return this.#groups.start(mark, here, loop)
    }
    if (this.#wants !== undefined) refuse(`there is no command before '${mark}'`)
    this.#ended = this.#groups.next(mark, here)
    if (this.#joins.length < here) this.#joins.push(";")
  }

  #redirect(descriptor: string): void {
    const cursor = this.#cursor
    const at = cursor.clean.length - descriptor.length
    const operator = /^(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)/.exec(cursor.text.slice(cursor.at, cursor.at + 3))![0]
    if (operator === "<<-") refuse("a here-document with '<<-' is in it")
    cursor.take(operator.length)
    if (cursor.character === "(") refuse("it has a process substitution")
    cursor.blank()
    const { word, quoted, varies } = cursor.word(false)
    if (word.glob !== -1 || varies) refuse("it redirects to a pattern or a variable")
    if (/^\d+$/.test(word.value) && "<>".includes(cursor.character || " ")) refuse("a redirect leads to another")
    if (operator === "<<") return this.#heredocStart(descriptor, word, quoted, at)
    if (operator === ">&" || operator === "<&") {
      if (!/^\d$/.test(word.value) || quoted) refuse(`'${operator}' does not lead to a number`)
    }
    this.#addRedirect({ descriptor, operator: operator as Redirect["operator"], target: word })
    this.#pieces.push({ kind: "redirect", text: `${descriptor}${operator}${word.value}`, at })
  }

  /** What a group is given is opened before its first command runs. */
  #addRedirect(redirect: Redirect): void {
    if (this.#ended === undefined) return void this.#redirects.push(redirect)
    const first = this.#segments[this.#ended]!
    this.#segments[this.#ended] = { ...first, redirects: [...first.redirects, redirect] }
  }

  #heredocStart(descriptor: string, word: Word, quoted: boolean, at: number): void {
    if (this.#heredoc !== undefined) refuse("it has two here-documents at once")
    if (!/^\w+$/.test(word.value)) refuse("a here-document's end is not a plain word")
    this.#heredoc = { delimiter: word.value, quoted, piece: this.#pieces.length }
    this.#addRedirect({ descriptor, operator: "<<", target: word })
    this.#pieces.push({ kind: "redirect", text: `${descriptor}<<`, at })
  }

  #heredocBody(): void {
    const { delimiter, quoted, piece } = this.#heredoc!
    const known = this.#pieces[piece]!
    this.#pieces[piece] = { kind: "redirect", at: known.at, text: known.text + this.#cursor.heredoc(delimiter, quoted) }
    this.#heredoc = undefined
  }

  #word(): void {
    const cursor = this.#cursor
    const at = cursor.clean.length
    const start = cursor.at
    const read = cursor.word(this.#words.length === 0)
    const raw = cursor.text.slice(start, cursor.at)
    if (/^\d+$/.test(raw) && "<>".includes(cursor.character || " ")) return this.#redirect(raw)
    if (this.#ended !== undefined) refuse("words follow the end of a group")
    if (this.#words.length === 0) return this.#firstWord(read, raw, at)
    this.#words.push(read.word)
    this.#pieces.push({ kind: "word", text: read.word.value, at })
  }

  #firstWord({ word, quoted, varies }: ReadWord, raw: string, at: number): void {
    if (varies) refuse("the value of a variable stands where a command begins")
    const assignment = /^([A-Za-z_]\w*)=/.exec(raw)
    if (assignment !== null) {
      if (word.glob !== -1) refuse("a variable is set to a pattern")
      const name = assignment[1]!
      this.#assignments.push({ name, value: word.value.slice(name.length + 1) })
      this.#pieces.push({ kind: "assignment", text: word.value, at })
      return
    }
    if (/^[A-Za-z_]\w*\+=/.test(raw)) refuse("a variable is added to")
    if (raw === "!" && this.#isEmpty() && !this.#negated) {
      this.#negated = true
      this.#pieces.push({ kind: "join", text: "!", at })
      return
    }
    if (word.glob !== -1) refuse("a program's name is a pattern")
    if (!quoted && this.#keyword(word.value, at)) return
    this.#words.push(word)
    this.#pieces.push({ kind: "word", text: word.value, at })
  }

  #keyword(value: string, at: number): boolean {
    if (keywords.has(value)) refuse(`'${value}' makes it more than a list of commands`)
    if (value !== "for" && !isMark(value)) return false
    if (!this.#isEmpty()) refuse(`'${value}' stands in it where it may not`)
    if (value === "for") this.#forHeader(at)
    else this.#mark(value, at)
    return true
  }

  /** `for name in words; do` */
  #forHeader(at: number): void {
    const cursor = this.#cursor
    const bare = (wanted: RegExp) => {
      cursor.blank()
      const { word, quoted, varies } = cursor.word(false)
      if (quoted || varies || word.glob !== -1 || !wanted.test(word.value)) refuse("a loop in it is not one over words")
      return word.value
    }
    if (this.#heredoc !== undefined) refuse("a loop begins where a here-document should")
    const name = bare(/^[A-Za-z_]\w*$/)
    bare(/^in$/)
    const words: Word[] = []
    const pieces: Piece[] = []
    for (cursor.blank(); !/[;\n]/.test(cursor.character || ";"); cursor.blank()) {
      const place = cursor.clean.length
      const { word, varies } = cursor.word(false)
      if (varies) refuse("a loop in it is one over the value of a variable")
      words.push(word)
      pieces.push({ kind: "word", text: word.value, at: place })
    }
    cursor.take(1)
    cursor.blank(true)
    const place = cursor.clean.length
    bare(/^do$/)
    this.#mark("do", at, { name, words })
    this.#pieces.push(...pieces, { kind: "mark", text: "do", at: place })
  }
}
