import type { Key } from "./line-editor.ts"

const escape = "\u001b"
const controlC = "\u0003"
const pasteStart = `${escape}[200~`
const pasteEnd = `${escape}[201~`

/** Makes a terminal mark pasted text, and ends that. */
export const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }

/** The rest of a key comes within this time after its escape character. */
export const escapeMs = 50

/** One piece of what a terminal sends: a line end, a key that begins with an escape character, or one character. */
const keyPattern = new RegExp(`\r\n|${escape}(?:\\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O${escape}${controlC}])|[^]`, "gu")
/** The beginning of such a key at the end of a read. */
const keyBegins = new RegExp(`${escape}(?:\\[[0-?]*[ -/]*|O)?$`, "u")

/** Reads keys and pastes from what a terminal sends, in whatever pieces. */
export class KeyReader {
  readonly #guessesPastes: boolean
  #isPaste = false
  /** The beginning of a key whose rest has not come. */
  #begun = ""

  /** `guessesPastes`: text with line ends inside was pasted, though nothing marks it. Without it, each line end is Enter. */
  constructor({ guessesPastes = false } = {}) {
    this.#guessesPastes = guessesPastes
  }

  /** True while the rest of a key is to come, or else it was Escape. */
  get waitsForKey(): boolean {
    return this.#begun !== "" && !this.#isPaste
  }

  take(read: string): Key[] {
    if (read === controlC) this.#isPaste = false
    const received = this.#begun + read
    this.#begun = keyBegins.exec(received)?.[0] ?? ""
    const pieces = received.slice(0, received.length - this.#begun.length).match(keyPattern) ?? []
    const isOneLine = pieces.findIndex(isLineEnd) === pieces.length - 1 && pieces.at(-1) !== "\r\n"
    const isEntered = !this.#guessesPastes || isOneLine
    return pieces.map((piece) => this.#keyOf(piece, isEntered))
  }

  /** The rest of a key has not come: it was Escape. */
  takeEscape(): Key[] {
    if (!this.waitsForKey) return []
    this.#begun = ""
    return [{ name: "escape" }]
  }

  #keyOf(piece: string, isEntered: boolean): Key {
    if (piece === pasteStart || piece === pasteEnd) {
      this.#isPaste = piece === pasteStart
      return { name: this.#isPaste ? "paste-start" : "paste-end" }
    }
    if (this.#isPaste || (isLineEnd(piece) && !isEntered)) return { name: "paste", text: plainText(piece) }
    return keyOf(piece)
  }
}

/** The text in what a terminal has sent. */
export function plainText(received: string): string {
  return received.replace(keyPattern, (piece) =>
    isLineEnd(piece) ? "\n" : piece === "\t" || isTyped(piece) ? piece : "",
  )
}

function keyOf(piece: string): Key {
  if (piece.length > 1 && piece.startsWith(escape)) {
    const [, parameters = "", final = ""] = /^.(?:\[|O)([0-9;]*)(.)$/u.exec(piece) ?? []
    if (final === "") return piece.length === 2 ? { ...keyOf(piece.slice(1)), meta: true } : {}
    const [number = "", modifiers = "1"] = parameters.split(";")
    const held = Number(modifiers) - 1
    const name = final === "~" ? numbered[number] : lettered[final]
    return { name, meta: (held & 2) !== 0, ctrl: (held & 4) !== 0 }
  }
  const name = named[piece]
  if (name !== undefined) return { name }
  const code = piece.codePointAt(0)!
  if (code < 27) return { name: String.fromCodePoint(code + 96), ctrl: true }
  return isTyped(piece) ? { name: piece.toLowerCase(), text: piece } : {}
}

const named: Readonly<Record<string, string>> = {
  "\r": "return",
  "\r\n": "return",
  "\n": "enter",
  "\t": "tab",
  "\b": "backspace",
  "\u007f": "backspace",
  [escape]: "escape",
}
const lettered: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
}
const numbered: Readonly<Record<string, string>> = { 1: "home", 3: "delete", 4: "end", 7: "home", 8: "end" }

function isTyped(piece: string): boolean {
  return !/\p{Cc}/u.test(piece)
}

function isLineEnd(piece: string): boolean {
  return piece === "\r" || piece === "\n" || piece === "\r\n"
}
