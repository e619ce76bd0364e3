import type { NewTurn } from "../../core/conversation.ts"
import type { ActiveChain } from "./chain.ts"
import { callsIn } from "./next-step.ts"
import { resultsByRef } from "./result-refs.ts"
import { placeKey } from "./call-context.ts"
import { textLimit, toldResult } from "./run-calls.ts"
import { unanswered, type CallResult } from "../context/turns.ts"

/**
 * Ends what the last run waits for, and returns the answers to its open calls as a turn to store: those that have run keep
 * their results, the others are answered with the reason.
 */
export async function giveUpCalls(
  { app, log, calls: context, spent }: ActiveChain,
  because: string,
): Promise<NewTurn[]> {
  const open = unanswered(log.turns)
  const calls = open?.body.calls ?? []
  const places = calls.map((_, place) => placeKey(open?.index ?? 0, place))
  const keys = places.map((place) => `${log.id}/${place}`)
  const ended = await app.endCalls({ sessionId: log.id, agentId: context.request.agentId, because, keys })
  if (open === undefined) return []
  const { size } = resultsByRef(log.turns)
  const limit = textLimit(context, calls.length)
  const results = await Promise.all(
    calls.map(async (call, place): Promise<CallResult> => {
      const ref = `r${size + place + 1}`
      const result = context.ended.get(places[place]!) ?? ended.get(keys[place]!)
      if (result !== undefined) return toldResult({ call }, ref, result, context, limit, undefined)
      return { ref, id: call.id, name: call.name, text: `NOT EXECUTED. ${because}`, isError: true }
    }),
  )
  context.ended.clear()
  context.held.clear()
  spent.calls += callsIn({ results })
  return [{ kind: "results", body: { results } }]
}
