import { errorMessage } from "../../lib/error-message.ts"
import type { CancelSignal } from "../../lib/stop.ts"
import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelPart, ModelRequest, ModelTurn, ModelUsage } from "./port.ts"
import { readTurn, type ReadTurn } from "./read-turn.ts"
import { defaultRetries, retryDelay, throwIfAborted, waitFor } from "./retry.ts"
import { addUsage, costOf, estimateUsage } from "./usage.ts"

export const defaultLimits = { firstByteMs: 120_000, turnMs: 600_000 }

/** No answer of a model is this long: about two million tokens. */
const largestTurn = 8 * 1024 * 1024

export interface TurnOptions {
  /** Receives every part as it comes. */
  onPart?: ((part: ModelPart) => void) | undefined
  /** The request is repeated: what came of this turn so far does not count. */
  onRetry?: ((error: ModelError, waitMs: number) => void) | undefined
  /** What ends the turn besides `request.signal`. */
  stops?: readonly CancelSignal[] | undefined
  /** How often a failure that may pass is tried again. */
  retries?: number | undefined
  wait?: typeof waitFor | undefined
}

/**
 * Asks a model for one answer, inside its time limits. Network failures, HTTP 429 and 5xx and cut streams are tried
 * again. Rejects with a ModelError, or with the reason of the caller's signal once one is aborted.
 */
export async function runTurn(
  model: LanguageModel,
  request: ModelRequest,
  options: TurnOptions = {},
): Promise<ModelTurn> {
  const { retries: most = defaultRetries, wait = waitFor, onPart, onRetry, stops = [] } = options
  const signals = request.signal === undefined ? stops : [request.signal, ...stops]
  const until = Date.now() + (model.limits?.turnMs ?? defaultLimits.turnMs)
  let streaming = model.streamTools !== false || (request.tools ?? []).length === 0
  let retries = 0
  let failures = 0
  let wasted: ModelUsage | undefined
  for (;;) {
    try {
      const reading = readTurn(await collect(model, request, { streaming, until, signals, onPart }), request)
      if (reading.kind === "turn") return finished(model, request, reading, { wasted, retries })
      if (reading.kind === "broken") throw reading.error ?? cutStream(model)
      if (!streaming) throw noCalls(model)
      streaming = false
      wasted = estimateUsage(request, { content: [] })
      onRetry?.(noCalls(model), 0)
    } catch (thrown) {
      const error = errorOf(thrown, model, signals)
      if (failures >= Math.min(most, error.retries)) throw error
      const delay = retryDelay(error, failures++)
      if (Date.now() + delay >= until) throw error
      onRetry?.(error, delay)
      await wait(delay, ...signals)
    }
    retries++
  }
}

/** What to report for something thrown: the reason of the caller's abort is thrown as it is. */
function errorOf(thrown: unknown, { name }: LanguageModel, signals: readonly CancelSignal[]): ModelError {
  throwIfAborted(signals)
  if (thrown instanceof ModelError) return thrown
  return new ModelError("failed", `The model '${name}' failed: ${errorMessage(thrown)}`)
}

function finished(
  model: LanguageModel,
  request: ModelRequest,
  { usage: reported, ...turn }: ReadTurn,
  { wasted, retries }: { wasted: ModelUsage | undefined; retries: number },
): ModelTurn {
  const own = reported ?? estimateUsage(request, turn)
  const usage = wasted === undefined ? own : addUsage(wasted, own)
  const { text, reasoning, calls, content, describedCall, finishReason } = turn
  return {
    text,
    reasoning,
    calls,
    content,
    describedCall,
    finishReason,
    usage,
    ...(model.price === undefined ? {} : { cost: costOf(usage, model.price) }),
    retries,
  }
}

interface AttemptOptions extends Pick<TurnOptions, "onPart"> {
  streaming: boolean
  /** The time by which the turn must be over, in milliseconds since 1970. */
  until: number
  signals: readonly CancelSignal[]
}

/** Makes one request and collects the parts of the answer up to its finish. */
async function collect(model: LanguageModel, request: ModelRequest, options: AttemptOptions): Promise<ModelPart[]> {
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
    return await attempt.orItsEnd(readParts(iterator, model, attempt, options.onPart))
  } finally {
    attempt.end()
    void Promise.resolve(iterator?.return?.()).catch(() => {})
  }
}

/** Pieces of one block are joined, so that a long answer does not become a million objects. */
async function readParts(
  iterator: AsyncIterator<ModelPart>,
  model: LanguageModel,
  attempt: Attempt,
  onPart: TurnOptions["onPart"],
): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  let size = 0
  for (;;) {
    const next = await iterator.next()
    if (next.done === true || attempt.hasEnded) return parts
    const part = next.value
    attempt.hasBegun = true
    size += sizeOf(part)
    if (size > largestTurn) throw tooLarge(model)
    join(parts, part)
    onPart?.(part)
    if (part.type === "finish") return parts
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

function tooLarge({ name }: LanguageModel): ModelError {
  return new ModelError(
    "too_large",
    `The model '${name}' answered with more than ${largestTurn / 1024 / 1024} MB, and the answer was stopped. Set a limit for it with 'models.${name}.maxOutputTokens'.`,
  )
}

function cutStream({ name }: LanguageModel): ModelError {
  return new ModelError("cut_stream", `The answer of the model '${name}' ended before it was complete. Try again.`)
}

function noCalls({ name }: LanguageModel): ModelError {
  return new ModelError(
    "bad_answer",
    `The model '${name}' announced tool calls and sent none. Set 'models.${name}.streamTools' to false, or use another model or server.`,
  )
}
