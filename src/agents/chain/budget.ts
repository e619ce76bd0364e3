import { isTicket, type Ticket } from "../../model/result.ts"
import { budgetToolName } from "./loop-tools.ts"
import type { TurnLog } from "./log.ts"
import type { CallContext } from "./run-calls.ts"
import type { BudgetTurn, ChainTurn } from "./turns.ts"

/** What a conversation may use, together with those that it began. */
export interface Budget {
  maxTokens?: number | undefined
  maxCost?: number | undefined
}

export function isUnlimited({ maxTokens, maxCost }: Budget): boolean {
  return maxTokens === undefined && maxCost === undefined
}

/**
 * Asks a person for more when the budget is used up. Returns undefined when the run may go on; else the ticket of the
 * question that waits, or a sentence when nobody gave more.
 */
export async function checkBudget(
  budget: Budget,
  { root, isStored }: TurnLog,
  { app, request, waitMs }: CallContext,
): Promise<{ waiting: Ticket } | { usedUp: string } | undefined> {
  const { inputTokens, outputTokens, cost } = await root.spent()
  const tokens = inputTokens + outputTokens
  if (isWithin(budget, tokens, cost)) return undefined
  const given = answersOf(await root.turns())
  const now = extended(budget, given)
  if (isWithin(now, tokens, cost)) return undefined
  const input = { conversation: root.id, ...now, moreTokens: budget.maxTokens, moreCost: budget.maxCost }
  // All conversations of the tree make the same call, so that people are asked once.
  const key = isStored ? `${root.id}/budget/${given.length}` : undefined
  const asked = { ...request, agentId: root.agentId, sessionId: root.id, tool: budgetToolName, input, key }
  const [ended] = await app.callBatch([asked], { waitMs })
  if (ended === undefined || isTicket(ended)) return ended && { waiting: ended }
  if (request.signal?.aborted === true) return undefined
  const more = ended.success ? (ended.result as Omit<BudgetTurn, "callId">) : { moreTokens: 0, moreCost: 0 }
  await root.post({ kind: "budget", body: { callId: ended.callId, ...more } satisfies BudgetTurn })
  if (isWithin(extended(now, [{ callId: ended.callId, ...more }]), tokens, cost)) return undefined
  return { usedUp: `The budget of the conversation is used up (${textOf(now)}), and nobody gave it more.` }
}

function isWithin({ maxTokens = Infinity, maxCost = Infinity }: Budget, tokens: number, cost: number): boolean {
  return tokens < maxTokens && cost < maxCost
}

/** What people answered, each question once. */
function answersOf(turns: readonly ChainTurn[]): BudgetTurn[] {
  const byCall = new Map(turns.flatMap((turn) => (turn.kind === "budget" ? [[turn.body.callId, turn.body]] : [])))
  return [...byCall.values()]
}

function extended({ maxTokens, maxCost }: Budget, given: readonly BudgetTurn[]): Budget {
  return {
    maxTokens: maxTokens && given.reduce((sum, { moreTokens }) => sum + moreTokens, maxTokens),
    maxCost: maxCost && given.reduce((sum, { moreCost }) => sum + moreCost, maxCost),
  }
}

function textOf({ maxTokens, maxCost }: Budget): string {
  return [
    ...(maxTokens === undefined ? [] : [`${maxTokens} tokens`]),
    ...(maxCost === undefined ? [] : [`${maxCost} in money`]),
  ].join(", ")
}
