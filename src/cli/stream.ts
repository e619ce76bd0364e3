import type { Session } from "./house.ts"
import { jsonText } from "./output.ts"
import { isAttended } from "./session.ts"

/**
 * Shows the pieces of a running tool as they come. Those of a result that may still be held back are for a person's eyes
 * only: on a terminal they go to stderr, elsewhere nowhere.
 */
export class Stream {
  readonly #session: Session
  readonly #write: (text: string) => void
  #ending = "\n"
  #heldBack = false

  constructor(session: Session, stdout: (text: string) => void) {
    this.#session = session
    this.#write = session.flags.json ? (text) => void session.io.stderr.write(text) : stdout
  }

  /** Whether the result has pieces that did not go out with the others. */
  get heldBack(): boolean {
    return this.#heldBack
  }

  add({ chunk, peopleOnly }: { chunk: unknown; peopleOnly: boolean }): void {
    const { io, house, flags } = this.#session
    if (peopleOnly) {
      this.#heldBack = true
      const text = typeof chunk === "string" ? chunk : `${jsonText(chunk, house)}\n`
      if (isAttended(io)) io.stderr.write(house.printable(text))
      return
    }
    const onTerminal = (flags.json ? io.stderr : io.stdout).isTTY
    const text =
      typeof chunk === "string" ? (onTerminal ? house.printable(chunk) : chunk) : `${jsonText(chunk, house)}\n`
    if (text !== "") this.#ending = text.slice(-1)
    this.#write(text)
  }

  /** What comes next begins on a line of its own. */
  end(): void {
    if (this.#ending !== "\n") this.#write("\n")
    this.#ending = "\n"
  }
}
