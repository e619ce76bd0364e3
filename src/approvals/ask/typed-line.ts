const escape = "\u001b"
const controlC = "\u0003"
const controlU = "\u0015"
const pasteStart = `${escape}[200~`
const pasteEnd = `${escape}[201~`

/** What makes a terminal mark pasted text, and what ends that. */
export const pasteMarks = { on: `${escape}[?2004h`, off: `${escape}[?2004l` }

/** What a terminal sends: a line end, a mark of a paste, a key that types nothing, or a character. */
const keyPattern = new RegExp(`\r\n|${escape}(?:\\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O${escape}${controlC}])|[^]`, "gu")
/** The beginning of such a key at the end of a read. */
const keyBegins = new RegExp(`${escape}(?:\\[[0-?]*[ -/]*|O)?$`, "u")

const characters = new Intl.Segmenter()

/** What a person wants besides typing: with Enter, with Escape, or with Ctrl-C. */
export type LineEvent = "enter" | "escape" | "interrupt"

/** A line that a person types. Escape and Ctrl-C empty it first; Enter ends it, but not in pasted text. */
export class TypedLine {
  text = ""
  /** Whether it was begun before it could be an answer. It stays so until it is empty. */
  isEarly = false
  #isPaste = false
  /** The beginning of a key whose rest has not come. */
  #begun = ""

  /** Whether the rest of a key is to come, or else it was Escape. */
  get waitsForKey(): boolean {
    return this.#begun !== "" && !this.#isPaste
  }

  clear(): void {
    this.#set("")
  }

  /** Takes what the terminal has sent, in whatever pieces. */
  take(read: string): LineEvent | undefined {
    if (read === controlC) this.#isPaste = false
    const received = this.#begun + read
    this.#begun = keyBegins.exec(received)?.[0] ?? ""
    const keys = received.slice(0, received.length - this.#begun.length).match(keyPattern) ?? []
    // Text with more line ends than the one of a key at its end was pasted, though nothing marks it.
    const isEntered = keys.findIndex(isLineEnd) === keys.length - 1 && keys.at(-1) !== "\r\n"
    for (const key of keys) {
      const event = this.#press(key, isEntered)
      if (event !== undefined) return event
    }
    return undefined
  }

  /** The rest of a key has not come: it was Escape. */
  takeEscape(): LineEvent | undefined {
    if (!this.waitsForKey) return undefined
    this.#begun = ""
    return this.#press(escape, false)
  }

  #press(key: string, isEntered: boolean): LineEvent | undefined {
    if (key === pasteStart || key === pasteEnd) this.#isPaste = key === pasteStart
    else if (this.#isPaste) this.#set(this.text + plainText(key))
    else if (isLineEnd(key) && isEntered) return "enter"
    else if ((key === escape || key === controlC) && this.text === "") return key === escape ? "escape" : "interrupt"
    else if (key === escape || key === controlC || key === controlU) this.clear()
    else if (key === "\u007f" || key === "\b") this.#set(withoutLast(this.text))
    else if (isTyped(key) || isLineEnd(key)) this.#set(this.text + plainText(key))
    return undefined
  }

  #set(text: string): void {
    this.text = text
    if (text === "") this.isEarly = false
  }
}

/** The text in what a terminal has sent. */
export function plainText(received: string): string {
  return received.replace(keyPattern, (key) => (isLineEnd(key) ? "\n" : key === "\t" || isTyped(key) ? key : ""))
}

function isTyped(key: string): boolean {
  return !/\p{Cc}/u.test(key)
}

function isLineEnd(key: string): boolean {
  return key === "\r" || key === "\n" || key === "\r\n"
}

function withoutLast(text: string): string {
  return text.slice(0, [...characters.segment(text)].at(-1)?.index ?? 0)
}
