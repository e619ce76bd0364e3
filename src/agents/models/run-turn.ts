import { errorMessage } from "../../lib/error-message.ts"
import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelPart, ModelRequest, ModelTurn, ModelUsage } from "./port.ts"
import { readTurn, type ReadTurn } from "./read-turn.ts"
import { defaultRetries, retryDelay, waitFor } from "./retry.ts"
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
  stops?: readonly AbortSignal[] | undefined
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
  const { retries: most = defaultRetries, wait = waitFor, onRetry, stops = [] } = options
  const clock = startClock(model, request.signal === undefined ? stops : [request.signal, ...stops])
  let streaming = model.streamTools !== false || (request.tools ?? []).length === 0
  let retries = 0
  let failures = 0
  let wasted: ModelUsage | undefined
  try {
    for (;;) {
      try {
        const reading = readTurn(await collect(model, request, { streaming, clock, onPart: options.onPart }), request)
        if (reading.kind === "turn") return finished(model, request, reading, { wasted, retries })
        if (reading.kind === "broken") throw reading.error ?? cutStream(model)
        if (!streaming) throw noCalls(model)
        streaming = false
        wasted = estimateUsage(request, { content: [] })
        onRetry?.(noCalls(model), 0)
      } catch (thrown) {
        const error = clock.errorOf(thrown)
        if (!error.isTransient || failures >= most) throw error
        const delay = retryDelay(error, failures++)
        if (delay >= clock.leftMs()) throw error
        onRetry?.(error, delay)
        await wait(delay, clock.signal()).catch((aborted: unknown) => {
          throw clock.errorOf(aborted)
        })
      }
      retries++
    }
  } finally {
    clock.stop()
  }
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

interface Attempt {
  streaming: boolean
  clock: Clock
  onPart: TurnOptions["onPart"]
}

/** Collects the parts up to the finish. Pieces of one block are joined, so that a long answer does not become a million objects. */
async function collect(
  model: LanguageModel,
  request: ModelRequest,
  { streaming, clock, onPart }: Attempt,
): Promise<ModelPart[]> {
  const attempt = clock.attempt(streaming)
  const own: ModelRequest = {
    ...request,
    get signal() {
      return attempt.signal()
    },
  }
  const iterator = model.stream(own, { streaming })[Symbol.asyncIterator]()
  const parts: ModelPart[] = []
  let size = 0
  try {
    for (;;) {
      const next = await attempt.race(iterator.next())
      if (next.done === true) return parts
      const part = next.value
      attempt.began()
      size += sizeOf(part)
      if (size > largestTurn) throw tooLarge(model)
      join(parts, part)
      onPart?.(part)
      if (part.type === "finish") return parts
    }
  } finally {
    attempt.end()
    void Promise.resolve(iterator.return?.()).catch(() => {})
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

type Clock = ReturnType<typeof startClock>

/** The time limits of one turn. They, and the caller's signals, end what is done at the moment. */
function startClock(model: LanguageModel, signals: readonly AbortSignal[]) {
  const { firstByteMs = defaultLimits.firstByteMs, turnMs = defaultLimits.turnMs } = model.limits ?? {}
  let stopped: { reason: unknown } | undefined
  let onStop: ((reason: unknown) => void) | undefined
  const stop = (reason: unknown) => {
    stopped ??= { reason }
    onStop?.(stopped.reason)
  }
  const end = Date.now() + turnMs
  const timer = setTimeout(() => stop(tooSlow(model, "finish", turnMs)), turnMs)
  const abortedSignal = () => signals.find(({ aborted }) => aborted)
  const stopByCaller = () => stop(abortedSignal()?.reason)
  for (const signal of signals) signal.addEventListener("abort", stopByCaller)
  if (abortedSignal() !== undefined) stopByCaller()
  /** Ends something with the turn. */
  const endWithTurn = (abort: (reason: unknown) => void) => {
    onStop = abort
    if (stopped !== undefined) abort(stopped.reason)
  }
  return {
    leftMs: () => end - Date.now(),
    /** A signal for what comes next in the turn. */
    signal() {
      const controller = new AbortController()
      endWithTurn((reason) => controller.abort(reason))
      return controller.signal
    },
    stop() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener("abort", stopByCaller)
    },
    /** What to report for something thrown: the reason of the caller's abort is thrown as it is. */
    errorOf(thrown: unknown): ModelError {
      const aborted = abortedSignal()
      if (aborted !== undefined) throw aborted.reason
      if (thrown instanceof ModelError) return thrown
      if (stopped !== undefined) return stopped.reason as ModelError
      return new ModelError("failed", `The model '${model.name}' failed: ${errorMessage(thrown)}`)
    },
    /** One request: ends by the limits above, and when a streamed answer does not begin in time. */
    attempt(streaming: boolean) {
      let ended: { reason: unknown } | undefined
      // Signals cost time and memory, and not every model looks at its own.
      let controller: AbortController | undefined
      let onEnd: ((reason: unknown) => void) | undefined
      const abort = (reason: unknown) => {
        ended ??= { reason }
        controller?.abort(ended.reason)
        onEnd?.(ended.reason)
      }
      endWithTurn(abort)
      const first = streaming
        ? setTimeout(() => abort(tooSlow(model, "begin to answer", firstByteMs)), firstByteMs)
        : undefined
      return {
        signal(): AbortSignal {
          controller ??= new AbortController()
          if (ended !== undefined) controller.abort(ended.reason)
          return controller.signal
        },
        began: () => clearTimeout(first),
        /** Also ends when a model does not care about the signal. One at a time. */
        race<T>(work: Promise<T>): Promise<T> {
          return new Promise((resolve, reject) => {
            onEnd = reject
            if (ended !== undefined) reject(ended.reason as Error)
            work.then(resolve, (error: unknown) => reject(ended === undefined ? error : (ended.reason as Error)))
          })
        },
        end() {
          clearTimeout(first)
          onEnd = undefined
          abort(answerIsOver)
        },
      }
    },
  }
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
