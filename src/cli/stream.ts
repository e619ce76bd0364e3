import type { Session } from "./house.ts"
import { jsonText } from "./output.ts"

/** Shows the pieces of a running tool as they come. */
export class Stream {
  readonly #session: Session
  readonly #write: (text: string) => void
  #ending = "\n"

  constructor(session: Session, stdout: (text: string) => void) {
    this.#session = session
    this.#write = session.flags.json ? (text) => void session.io.stderr.write(text) : stdout
  }

  add(chunk: unknown): void {
    const { io, house, flags } = this.#session
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
