import type { DaySpending } from "../../core/conversation.ts"
import { retryWhileBusy, type Database } from "./database.ts"

/** Sums the usage of agents by day. All processes count together, and a restart forgets nothing. */
export function daySpending(database: Database): DaySpending {
  return {
    async of(agentId, day) {
      const row = await retryWhileBusy(() =>
        database.prepare("select tokens, cost from agent_days where agent_id = ? and day = ?").get(agentId, day),
      )
      return (row as { tokens: number; cost: number } | undefined) ?? { tokens: 0, cost: 0 }
    },
    async add(agentIds, day, { tokens, cost }) {
      const add = () =>
        database
          .prepare(
            `insert into agent_days (agent_id, day, tokens, cost) select value, ?2, ?3, ?4 from json_each(?1)
             where true on conflict do update set tokens = tokens + excluded.tokens, cost = cost + excluded.cost`,
          )
          .run(JSON.stringify(agentIds), day, tokens, cost)
      await retryWhileBusy(add)
    },
  }
}
