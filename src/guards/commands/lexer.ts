import { ScriptCursor, refuse, ScriptRefusal, type ReadWord } from "./script-cursor.ts"
import { OpenGroups, isGroupToken, isGroupStart } from "./open-groups.ts"
import {
  dropTrailingSeparators,
  type Join,
  type ShellLine,
  type GroupToken,
  type ShellToken,
  type Redirect,
} from "./shell-line.ts"
import type { Segment, Unprovable, Word } from "./shell-line.ts"

/** A parsed line, its tokens, and the script without line continuations for the other parsers. */
export interface Lexed {
  readonly line: ShellLine
  readonly tokens: readonly ShellToken[]
  readonly script: string
}

/** Longer scripts are not proved. */
const maxCharacters = 4000
const maxSegments = 100

/**
 * Reads a script of plain words in lists, groups and conditions, and refuses every other: loops, background commands,
 * functions and expansions. It is the strictest of three parsers, and all three must agree.
 */
export function lex(script: string): Lexed | Unprovable {
  if (script.length > maxCharacters) return { because: `it is longer than ${maxCharacters} characters` }
  const unusual = /[^\t\n\x20-\x7e]/u.exec(script)
  if (unusual !== null)
    return { because: `it has the character ${nameOf(unusual[0])}, which may mean something else to the shell` }
  try {
    return new Lexer(script).read()
  } catch (error) {
    if (error instanceof ScriptRefusal) return { because: error.message }
    throw error
  }
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
}

/** Keywords of constructs that are not supported, where a command may begin. */
const keywords = new Set("for while until do done case esac select function in [[ ]] coproc".split(" "))

class Lexer {
  readonly #cursor: ScriptCursor
  readonly #tokens: ShellToken[] = []
  readonly #segments: Segment[] = []
  readonly #joins: Join[] = []
  readonly #groups = new OpenGroups()
  #words: Word[] = []
  #assignments: { name: string; value: string }[] = []
  #redirects: Redirect[] = []
  #negated = false
  /** The first segment of the group that has just ended. Redirects may follow it, words may not. */
  #endedGroup: number | undefined
  /** The operator that still needs a command after it. */
  #pendingJoin: Join | undefined
  #heredoc: { delimiter: string; quoted: boolean; token: number } | undefined

  constructor(text: string) {
    this.#cursor = new ScriptCursor(text)
  }

