import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import type { Explanation } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import type {
  RememberedAnswerJson,
  RuleChoicesJson,
  RulePageJson,
  ShownRuleJson,
  SimulateBody,
  SimulationJson,
  TriedJson,
  TryBody,
  WholeRuleJson,
} from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import { get, post, put, remove } from "../api/http.ts"

/** A rule as it is written. */
export type WrittenRule = Readonly<Record<string, unknown>>

const one = (id: string) => `/v1/rules/${encodeURIComponent(id)}`

export const rulesQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ["rules", "list", search],
    queryFn: ({ pageParam }) => {
      const query = new URLSearchParams({ limit: "100" })
      if (search !== "") query.set("search", search)
      if (pageParam !== undefined) query.set("cursor", pageParam)
      return get<RulePageJson>(`/v1/rules?${query.toString()}`)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    placeholderData: (before) => before,
  })

export const ruleQuery = (id: string) =>
  queryOptions({ queryKey: ["rules", "one", id], queryFn: () => get<WholeRuleJson>(one(id)), retry: false })

export const choicesQuery = queryOptions({
  queryKey: ["rules", "choices"],
  queryFn: () => get<RuleChoicesJson>("/v1/rules/choices"),
  staleTime: 60_000,
})

export const grantsQuery = (agentId?: string) =>
  queryOptions({
    queryKey: ["rules", "grants", agentId ?? ""],
    queryFn: async () =>
      (
        await get<{ items: RememberedAnswerJson[] }>(
          `/v1/grants${agentId === undefined ? "" : `?agentId=${encodeURIComponent(agentId)}`}`,
        )
      ).items,
  })

export const tryRule = (body: TryBody) => post<TriedJson>("/v1/rules/try", body)
export const simulate = (body: SimulateBody) => post<SimulationJson>("/v1/rules/simulate", body)
export const addRule = (rule: WrittenRule) => post<ShownRuleJson>("/v1/rules", { rule })
export const changeRule = (id: string, rule: WrittenRule, revision: string) =>
  put<ShownRuleJson>(one(id), { rule, revision })
export const removeRule = (id: string) => remove(one(id))
export const revoke = (id: string) => remove(`/v1/grants/${encodeURIComponent(id)}`)
export const askWhy = (agentId: string, tool: string, input: unknown) =>
  post<Explanation>("/v1/why", { agentId, tool, input })
