import type { Join, Line, Piece, Redirect, Segment, Unread, Word } from "./line.ts"

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
 * Reads a script that is made of plain words only, and refuses every other: what the shell would expand, run somewhere
 * else, repeat or decide is not read here. It is the narrowest of three readings, and all of them must agree.
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

class Refusal extends Error {}

function refuse(because: string): never {
  throw new Refusal(because)
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
}

/** Words that begin or end something other than a simple command, where a command may begin. */
const keywords = new Set(
  "if then elif else fi for while until do done case esac select function in { } [[ ]] coproc".split(" "),
)

const wordCharacters = /[A-Za-z0-9_./:=@%+,^\]!~#{}*?-]/

class Lexer {
  readonly #text: string
  #at = 0
  #clean = ""
  readonly #pieces: Piece[] = []
  readonly #segments: Segment[] = []
  readonly #joins: Join[] = []
  #words: Word[] = []
  #assignments: { name: string; value: string }[] = []
  #redirects: Redirect[] = []
  #negated = false
  #heredoc: { delimiter: string; quoted: boolean; piece: number } | undefined

  constructor(text: string) {
    this.#text = text
  }

  read(): Lexed {
    while (this.#at < this.#text.length) this.#step()
    if (this.#heredoc !== undefined) refuse("a here-document in it does not end")
    this.#endSegment()
    const last = this.#joins.length > 0 && this.#joins.length === this.#segments.length ? this.#joins.pop() : ";"
    if (last !== ";") refuse(`it ends with '${last}'`)
    if (this.#segments.length === 0) refuse("there is no command in it")
    if (this.#pieces.at(-1)?.kind === "join") this.#pieces.pop()
    return { line: { segments: this.#segments, joins: this.#joins }, pieces: this.#pieces, script: this.#clean }
  }

  #step(): void {
    const character = this.#text[this.#at]!
    if (character === " " || character === "\t") this.#take(1)
    else if (this.#text.startsWith("\\\n", this.#at)) this.#at += 2
    else if (character === "\n") this.#newline()
    else if (character === "#") this.#comment()
    else if (";&|".includes(character)) this.#operator()
    else if ("<>".includes(character)) this.#redirect("")
    else this.#word()
  }

  /** Goes on by so many characters, which stay in the script. */
  #take(count: number): string {
    const taken = this.#text.slice(this.#at, this.#at + count)
    this.#clean += taken
    this.#at += count
    return taken
  }

  #comment(): void {
    const end = this.#text.indexOf("\n", this.#at)
    this.#take((end === -1 ? this.#text.length : end) - this.#at)
  }

  #newline(): void {
    const at = this.#clean.length
    this.#take(1)
    if (this.#heredoc !== undefined) this.#heredocBody()
    // After `&&` or `|` a line may break.
    if (!this.#isEmpty()) this.#join(";", at)
  }

  #operator(): void {
    const two = this.#text.slice(this.#at, this.#at + 2)
    if (two === "&>") return this.#redirect("")
    const at = this.#clean.length
    if (two === "&&" || two === "||" || two === "|&") {
      this.#take(2)
      return this.#join(two, at)
    }
    if (two === ";;" || two === ";&") refuse(`it has '${two}' outside of a case`)
    const one = this.#take(1)
    if (one === "&") refuse("'&' leaves a command running in the background")
    this.#join(one as ";" | "|", at)
  }

  #isEmpty(): boolean {
    return this.#words.length === 0 && this.#assignments.length === 0 && this.#redirects.length === 0
  }

  #join(join: Join, at: number): void {
    if (this.#isEmpty()) refuse(`there is no command before '${join}'`)
    this.#endSegment()
    this.#joins.push(join)
    this.#pieces.push({ kind: "join", text: join, at })
  }

  #endSegment(): void {
    if (this.#isEmpty()) {
      if (this.#negated) refuse("there is no command after '!'")
      return
    }
    if (this.#segments.length >= mostSegments) refuse(`it has more than ${mostSegments} parts`)
    if (this.#words.length === 0) refuse("a part of it sets variables or opens files without a command")
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

  #redirect(descriptor: string): void {
    const at = this.#clean.length - descriptor.length
    const operator = /^(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)/.exec(this.#text.slice(this.#at, this.#at + 3))![0]
    if (operator === "<<-") refuse("a here-document with '<<-' is in it")
    this.#take(operator.length)
    if ("<>".includes(this.#text[this.#at] ?? "") && this.#text[this.#at + 1] === "(")
      refuse("it has a process substitution")
    this.#blank()
    const { word, quoted } = this.#readWord()
    if (word.glob !== -1) refuse("it redirects to a pattern")
    if (/^\d+$/.test(word.value) && "<>".includes(this.#text[this.#at] ?? " ")) refuse("a redirect leads to another")
    if (operator === "<<") return this.#heredocStart(descriptor, word, quoted, at)
    if (operator === ">&" || operator === "<&") {
      if (!/^\d$/.test(word.value) || quoted) refuse(`'${operator}' does not lead to a number`)
    }
    this.#redirects.push({ descriptor, operator: operator as Redirect["operator"], target: word })
    this.#pieces.push({ kind: "redirect", text: `${descriptor}${operator}${word.value}`, at })
  }

  #blank(): void {
    for (;;) {
      if (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#take(1)
      else if (this.#text.startsWith("\\\n", this.#at)) this.#at += 2
      else return
    }
  }

  #heredocStart(descriptor: string, word: Word, quoted: boolean, at: number): void {
    if (this.#heredoc !== undefined) refuse("it has two here-documents at once")
    if (!/^\w+$/.test(word.value)) refuse("a here-document's end is not a plain word")
    this.#heredoc = {
      delimiter: word.value,
      quoted,
      piece: this.#pieces.length,
    }
    this.#redirects.push({ descriptor, operator: "<<", target: word })
    this.#pieces.push({ kind: "redirect", text: `${descriptor}<<`, at })
  }

  /** What follows up to the line that ends it is text. Without quotes around its end it is one only if nothing expands. */
  #heredocBody(): void {
    const { delimiter, quoted, piece } = this.#heredoc!
    const rest = this.#text.slice(this.#at)
    const end = new RegExp(`^${delimiter}(?:\\n|$)`, "m").exec(rest)
    if (end === null) refuse("a here-document in it does not end")
    const body = rest.slice(0, end.index)
    if (!quoted && /[$`\\]/.test(body)) refuse("a here-document in it is expanded")
    const known = this.#pieces[piece]!
    this.#pieces[piece] = { kind: "redirect", at: known.at, text: `${known.text}${body}` }
    this.#heredoc = undefined
    // The newline after the end stays: it ends the command as any other.
    this.#take(end.index + delimiter.length)
  }

  #word(): void {
    const at = this.#clean.length
    const start = this.#at
    const { word, quoted } = this.#readWord()
    const raw = this.#text.slice(start, this.#at)
    if (/^\d+$/.test(raw) && "<>".includes(this.#text[this.#at] ?? " ")) return this.#redirect(raw)
    if (this.#words.length === 0) return this.#firstWord(word, quoted, raw, at)
    this.#words.push(word)
    this.#pieces.push({ kind: "word", text: word.value, at })
  }

  #firstWord(word: Word, quoted: boolean, raw: string, at: number): void {
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
    if (!quoted && keywords.has(word.value)) refuse(`'${word.value}' makes it more than a list of commands`)
    this.#words.push(word)
    this.#pieces.push({ kind: "word", text: word.value, at })
  }

  #readWord(): { word: Word; quoted: boolean } {
    let value = ""
    let glob = -1
    let quoted = false
    const start = this.#at
    for (;;) {
      const character = this.#text[this.#at]
      if (character === undefined || " \t\n;&|<>".includes(character)) break
      if (character === "'" || character === '"') {
        quoted = true
        value += character === "'" ? this.#single() : this.#double()
      } else if (character === "\\") {
        if (this.#text[this.#at + 1] === "\n") {
          this.#at += 2
          continue
        }
        if (this.#at + 1 >= this.#text.length) refuse("it ends with a backslash")
        quoted = true
        value += this.#take(2)[1]
      } else {
        if (character === "*" || character === "?") glob = glob === -1 ? value.length : glob
        else this.#checkBare(character, value, this.#at === start)
        value += this.#take(1)
      }
    }
    if (this.#at === start) refuse("a redirect leads nowhere")
    return { word: { value, glob }, quoted }
  }

  /** Refuses a character without quotes that the shell would do something with. */
  #checkBare(character: string, before: string, isFirst: boolean): void {
    if (character === "[" && isFirst && this.#words.length === 0 && this.#text[this.#at + 1] === " ") return
    if (!wordCharacters.test(character) || (character === "#" && isFirst))
      refuse(`'${character}' stands in it without quotes`)
    if (character === "~" && (isFirst || /[:=]$/.test(before))) refuse("'~' is expanded")
    if (character === "{" && !/^\{(?:\d*|[a-z]+)\}/.test(this.#text.slice(this.#at, this.#at + 40)))
      refuse("braces are expanded")
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end === -1) refuse("a quote in it does not end")
    return this.#take(end + 1 - this.#at).slice(1, -1)
  }

  #double(): string {
    let value = ""
    this.#take(1)
    for (;;) {
      const character = this.#text[this.#at]
      if (character === undefined) refuse("a quote in it does not end")
      if (character === "`" || (character === "$" && !/[" |)/.,:%^]/.test(this.#text[this.#at + 1] ?? "x")))
        refuse(`'${character}' in double quotes is expanded`)
      if (character === "\\" && this.#text[this.#at + 1] === "\n") {
        this.#at += 2
        continue
      }
      const taken = this.#take(character === "\\" ? 2 : 1)
      if (taken === '"') return value
      value += character === "\\" && '$`"\\'.includes(taken[1] ?? "x") ? taken[1] : taken
    }
  }
}
