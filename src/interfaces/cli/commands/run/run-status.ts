import type { ToolChainOptions } from "../../../../agents/chain/chain-options.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { callText, onOneLine, retryText } from "../../terminal/call-line.ts"
import { busyRow, frameMs } from "../chat/live-rows.ts"
import type { Io } from "../../common/context.ts"
import { columnsOf } from "../../terminal/table.ts"

const eraseRow = "\r\u001b[K"

type Callbacks = Pick<
  ToolChainOptions,
  "onBeforeSendToLLM" | "onLLMRetry" | "onLLMResponsePart" | "onToolCallStart" | "onToolCallComplete"
>

/**
 * A row on the terminal (stderr) that says what a run does at the moment. Whatever else is written takes its place; while
 * it is paused, somebody else has the terminal.
 */
export class RunStatus {
  readonly #stderr: Io["stderr"]
  readonly #paint: TerminalStyle
  readonly #restore: (() => void)[]
  readonly #calls = new Map<string, string>()
  readonly #timer: NodeJS.Timeout
  readonly #write: (text: string) => void
  #doing = "thinking"
  #since = Date.now()
  #isShown = false
  #isPaused = false

  constructor({ stdout, stderr }: Pick<Io, "stdout" | "stderr">, paint: TerminalStyle) {
    this.#stderr = stderr
    this.#paint = paint
    // oxlint-disable-next-line typescript/unbound-method -- it is called on stderr
    const original = stderr.write
    this.#write = (text) => void original.call(stderr, text)
    this.#restore = [stdout, stderr].map((stream) => this.#giveWayTo(stream))
    this.#timer = setInterval(() => this.#draw(), frameMs).unref()
  }

  readonly callbacks: Callbacks = {
    onBeforeSendToLLM: () => {
      this.#do("thinking")
      return undefined
    },
    onLLMRetry: (_error, waitMs) => this.#do(retryText(waitMs)),
    onLLMResponsePart: (part) => {
      if (part.type === "text") this.#do("writing")
      if (part.type === "tool-call-start") this.#do(`writing ${onOneLine(part.name)}`)
    },
    onToolCallStart: (tool, input, id) => {
      this.#calls.set(id, callText(tool, input))
      this.#do([...this.#calls.values()].at(-1)!)
    },
    onToolCallComplete: (_result, id) => {
      this.#calls.delete(id)
      this.#do([...this.#calls.values()].at(-1) ?? "thinking")
    },
  }

  pause(): void {
    this.#erase()
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#since = Date.now()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.pause()
    for (const restore of this.#restore) restore()
  }

  #do(doing: string): void {
    if (doing !== this.#doing) this.#since = Date.now()
    this.#doing = doing
  }

  #draw(): void {
    if (this.#isPaused) return
    const busy = { doing: this.#doing, ms: Date.now() - this.#since }
    this.#write(`${eraseRow}${busyRow(busy, columnsOf(this.#stderr), this.#paint)}`)
    this.#isShown = true
  }

  #erase(): void {
    if (this.#isShown) this.#write(eraseRow)
    this.#isShown = false
  }

  /** Erases the row before anything is written to the stream. Returns what puts its `write` back. */
  #giveWayTo(stream: Io["stdout"]): () => void {
    // oxlint-disable-next-line typescript/unbound-method -- it is called on the stream, and put back as it was
    const original = stream.write
    const write = (...given: Parameters<typeof original>) => {
      this.#erase()
      return original.apply(stream, given)
    }
    stream.write = write as typeof original
    return () => {
      if (stream.write === write) stream.write = original
    }
  }
}
