import type { Word } from "./line.ts"
import { variableAt, variableMark } from "./variables.ts"

/** Why a script is not read; the message goes on from "because". */
export class Refusal extends Error {}

export function refuse(because: string): never {
  throw new Refusal(because)
}

const wordCharacters = /[A-Za-z0-9_./:=@%+,^\]!~#{}*?-]/

/** A word, whether anything in it was quoted, and whether the value of a variable stands in it. */
export interface ReadWord {
  readonly word: Word
  readonly quoted: boolean
  readonly varies: boolean
}

/** Goes through a script word by word, and keeps what it read without line continuations. */
export class Cursor {
  readonly text: string
  at = 0
  clean = ""

  constructor(text: string) {
    this.text = text
  }

  get character(): string {
    return this.text[this.at] ?? ""
  }

  /** Goes on by so many characters, which stay in the script. */
  take(count: number): string {
    const taken = this.text.slice(this.at, this.at + count)
    this.clean += taken
    this.at += count
    return taken
  }

  /** Goes on to what is no space. */
  blank(andLines = false): void {
    for (;;) {
      if (this.character === " " || this.character === "\t" || (andLines && this.character === "\n")) this.take(1)
      else if (!this.continuation()) return
    }
  }

  /** Leaves out a line's end behind a backslash. */
  continuation(): boolean {
    if (!this.text.startsWith("\\\n", this.at)) return false
    this.at += 2
    return true
  }

  /** Reads a word; `isProgram` where a command may begin, so that `[` and `{` stand for themselves. */
  word(isProgram: boolean): ReadWord {
    let value = ""
    let glob = -1
    let quoted = false
    let varies = false
    const start = this.at
    while (this.at < this.text.length && !" \t\n;&|<>()".includes(this.character)) {
      const { character } = this
      if (this.continuation()) continue
      const variable = variableAt(this.text, this.at)
      if (character === "'" || character === '"') {
        quoted = true
        const inner = character === "'" ? this.#single() : this.#double()
        varies ||= inner.includes("\uE000")
        value += inner
      } else if (character === "\\") {
        if (this.at + 1 >= this.text.length) refuse("it ends with a backslash")
        quoted = true
        value += this.take(2)[1]
      } else if (variable !== undefined) {
        varies = true
        this.take(variable.length)
        value += variableMark(variable.name)
      } else {
        if (character === "*" || character === "?") glob = glob === -1 ? value.length : glob
        else this.#checkBare(value, this.at === start, isProgram)
        value += this.take(1)
      }
    }
    if (this.at === start) refuse(`'${this.character}' stands in it where a word is wanted`)
    return { word: { value, glob }, quoted, varies }
  }

  /** Text up to the line that ends it. Without quotes around its end it is plain only if nothing in it expands. */
  heredoc(delimiter: string, quoted: boolean): string {
    const rest = this.text.slice(this.at)
    const end = new RegExp(`^${delimiter}(?:\\n|$)`, "m").exec(rest)
    if (end === null) refuse("a here-document in it does not end")
    const body = rest.slice(0, end.index)
    if (!quoted && /[$`\\]/.test(body)) refuse("a here-document in it is expanded")
    // The newline after the end stays: it ends the command as any other.
    this.take(end.index + delimiter.length)
    return body
  }

  /** Refuses a character without quotes that the shell would do something with. */
  #checkBare(before: string, isFirst: boolean, isProgram: boolean): void {
    const { character } = this
    const next = this.text[this.at + 1] ?? ""
    if (isFirst && isProgram && (character === "[" ? next === " " : character === "{" && /^[ \t\n]$/.test(next))) return
    if (!wordCharacters.test(character) || (character === "#" && isFirst))
      refuse(`'${character}' stands in it without quotes`)
    if (character === "~" && (isFirst || /[:=]$/.test(before))) refuse("'~' is expanded")
    if (character === "{" && !/^\{(?:\d*|[a-z]+)\}/.test(this.text.slice(this.at, this.at + 40)))
      refuse("braces are expanded")
  }

  #single(): string {
    const end = this.text.indexOf("'", this.at + 1)
    if (end === -1) refuse("a quote in it does not end")
    return this.take(end + 1 - this.at).slice(1, -1)
  }

  #double(): string {
    let value = ""
    this.take(1)
    for (;;) {
      const { character } = this
      if (character === "") refuse("a quote in it does not end")
      const variable = variableAt(this.text, this.at)
      if (variable !== undefined) {
        this.take(variable.length)
        value += variableMark(variable.name)
        continue
      }
      if (character === "`" || (character === "$" && !/[" |)/.,:%^]/.test(this.text[this.at + 1] ?? "x")))
        refuse(`'${character}' in double quotes is expanded`)
      if (this.continuation()) continue
      const taken = this.take(character === "\\" ? 2 : 1)
      if (taken === '"') return value
      value += character === "\\" && '$`"\\'.includes(taken[1] ?? "x") ? taken[1] : taken
    }
  }
}
