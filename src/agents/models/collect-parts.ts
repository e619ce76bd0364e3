import type { CancelSignal } from "../../lib/stop.ts"
import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelPart, ModelRequest } from "./port.ts"
import { throwIfAborted } from "./retry.ts"

export const defaultLimits = { firstByteMs: 120_000, turnMs: 600_000 }

/** No answer of a model is this long: about two million tokens. */
const largestTurn = 8 * 1024 * 1024

export interface AttemptOptions {
  /** Receives every part as it comes. */
  onPart: ((part: ModelPart) => void) | undefined
  streaming: boolean
  /** The time by which the turn must be over, in milliseconds since 1970. */
  until: number
  signals: readonly CancelSignal[]
}

/** Makes one request and collects the parts of the answer, up to its finish or failure, into `parts`. */
export async function collectParts(
  model: LanguageModel,
  request: ModelRequest,
  parts: ModelPart[],
  options: AttemptOptions,
): Promise<void> {
  throwIfAborted(options.signals)
  const attempt = new Attempt(model, options)
  const { messages, tools, toolChoice, maxOutputTokens } = request
  const own: ModelRequest = {
    messages,
    tools,
    toolChoice,
    maxOutputTokens,
    get signal() {
      return attempt.signal
    },
  }
  let iterator: AsyncIterator<ModelPart> | undefined
  try {
    iterator = model.stream(own, { streaming: options.streaming })[Symbol.asyncIterator]()
    await attempt.orItsEnd(readParts(iterator, parts, model, attempt, options.onPart))
  } finally {
    attempt.end()
    void Promise.resolve(iterator?.return?.()).catch(() => {})
  }
}

/** Pieces of one block are joined, so that a long answer does not become a million objects. */
async function readParts(
  iterator: AsyncIterator<ModelPart>,
  parts: ModelPart[],
  model: LanguageModel,
  attempt: Attempt,
  onPart: AttemptOptions["onPart"],
): Promise<void> {
  let size = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done === true || attempt.hasEnded) return
    const part = next.value
    if (part.type === "tool-call" && typeof part.input !== "string") throw noText(model)
    attempt.hasBegun = true
    size += sizeOf(part)
    if (size > largestTurn) throw tooLarge(model)
    join(parts, part)
    onPart?.(part)
    if (part.type === "finish") return
  }
}

function join(parts: ModelPart[], part: ModelPart): void {
  const last = parts.at(-1)
  const isPiece = part.type === "text" || part.type === "reasoning"
  if (isPiece && last?.type === part.type && last.block === part.block && part.providerMetadata === undefined)
    last.text += part.text
  else parts.push({ ...part })
}

function sizeOf(part: ModelPart): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length + 16
  return part.type === "tool-call" ? part.input.length + 64 : 64
}

/**
 * One request. It ends with the caller's signals, when the time of the turn is over, and when a streamed answer does not
 * begin in time.
 */
class Attempt {
  hasBegun = false
  readonly #signals: readonly CancelSignal[]
  #timer: NodeJS.Timeout
  #ended: { reason: unknown } | undefined
  // Made when it is asked for: signals cost time and memory, and not every model looks at its own.
  #controller: AbortController | undefined
  #onEnd: ((reason: unknown) => void) | undefined

  constructor(model: LanguageModel, { streaming, until, signals }: AttemptOptions) {
    const { firstByteMs = defaultLimits.firstByteMs, turnMs = defaultLimits.turnMs } = model.limits ?? {}
    const left = until - Date.now()
    const outOfTime = () => this.end(tooSlow(model, "finish", turnMs))
    const mustHaveBegun = () => {
      if (!this.hasBegun) this.end(tooSlow(model, "begin to answer", firstByteMs))
      else this.#timer = setTimeout(outOfTime, until - Date.now())
    }
    this.#timer = streaming && firstByteMs < left ? setTimeout(mustHaveBegun, firstByteMs) : setTimeout(outOfTime, left)
    this.#signals = signals
    for (const signal of signals) signal.addEventListener("abort", this.#onAbort)
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason)
    return this.#controller.signal
  }

  /** The work, or the reason why the attempt ended before: not every model cares about its signal. */
  orItsEnd<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onEnd = reject
      work.then(resolve, reject)
    })
  }

  end(reason: unknown = answerIsOver): void {
    if (this.#ended !== undefined) return
    this.#ended = { reason }
    clearTimeout(this.#timer)
    for (const signal of this.#signals) signal.removeEventListener("abort", this.#onAbort)
    this.#onEnd?.(reason)
    this.#controller?.abort(reason)
  }

  readonly #onAbort = (): void => this.end(this.#signals.find(({ aborted }) => aborted)?.reason)
}

/** Made once: an abort without a reason makes a new error with its stack each time. */
const answerIsOver = new Error("The answer is over.")

function tooSlow({ name }: LanguageModel, what: string, limit: number): ModelError {
  const key = what === "finish" ? "timeout" : "firstByteTimeout"
  return new ModelError(
    "timeout",
    `The model '${name}' did not ${what} within ${limit / 1000} seconds. Raise 'models.${name}.${key}', or use a faster model.`,
  )
}

/** Only a model that a program brings itself can do this. */
function noText({ name }: LanguageModel): ModelError {
  return new ModelError(
    "bad_answer",
    `The model '${name}' yielded a tool-call part whose input is not a text. Its stream must yield JSON text: input: JSON.stringify(input).`,
  )
}

function tooLarge({ name }: LanguageModel): ModelError {
  return new ModelError(
    "too_large",
    `The model '${name}' answered with more than ${largestTurn / 1024 / 1024} MB, and the answer was stopped. Set a limit for it with 'models.${name}.maxOutputTokens'.`,
  )
}
