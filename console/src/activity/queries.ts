import { queryOptions } from "@tanstack/react-query"
import type { ActivityJson, LaneJson, SpanJson } from "../../../src/interfaces/http/routes/activity-schemas.ts"
import { get } from "../api/http.ts"
import type { CallFacts } from "../steps/ticks.ts"

export interface Filter {
  readonly agent?: string
  readonly tool?: string
  readonly verdict?: string
}

export const activityQuery = ({ agent, tool, verdict }: Filter, limit?: number) => {
  const query = new URLSearchParams()
  if (agent !== undefined) query.set("agentId", agent)
  if (tool !== undefined) query.set("tool", tool)
  if (verdict !== undefined) query.set("verdict", verdict)
  if (limit !== undefined) query.set("limit", String(limit))
  return queryOptions({
    queryKey: ["activity", query.toString()],
    queryFn: () => get<ActivityJson>(`/v1/activity?${query.toString()}`),
    placeholderData: (before: ActivityJson | undefined) => before,
  })
}

export type CallOfAgent = SpanJson & { readonly agentId: string }

/** All calls of all lanes, newest first. */
export const callsOf = (lanes: readonly LaneJson[]): readonly CallOfAgent[] =>
  lanes
    .flatMap(({ agentId, spans }) => spans.map((span) => ({ ...span, agentId })))
    .toSorted((one, other) => other.from - one.from)

/** Returns the state of a call of a lane, for its seven ticks. */
export function factsOf({ verdict, code, waits }: SpanJson): CallFacts {
  const states = { runs: "running", waits: "waiting", held: "held" } as const
  const state = verdict === "runs" || verdict === "waits" || verdict === "held" ? states[verdict] : "ended"
  return { state, code, asked: waits.length > 0 || verdict === "waits", held: verdict === "held" }
}
