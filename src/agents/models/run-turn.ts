import { errorMessage } from "../../lib/error-message.ts"
import type { CancelSignal } from "../../lib/stop.ts"
import { collectParts, defaultLimits } from "./collect-parts.ts"
import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelPart, ModelRequest, ModelTurn, ModelUsage } from "./port.ts"
import { readTurn, type ReadTurn } from "./read-turn.ts"
import { defaultRetries, retryDelay, throwIfAborted, waitFor } from "./retry.ts"
import { addUsage, costOf, estimateUsage } from "./usage.ts"

export interface TurnOptions {
  /** Receives every part as it comes. */
  onPart?: (part: ModelPart) => void
  /** The request is repeated: what came of this turn so far does not count. */
  onRetry?: (error: ModelError, waitMs: number) => void
  /** There is no answer, but what came of one was used all the same; the numbers are estimated. */
  onUnanswered?: (used: Pick<ModelTurn, "usage" | "cost">) => void
  /** The signals that end the turn, besides `request.signal`. */
  stops?: readonly CancelSignal[]
  /** The number of retries of a failure that may pass. */
  retries?: number
  wait?: typeof waitFor
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
  const attempts: Attempts = { wasted: undefined, retries: 0 }
  try {
    return await tryUntilAnswered(model, request, options, attempts)
  } catch (error) {
    if (attempts.wasted !== undefined) options.onUnanswered?.(usedBy(model, attempts.wasted))
    throw error
  }
}

interface Attempts {
  /** The usage of answers that do not count. */
  wasted: ModelUsage | undefined
  retries: number
}

async function tryUntilAnswered(
  model: LanguageModel,
  request: ModelRequest,
  { retries: most = defaultRetries, wait = waitFor, onPart, onRetry, stops = [] }: TurnOptions,
  attempts: Attempts,
): Promise<ModelTurn> {
  const signals = request.signal === undefined ? stops : [request.signal, ...stops]
  const until = Date.now() + (model.limits?.turnMs ?? defaultLimits.turnMs)
  let streaming = model.streamTools !== false || (request.tools ?? []).length === 0
  for (let failures = 0; ; attempts.retries++) {
    const parts: ModelPart[] = []
    try {
      await collectParts(model, request, parts, { streaming, until, signals, onPart })
      const reading = readTurn(parts, request)
      if (reading.kind === "turn") return finished(model, request, reading, attempts)
      if (reading.kind === "broken") throw reading.error ?? cutStream(model)
      if (!streaming) throw noCalls(model)
      streaming = false
      addWaste(attempts, request, parts)
      onRetry?.(noCalls(model), 0)
    } catch (thrown) {
      addWaste(attempts, request, parts)
      const error = errorOf(thrown, model, signals)
      if (failures >= Math.min(most, error.retries)) throw error
      const delay = retryDelay(error, failures++)
      if (Date.now() + delay >= until) throw error
      onRetry?.(error, delay)
      await wait(delay, ...signals)
    }
  }
}

/** Providers charge for an answer that broke off too, and do not say how much. */
function addWaste(attempts: Attempts, request: ModelRequest, parts: readonly ModelPart[]): void {
  const came = parts.filter((part) => part.type !== "error" && !(part.type === "finish" && part.reason === "error"))
  if (came.length === 0) return
  const usage = estimateUsage(request, { content: came })
  attempts.wasted = attempts.wasted === undefined ? usage : addUsage(attempts.wasted, usage)
}

function usedBy({ price }: LanguageModel, usage: ModelUsage): Pick<ModelTurn, "usage" | "cost"> {
  return price === undefined ? { usage } : { usage, cost: costOf(usage, price) }
}

/** Returns the error to report for something thrown: the reason of the caller's abort is thrown as it is. */
function errorOf(thrown: unknown, { name }: LanguageModel, signals: readonly CancelSignal[]): ModelError {
  throwIfAborted(signals)
  if (thrown instanceof ModelError) return thrown
  return new ModelError("failed", `The model '${name}' failed: ${errorMessage(thrown)}`)
}

function finished(
  model: LanguageModel,
  request: ModelRequest,
  { usage: reported, ...turn }: ReadTurn,
  { wasted, retries }: Attempts,
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
    retries,
    ...usedBy(model, usage),
  }
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
