import type { ModelPart, ModelTurn } from "../models/port.ts"
import type { ChainHooks } from "./chain.ts"

/** Puts the text of an answer together as it comes. */
export class WrittenText {
  text = ""
  readonly #hooks: ChainHooks

  constructor(hooks: ChainHooks) {
    this.#hooks = hooks
  }

  readonly onPart = (part: ModelPart): void => {
    if (part.type === "text") this.text += part.text
    this.#hooks.onPart?.(part, this.text)
  }

  readonly onRetry = (error: Error, waitMs: number): void => {
    this.text = ""
    this.#hooks.onRetry?.(error, waitMs)
  }
}

/** An answer that was broken off. Its calls are not made. */
export function unfinished(text: string): ModelTurn {
  return {
    text,
    reasoning: "",
    calls: [],
    content: [{ type: "text", text }],
    describedCall: false,
    finishReason: "other",
    usage: { inputTokens: 0, outputTokens: 0, estimated: true },
    retries: 0,
  }
}
