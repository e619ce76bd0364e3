import { canonicalJson } from "../../lib/canonical-json.ts"
import { withoutIntent } from "../../schema/intent-text.ts"
import type { ModelCall } from "../models/port.ts"
import { currentRun, type CallResult, type ChainTurn } from "../context/turns.ts"

/** The third time a model makes the same call after two same results, it is told to do something else. */
const mostSameResults = 2

/**
 * Reports whether this call was made before in this run, often enough and with the same result every time. Results
 * that the model is no longer shown do not count: it may read them again.
 */
export function isRepeated(call: ModelCall, turns: readonly ChainTurn[]): boolean {
  let key: string | undefined
  const texts: string[] = []
  let calls: readonly ModelCall[] = []
  let isShown: ReturnType<typeof shownResults> | undefined
  for (const turn of currentRun(turns)) {
    if (turn.kind === "assistant") calls = turn.body.calls
    if (turn.kind !== "results") continue
    for (const [place, result] of turn.body.results.entries()) {
      const made = calls[place]
      if (result.callId === undefined || made?.name !== call.name) continue
      isShown ??= shownResults(turns)
      if (!isShown(turn, result)) continue
      key ??= sameCallKey(call)
      if (sameCallKey(made) === key) texts.push(result.text)
    }
  }
  const last = texts.slice(-mostSameResults)
  return last.length === mostSameResults && last.every((text) => text === last[0])
}

/** The same call with another reason is the same call. */
export function sameCallKey({ name, input }: ModelCall): string {
  if (input === undefined) return name
  return `${name} ${canonicalJson(withoutIntent(input).input)}`
}

/** Tells whether a result is shown to the model: not as a reference only, and not behind a summary. */
function shownResults(turns: readonly ChainTurn[]): (turn: ChainTurn, result: CallResult) => boolean {
  const references = new Set(turns.flatMap((turn) => (turn.kind === "references" ? turn.body.refs : [])))
  const start = turns.findLast((turn) => turn.kind === "summary")?.body.before ?? 0
  return ({ index }, { ref }) => index >= start && !references.has(ref)
}
