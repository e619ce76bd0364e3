import { printable, printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"

import { isAttended } from "../../common/open-app.ts"

/**
 * Shows the output of a running tool as it arrives. Output of a result that a person may still withhold is shown only on
 * a terminal (stderr), never to programs.
 */
export class LiveOutput {
  readonly #context: CliContext
  readonly #write: (text: string) => void
  readonly #printed = new Map<string, string>()
  #ending = "\n"
  #heldBack = false

  constructor(context: CliContext, stdout: (text: string) => void) {
    this.#context = context
    this.#write = context.flags.json ? (text) => void context.io.stderr.write(text) : stdout
  }

  /** True if some of the output was not written to stdout. */
  get heldBack(): boolean {
    return this.#heldBack
  }

  /** The text that a command has printed on the terminal, by stream name. */
  get printed(): ReadonlyMap<string, string> {
    return this.#printed
  }

  add({ chunk, peopleOnly }: { chunk: unknown; peopleOnly: boolean }): void {
    const { io, flags } = this.#context
    const printed = isPrinted(chunk) ? chunk : undefined
    if (peopleOnly) {
      this.#heldBack = true
      const text = typeof chunk === "string" ? chunk : (printed?.text ?? `${printableJson(chunk)}\n`)
      if (isAttended(io)) io.stderr.write(printable(text))
      return
    }
    if (printed !== undefined) return this.#print(printed)
    const onTerminal = (flags.json ? io.stderr : io.stdout).isTTY
    const text = typeof chunk === "string" ? (onTerminal ? printable(chunk) : chunk) : `${printableJson(chunk)}\n`
    if (text !== "") this.#ending = text.slice(-1)
    this.#write(text)
  }

  /** Output of a command is shown on a terminal only; programs find it in the result. */
  #print({ stream, text }: Printed): void {
    const { io, flags } = this.#context
    if (flags.json || !io.stdout.isTTY) {
      this.#heldBack = true
      return
    }
    this.#printed.set(stream, (this.#printed.get(stream) ?? "") + text)
    const safe = printable(text)
    if (stream === "stderr") io.stderr.write(safe)
    else this.#write(safe)
    if (safe !== "" && (stream === "stdout" || io.stderr.isTTY)) this.#ending = safe.slice(-1)
  }

  /** Ends the current line, if it has not ended. */
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