  read(): Lexed {
    const cursor = this.#cursor
    while (cursor.character !== "") this.#step()
    if (this.#heredoc !== undefined) refuse("a here-document in it does not end")
    this.#endSegment()
    if (this.#groups.token !== undefined) refuse(`'${this.#groups.token}' in it does not end`)
    if (this.#pendingJoin !== undefined) refuse(`it ends with '${this.#pendingJoin}'`)
    if (this.#segments.length === 0) refuse("there is no command in it")
    if (this.#joins.length === this.#segments.length) this.#joins.pop()
    const line = { segments: this.#segments, joins: this.#joins }
    return { line, tokens: dropTrailingSeparators(this.#tokens), script: cursor.clean }
  }

  #step(): void {
    const cursor = this.#cursor
    const { character } = cursor
    if (character === " " || character === "\t") cursor.take(1)
    else if (cursor.skipContinuation()) return
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
    // A line may break after `&&` or `|`.
    if (!this.#isEmpty() || this.#endedGroup !== undefined) this.#join(";", at)
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
      if (this.#groups.token !== "(") refuse("')' stands without quotes")
      this.#endSegment()
      this.#groupToken(")", cursor.clean.length)
    } else if (!this.#isEmpty() || cursor.text[cursor.at + 1] === "(") refuse("'(' stands without quotes")
    else this.#groupToken("(", cursor.clean.length)
    cursor.take(1)
  }

  #isEmpty(): boolean {
    return this.#words.length === 0 && this.#assignments.length === 0 && this.#redirects.length === 0
  }

  #join(join: Join, at: number): void {
    if (this.#isEmpty() && this.#endedGroup === undefined) refuse(`there is no command before '${join}'`)
    this.#endSegment()
    this.#tokens.push({ kind: "join", text: join, at })
    this.#pendingJoin = join === ";" ? undefined : join
    // After a group there is no join: the folder after it is that of any of its parts, or the one before it.
    if (this.#endedGroup === undefined) this.#joins.push(join)
    this.#endedGroup = undefined
  }

  #endSegment(): void {
    if (this.#isEmpty()) {
      if (this.#negated) refuse("there is no command after '!'")
      return
    }
    if (this.#segments.length >= maxSegments) refuse(`it has more than ${maxSegments} parts`)
    if (this.#words.length === 0) refuse("a part of it sets variables or opens files without a command")
    this.#pendingJoin = undefined
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

  /** Begins, continues or ends a group or condition. */
  #groupToken(text: GroupToken, at: number): void {
    if (this.#negated || (this.#endedGroup !== undefined && text !== ")")) refuse(`'${text}' stands where it may not`)
    this.#tokens.push({ kind: "group", text, at })
    const segment = this.#segments.length
    if (isGroupStart(text)) {
      // A group in a pipeline runs several commands in one shell, so it is not read as a part of the pipeline.
      if (this.#joins.length === segment && this.#joins.at(-1)?.startsWith("|") === true) this.#joins[segment - 1] = ";"
      return this.#groups.start(text, segment)
    }
    if (this.#pendingJoin !== undefined) refuse(`there is no command before '${text}'`)
    this.#endedGroup = this.#groups.next(text, segment)
    if (this.#joins.length < segment) this.#joins.push(";")
  }

  #redirect(descriptor: string): void {
    const cursor = this.#cursor
    const at = cursor.clean.length - descriptor.length
    const operator = /^(?:<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)/.exec(cursor.text.slice(cursor.at, cursor.at + 3))![0]
    if (operator === "<<-") refuse("a here-document with '<<-' is in it")
    cursor.take(operator.length)
    if (cursor.character === "(") refuse("it has a process substitution")
    cursor.skipBlanks()
    const { word, quoted } = cursor.readWord(false)
    if (word.glob !== -1) refuse("it redirects to a pattern")
    if (/^\d+$/.test(word.value) && "<>".includes(cursor.character || " ")) refuse("a redirect is followed by another")
    if (operator === "<<") return this.#heredocStart(descriptor, word, quoted, at)
    if (operator === ">&" || operator === "<&") {
      if (!/^\d$/.test(word.value) || quoted) refuse(`'${operator}' does not lead to a number`)
    }
    this.#addRedirect({ descriptor, operator: operator as Redirect["operator"], target: word })
    this.#tokens.push({ kind: "redirect", text: `${descriptor}${operator}${word.value}`, at })
  }

  /** The redirect of a group is opened before its first command runs, so it counts for that command. */
  #addRedirect(redirect: Redirect): void {
    if (this.#endedGroup === undefined) return void this.#redirects.push(redirect)
    const first = this.#segments[this.#endedGroup]!
    this.#segments[this.#endedGroup] = { ...first, redirects: [...first.redirects, redirect] }
  }

  #heredocStart(descriptor: string, word: Word, quoted: boolean, at: number): void {
    if (this.#heredoc !== undefined) refuse("it has two here-documents at once")
    if (!/^\w+$/.test(word.value)) refuse("a here-document's end is not a plain word")
    this.#heredoc = { delimiter: word.value, quoted, token: this.#tokens.length }
    this.#addRedirect({ descriptor, operator: "<<", target: word })
    this.#tokens.push({ kind: "redirect", text: `${descriptor}<<`, at })
  }

  #heredocBody(): void {
    const { delimiter, quoted, token } = this.#heredoc!
    const known = this.#tokens[token]!
    this.#tokens[token] = {
      kind: "redirect",
      at: known.at,
      text: known.text + this.#cursor.readHeredoc(delimiter, quoted),
    }
    this.#heredoc = undefined
  }

  #word(): void {
    const cursor = this.#cursor
    const at = cursor.clean.length
    const start = cursor.at
    const read = cursor.readWord(this.#words.length === 0)
    const raw = cursor.text.slice(start, cursor.at)
    if (/^\d+$/.test(raw) && "<>".includes(cursor.character || " ")) return this.#redirect(raw)
    if (this.#endedGroup !== undefined) refuse("words follow the end of a group")
    if (this.#words.length === 0) return this.#firstWord(read, raw, at)
    this.#words.push(read.word)
    this.#tokens.push({ kind: "word", text: read.word.value, at })
  }

  #firstWord({ word, quoted }: ReadWord, raw: string, at: number): void {
    const assignment = /^([A-Za-z_]\w*)=/.exec(raw)
    if (assignment !== null) {
      if (word.glob !== -1) refuse("a variable is set to a pattern")
      const name = assignment[1]!
      this.#assignments.push({ name, value: word.value.slice(name.length + 1) })
      this.#tokens.push({ kind: "assignment", text: word.value, at })
      return
    }
    if (/^[A-Za-z_]\w*\+=/.test(raw)) refuse("it appends to a variable")
    if (raw === "!" && this.#isEmpty() && !this.#negated) {
      this.#negated = true
      this.#tokens.push({ kind: "join", text: "!", at })
      return
    }
    if (word.glob !== -1) refuse("a program's name is a pattern")
    if (!quoted && this.#keyword(word.value, at)) return
    this.#words.push(word)
    this.#tokens.push({ kind: "word", text: word.value, at })
  }

  #keyword(value: string, at: number): boolean {
    if (keywords.has(value)) refuse(`'${value}' makes it more than a list of commands`)
    if (!isGroupToken(value)) return false
    if (!this.#isEmpty()) refuse(`'${value}' stands where it may not`)
    this.#groupToken(value, at)
    return true
  }
}
