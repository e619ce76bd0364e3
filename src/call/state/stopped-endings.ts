import { Ending } from "../../core/ending.ts"
import type { Ports } from "./ports.ts"
import type { ActiveCall } from "./active-call.ts"

/** Ends the call if its caller has cancelled it. */
export function throwIfAborted(call: ActiveCall): void {
  if (call.request.signal?.aborted) throw abortedEnding(call)
}

export function abortedEnding(call: ActiveCall): Ending {
  return new Ending(
    "aborted",
    call.ran ? "The call was cancelled while it ran." : "The call was cancelled before it ran.",
  )
}

export function agentEndedSentence(agentId: string): string {
  return `Agent ${agentId} was ended, and its calls with it.`
}

export function tokenRevokedSentence(tokenId: string): string {
  return `The token ${tokenId} that this call used was revoked or has expired, so the call was ended.`
}

/** The ending of a call whose agent was ended, or whose token was revoked, while it waited. */
export function callerGoneEnding({ request }: ActiveCall, ports: Ports): Ending | undefined {
  const { agentId, tokenId } = request
  if (ports.organisation.view(agentId) === undefined) return new Ending("aborted", agentEndedSentence(agentId))
  return tokenId === undefined || ports.isTokenValid(tokenId)
    ? undefined
    : new Ending("aborted", tokenRevokedSentence(tokenId))
}

/** The ending of a call whose agent was ended or frozen after it was decided on. */
export function agentStoppedEnding({ request }: ActiveCall, ports: Ports): Ending | undefined {
  const { agentId } = request
  const who = ports.organisation.view(agentId)
  if (who === undefined) return new Ending("aborted", agentEndedSentence(agentId))
  if (who.frozen === undefined) return undefined
  return new Ending("frozen", `Agent ${agentId} was frozen by ${who.frozen.by} before the tool ran.`)
}
