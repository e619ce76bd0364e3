import type { Word } from "./shell-line.ts"

/** Why a script is not proved; the message continues a sentence after "because". */
export class ScriptRefusal extends Error {}

export function refuse(because: string): never {
  throw new ScriptRefusal(because)
}

const wordCharacters = /[A-Za-z0-9_./:=@%+,^\]!~#{}*?-]/

/** A word, and whether any part of it was quoted. */
export interface ReadWord {
  readonly word: Word
  readonly quoted: boolean
}

/** Reads a script word by word. `clean` is the text read so far without line continuations. */
export class ScriptCursor {
  readonly text: string
  at = 0
  clean = ""

  constructor(text: string) {
    this.text = text
  }

  get character(): string {
    return this.text[this.at] ?? ""
  }

  /** Reads so many characters and adds them to `clean`. */
  take(count: number): string {
    const taken = this.text.slice(this.at, this.at + count)
    this.clean += taken
    this.at += count
    return taken
  }

  /** Skips spaces and line continuations. */
  skipBlanks(): void {
    for (;;) {
      if (this.character === " " || this.character === "\t") this.take(1)
      else if (!this.skipContinuation()) return
    }
  }

  /** Skips a backslash at the end of a line. */
  skipContinuation(): boolean {
    if (!this.text.startsWith("\\\n", this.at)) return false
    this.at += 2
    return true
  }

  /** Reads a word. `isProgram` says that a command may begin here, so that `[` and `{` are allowed. */
  readWord(isProgram: boolean): ReadWord {
    let value = ""
    let glob = -1
    let quoted = false
    const start = this.at
    while (this.at < this.text.length && !" \t\n;&|<>()".includes(this.character)) {
      const { character } = this
      if (this.skipContinuation()) continue
      if (character === "'" || character === '"') {
        quoted = true
        value += character === "'" ? this.#single() : this.#double()
      } else if (character === "\\") {
        if (this.at + 1 >= this.text.length) refuse("it ends with a backslash")
        quoted = true
        value += this.take(2)[1]
      } else {
        if (character === "*" || character === "?") glob = glob === -1 ? value.length : glob
        else this.#checkBare(value, this.at === start, isProgram)
        value += this.take(1)
      }
    }
    if (this.at === start) refuse(`'${this.character}' stands where a word is expected`)
    return { word: { value, glob }, quoted }
  }

  /** Reads the body of a here-document. With an unquoted delimiter nothing in it may be expanded. */
  readHeredoc(delimiter: string, quoted: boolean): string {
    const rest = this.text.slice(this.at)
    const end = new RegExp(`^${delimiter}(?:\\n|$)`, "m").exec(rest)
    if (end === null) refuse("a here-document in it does not end")
    const body = rest.slice(0, end.index)
    if (!quoted && /[$`\\]/.test(body)) refuse("a here-document in it is expanded")
    // The newline after the delimiter is not read here: it ends the command.
    this.take(end.index + delimiter.length)
    return body
  }

  /** Refuses an unquoted character that is special to the shell. */
  #checkBare(before: string, isFirst: boolean, isProgram: boolean): void {
    const { character } = this
    const next = this.text[this.at + 1] ?? ""
    if (isFirst && isProgram && (character === "[" ? next === " " : character === "{" && /^[ \t\n]$/.test(next))) return
    if (!wordCharacters.test(character) || (character === "#" && isFirst))
      refuse(`'${character}' stands without quotes`)
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
      if (character === "`" || (character === "$" && !/[" |)/.,:%^]/.test(this.text[this.at + 1] ?? "x")))
        refuse(`'${character}' in double quotes is expanded`)
      if (this.skipContinuation()) continue
      const taken = this.take(character === "\\" ? 2 : 1)
      if (taken === '"') return value
      value += character === "\\" && '$`"\\'.includes(taken[1] ?? "x") ? taken[1] : taken
    }
  }
}
