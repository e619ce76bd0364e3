import { KeyReader } from "../../lib/key-reader.ts"
import { emptyLine, pressKey, type Key } from "../../lib/line-editor.ts"

/** A key that ends typing: Enter, Escape or Ctrl-C. */
export type LineEvent = "enter" | "escape" | "interrupt"

/** A line that a person types at a card. Escape and Ctrl-C empty it first; Enter ends it, but not in pasted text. */
export class TypedLine {
  text = ""
  /** True when it was begun before it could be an answer. It stays so until it is empty. */
  isEarly = false
  readonly #keys = new KeyReader({ guessesPastes: true })

  /** True while the rest of a key is to come, or else it was Escape. */
  get waitsForKey(): boolean {
    return this.#keys.waitsForKey
  }

  clear(): void {
    this.#set("")
  }

  /** Takes what the terminal has sent, in whatever pieces. What follows an event in them is lost. */
  take(read: string): LineEvent | undefined {
    return this.#press(this.#keys.take(read))
  }

  /** The rest of a key has not come: it was Escape. */
  takeEscape(): LineEvent | undefined {
    return this.#press(this.#keys.takeEscape())
  }

  #press(keys: readonly Key[]): LineEvent | undefined {
    for (const key of keys) {
      const leaves = key.name === "escape" ? "escape" : key.ctrl && key.name === "c" ? "interrupt" : undefined
      if ((key.name === "return" || key.name === "enter") && !key.meta) return "enter"
      if (leaves !== undefined && this.text === "") return leaves
      if (leaves !== undefined) this.clear()
      else this.#edit(key)
    }
    return undefined
  }

  /** The cursor stays at the end: there is no other in a card. */
  #edit(key: Key): void {
    const { text, cursor } = pressKey({ ...emptyLine, text: this.text, cursor: this.text.length }, key, []).line
    if (cursor === text.length) this.#set(text)
  }

  #set(text: string): void {
    this.text = text
    if (text === "") this.isEarly = false
  }
}
