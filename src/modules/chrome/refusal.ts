/** An expected failure with its code, such as `tab_not_found`. The module returns it as `{ error, message }`. */
export class Refusal extends Error {
  override readonly name = "Refusal"
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, sentence: string, details: Readonly<Record<string, unknown>> = {}) {
    super(sentence)
    this.code = code
    this.details = details
  }
}

export function refusal(code: string, sentence: string, details?: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal(code, sentence, details)
}

/** The first line of what went wrong, as a sentence, without the log that Playwright adds and its colours. */
export function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  // oxlint-disable-next-line no-control-regex
  const plain = text.replace(/\u001b\[\d+m/g, "").split("\n")[0] ?? ""
  return plain
    .replace(/^\w+\.\w+: /, "")
    .slice(0, 500)
    .replace(/[^.!?]$/, "$&.")
}

/** Reports whether Playwright gave up waiting. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError"
}
