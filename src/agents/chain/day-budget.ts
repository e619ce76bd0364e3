import type { DaySpending } from "../../core/conversation.ts"
import type { ModelTurn } from "../models/port.ts"
import { budgetText, type Budget } from "./budget.ts"

/** The budget of an agent for a day, over all its conversations and those of its sub-agents. */
export interface DayBudget {
  /** Counts what a request to the model used. */
  add(used: Pick<ModelTurn, "usage" | "cost">): void
  /** A sentence when the agent, or one above it, has used up its day. */
  usedUp(): Promise<string | undefined>
}

/**
 * Days begin at midnight UTC. What an agent uses counts for those above it too, as its calls do for their limits: else an
 * agent could go on through agents that it creates.
 */
export function dayBudget(
  { maxTokens = Infinity, maxCost = Infinity }: Omit<Budget, "maxCalls">,
  spending: DaySpending,
  agentIds: () => readonly string[],
): DayBudget {
  let written = Promise.resolve()
  const today = () => new Date().toISOString().slice(0, 10)
  return {
    add({ usage, cost = 0 }) {
      const used = { tokens: usage.inputTokens + usage.outputTokens, cost }
      const adding = spending.add(agentIds(), today(), used)
      written = written.then(() => adding)
      // The next question finds out.
      written.catch(() => {})
    },
    async usedUp() {
      await written
      for (const agentId of agentIds()) {
        const { tokens, cost } = await spending.of(agentId, today())
        if (tokens < maxTokens && cost < maxCost) continue
        const given = budgetText({
          maxTokens: Number.isFinite(maxTokens) ? maxTokens : undefined,
          maxCost: Number.isFinite(maxCost) ? maxCost : undefined,
        })
        return `Agent ${agentId} has used up its budget of the day (agents.budgetPerDay: ${given}). It goes on after midnight UTC, or when the configuration gives it more.`
      }
      return undefined
    },
  }
}
