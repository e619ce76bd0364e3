/** A key, or a piece of a pasted text with the name `paste`. */
export interface Key {
  /** The name of the key, for example `left`, `return` or `a`. */
  name?: string
  ctrl?: boolean
  /** True if Alt was held. */
  meta?: boolean
  /** The text that it types. */
  text?: string
}

/** The text that a person is writing. */
export interface Line {
  text: string
  /** The place of the cursor in the text. */
  cursor: number
  /** True if more of a pasted text comes. */
  pasting: boolean
  /** The entry of the history that is shown, counted from the newest; undefined for a text of one's own. */
  recalled?: number
  /** One's own text while an entry of the history is shown. */
  draft: string
}

/** The action of a key besides a change of the text. */
export type LineAction = "submit" | "interrupt" | "leave" | "complete" | "clear-screen" | "suspend"

export const emptyLine: Line = { text: "", cursor: 0, pasting: false, draft: "" }

export function lineOf(text: string): Line {
  return { ...emptyLine, text, cursor: text.length }
}

/** The line after a key, and what else the key asks for. `history` has the newest entry last. */
export function pressKey(line: Line, key: Key, history: readonly string[]): { line: Line; action?: LineAction } {
  if (key.name === "paste-start") return { line: { ...line, pasting: true } }
  if (key.name === "paste-end") return { line: { ...line, pasting: false } }
  if (key.name === "paste") return { line: insert(line, key.text ?? "") }
  if (key.name === "return" && !key.meta) return pressEnter(line)
  const action = actionOf(line, key)
  if (action !== undefined) return { line, action }
  const edit = (key.ctrl ? controlKeys : key.meta ? altKeys : plainKeys)[key.name ?? ""]
  if (edit !== undefined) return { line: edit(line, history) }
  const types = key.text !== undefined && !key.ctrl && !key.meta && !/\p{Cc}/u.test(key.text)
  return { line: types ? insert(line, key.text ?? "") : line }
}

/** A backslash at the end of the line asks for a new line. */
function pressEnter(line: Line): { line: Line; action?: LineAction } {
  const before = line.text.slice(0, line.cursor)
  if (!before.endsWith("\\")) return { line, action: "submit" }
  return { line: insert(replace(line, line.cursor - 1, line.cursor, ""), "\n") }
}

function actionOf({ text }: Line, { name, ctrl }: Key): LineAction | undefined {
  if (name === "tab") return "complete"
  if (ctrl !== true) return undefined
  if (name === "c") return "interrupt"
  if (name === "d" && text === "") return "leave"
  if (name === "z") return "suspend"
  return name === "l" ? "clear-screen" : undefined
}

type Edit = (line: Line, history: readonly string[]) => Line

const newLine: Edit = (line) => insert(line, "\n")
const toStart: Edit = (line) => at(line, lineStart(line))
const toEnd: Edit = (line) => at(line, lineEnd(line))
const wordLeft: Edit = (line) => at(line, previousWord(line))
const wordRight: Edit = (line) => at(line, nextWord(line))
const deleteForward: Edit = (line) => replace(line, line.cursor, next(line), "")
const deleteWord: Edit = (line) => replace(line, previousWord(line), line.cursor, "")

const plainKeys: Readonly<Record<string, Edit>> = {
  enter: newLine,
  backspace: (line) => replace(line, previous(line), line.cursor, ""),
  delete: deleteForward,
  left: (line) => at(line, previous(line)),
  right: (line) => at(line, next(line)),
  home: toStart,
  end: toEnd,
  up: (line, history) => (lineStart(line) === 0 ? recall(line, history, 1) : vertical(line, -1)),
  down: (line, history) => (lineEnd(line) === line.text.length ? recall(line, history, -1) : vertical(line, 1)),
}

const controlKeys: Readonly<Record<string, Edit>> = {
  a: toStart,
  e: toEnd,
  b: plainKeys["left"]!,
  f: plainKeys["right"]!,
  p: plainKeys["up"]!,
  n: plainKeys["down"]!,
  d: deleteForward,
  h: plainKeys["backspace"]!,
  j: newLine,
  k: (line) => replace(line, line.cursor, lineEnd(line), ""),
  u: (line) => replace(line, lineStart(line), line.cursor, ""),
  w: deleteWord,
  left: wordLeft,
  right: wordRight,
}

const altKeys: Readonly<Record<string, Edit>> = {
  return: newLine,
  enter: newLine,
  b: wordLeft,
  f: wordRight,
  left: wordLeft,
  right: wordRight,
  backspace: deleteWord,
}

function insert(line: Line, text: string): Line {
  return replace(line, line.cursor, line.cursor, text)
}

function replace(line: Line, from: number, to: number, text: string): Line {
  const changed = line.text.slice(0, from) + text + line.text.slice(to)
  return { ...line, text: changed, cursor: from + text.length, recalled: undefined }
}

function at(line: Line, cursor: number): Line {
  return { ...line, cursor }
}

const characters = new Intl.Segmenter()

/** The place before the character left of the cursor. One character may be several code units. */
function previous({ text, cursor }: Line): number {
  return characters.segment(text).containing(cursor - 1)?.index ?? 0
}

function next({ text, cursor }: Line): number {
  const found = characters.segment(text).containing(cursor)
  return found === undefined ? text.length : found.index + found.segment.length
}

function previousWord({ text, cursor }: Line): number {
  return text.slice(0, cursor).search(/\S+\s*$/u) === -1 ? 0 : text.slice(0, cursor).search(/\S+\s*$/u)
}

function nextWord({ text, cursor }: Line): number {
  return cursor + (/^\s*\S+/u.exec(text.slice(cursor))?.[0].length ?? 0)
}

function lineStart({ text, cursor }: Line): number {
  return text.lastIndexOf("\n", cursor - 1) + 1
}

function lineEnd({ text, cursor }: Line): number {
  const end = text.indexOf("\n", cursor)
  return end === -1 ? text.length : end
}

/** The same column of the line above or below. */
function vertical(line: Line, by: 1 | -1): Line {
  const column = line.cursor - lineStart(line)
  const other = at(line, by === 1 ? lineEnd(line) + 1 : lineStart(line) - 1)
  const start = lineStart(other)
  return at(line, Math.min(start + column, lineEnd(other)))
}

/** An older or newer entry of the history; after the newest one's own text. */
function recall(line: Line, history: readonly string[], by: 1 | -1): Line {
  const place = (line.recalled ?? -1) + by
  if (place >= history.length || (by === -1 && line.recalled === undefined)) return line
  const draft = line.recalled === undefined ? line.text : line.draft
  const text = place < 0 ? draft : history[history.length - 1 - place]!
  return { ...line, text, cursor: text.length, draft, recalled: place < 0 ? undefined : place }
}
