import type { ToolChainResult } from "../../../../agents/chain/chain-result.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { wrap } from "./layout.ts"
import type { ViewScreen } from "./turn-view.ts"

/** Prints what the person says and what the chat itself has to say. */
export class ChatText {
  readonly #screen: ViewScreen
  readonly #paint: TerminalStyle

  constructor(screen: ViewScreen, paint: TerminalStyle) {
    this.#screen = screen
    this.#paint = paint
  }

  /** Prints the person's words. */
  said(text: string): void {
    const { bold, cyan } = this.#paint
    const rows = printable(text)
      .split("\n")
      .flatMap((line) => wrap(line, this.#screen.columns - 3))
    this.#screen.print(["", ...rows.map((row, place) => (place === 0 ? cyan("› ") : "  ") + bold(row)), ""])
  }

  say(text: string, colour = this.#paint.dim): void {
    this.#screen.print(wrap(printable(text), this.#screen.columns - 1).map(colour))
  }

  complain(error: unknown): void {
    this.#screen.print([""])
    this.say(errorMessage(error), this.#paint.red)
  }

  /** Prints the ending of a run, unless its answer tells it. */
  ended({ status, error, content }: ToolChainResult): void {
    const { yellow, red } = this.#paint
    if (status === "completed" && content.trim() !== "") return
    this.#screen.print([""])
    if (status === "completed") this.say("The model ended without an answer. Say something to go on.")
    if (status === "error") {
      this.say(error ?? "The model failed.", red)
      this.say("/retry asks the model again; or say something to go on.")
    }
    if (status === "limit") this.say(error ?? "A limit of this run was reached. Say something to go on.", yellow)
    if (status === "aborted") this.say("Stopped. What it did so far is kept; say something to go on.")
  }
}
