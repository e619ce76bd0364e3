import { captureLimit } from "../call/stream.ts"
import type { Session } from "./house.ts"
import { jsonText } from "./output.ts"

/** Shows the pieces of a running tool as they come, and remembers them so that the result is not shown twice. */
export class Stream {
  readonly #session: Session
  readonly #write: (text: string) => void
  /** What the walk puts together too, by its own limit. */
  readonly #captured: unknown[] = []
  #length = 0
  #ending = "\n"

  constructor(session: Session, stdout: (text: string) => void) {
    this.#session = session
    this.#write = session.flags.json ? (text) => void session.io.stderr.write(text) : stdout
  }

  add(chunk: unknown): void {
    const { io, house, flags } = this.#session
    const onTerminal = (flags.json ? io.stderr : io.stdout).isTTY
    const json = JSON.stringify(chunk) ?? ""
    this.#length += typeof chunk === "string" ? chunk.length : json.length
    if (this.#length <= captureLimit) this.#captured.push(chunk)
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

  /** Whether the result is nothing but the pieces put together, as far as they were captured. */
  hasShown(result: unknown): boolean {
    if (this.#length === 0) return false
    if (typeof result !== "string") return JSON.stringify(result) === JSON.stringify(this.#captured)
    const whole = result.replace(/\n\[\d+ more characters were not captured\]$/, "")
    return this.#captured.every((chunk) => typeof chunk === "string") && this.#captured.join("") === whole
  }
}
