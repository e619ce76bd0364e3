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
  readonly #printed = new Map<string, string>()
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

  /** What a command printed and a person has read already, by the name of its stream. */
  get printed(): ReadonlyMap<string, string> {
    return this.#printed
  }

  add({ chunk, peopleOnly }: { chunk: unknown; peopleOnly: boolean }): void {
    const { io, house, flags } = this.#session
    const printed = isPrinted(chunk) ? chunk : undefined
    if (peopleOnly) {
      this.#heldBack = true
      const text = typeof chunk === "string" ? chunk : (printed?.text ?? `${jsonText(chunk, house)}\n`)
      if (isAttended(io)) io.stderr.write(house.printable(text))
      return
    }
    if (printed !== undefined) return this.#print(printed)
    const onTerminal = (flags.json ? io.stderr : io.stdout).isTTY
    const text =
      typeof chunk === "string" ? (onTerminal ? house.printable(chunk) : chunk) : `${jsonText(chunk, house)}\n`
    if (text !== "") this.#ending = text.slice(-1)
    this.#write(text)
  }

  /** What a command prints is for eyes; a program finds it in the result. */
  #print({ stream, text }: Printed): void {
    const { io, house, flags } = this.#session
    if (flags.json || !io.stdout.isTTY) {
      this.#heldBack = true
      return
    }
    this.#printed.set(stream, (this.#printed.get(stream) ?? "") + text)
    const safe = house.printable(text)
    if (stream === "stderr") io.stderr.write(safe)
    else this.#write(safe)
    if (safe !== "" && (stream === "stdout" || io.stderr.isTTY)) this.#ending = safe.slice(-1)
  }

  /** What comes next begins on a line of its own. */
  end(): void {
    if (this.#ending !== "\n") this.#write("\n")
    this.#ending = "\n"
  }
}

interface Printed {
  readonly stream: "stdout" | "stderr"
  readonly text: string
}

function isPrinted(chunk: unknown): chunk is Printed {
  if (typeof chunk !== "object" || chunk === null || !("stream" in chunk) || !("text" in chunk)) return false
  return (chunk.stream === "stdout" || chunk.stream === "stderr") && typeof chunk.text === "string"
}
