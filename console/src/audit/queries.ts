import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query"
import type { AuditRowJson, Charts } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { serverNow } from "../api/clock.ts"
import { get, post } from "../api/http.ts"

export const spans = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 30 * 86_400_000 } as const
export type Span = keyof typeof spans | "always" | "range"

/** The filters, as the address has them. `from` and `to` are local times for the span `range`. */
export interface AuditSearch {
  readonly agent?: string
  readonly tool?: string
  readonly ending?: string
  readonly task?: string
  readonly last?: string
  readonly from?: string
  readonly to?: string
}

export const spanOf = ({ last }: AuditSearch): Span =>
  last !== undefined && (last in spans || last === "always" || last === "range") ? (last as Span) : "day"

const timeOf = (local: string | undefined): number | undefined => {
  const at = local === undefined ? Number.NaN : Date.parse(local)
  return Number.isNaN(at) ? undefined : at
}

/** The begin and end that a search means now. */
export function rangeOf(search: AuditSearch, now: number): { since?: number; until?: number } {
  const span = spanOf(search)
  if (span === "always") return {}
  if (span !== "range") return { since: now - spans[span] }
  const since = timeOf(search.from)
  const until = timeOf(search.to)
  return { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
}

/** The same filters as the API takes them. */
export function paramsOf(search: AuditSearch, now = serverNow()): URLSearchParams {
  const { agent, tool, ending, task } = search
  const params = { agentId: agent, tool, status: ending, taskId: task, ...rangeOf(search, now) }
  const given = Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return new URLSearchParams(given)
}

/** Old calls never change and new ones are shown when somebody wants them: no event makes these old. */
const onlyWhenAsked = { staleTime: 30_000, refetchOnWindowFocus: false } as const

export const rowsQuery = (search: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: ["ended", "rows", search],
    initialPageParam: "",
    queryFn: ({ pageParam }) => {
      const params = paramsOf(search)
      if (pageParam !== "") params.set("cursor", pageParam)
      return get<{ items: AuditRowJson[]; cursor?: string }>(`/v1/audit?${params.toString()}`)
    },
    getNextPageParam: ({ cursor }) => cursor,
    ...onlyWhenAsked,
  })

/** The longest time that is drawn. */
const mostMs = 90 * 86_400_000

export const chartsQuery = (search: AuditSearch) =>
  queryOptions({
    queryKey: ["ended", "charts", search],
    queryFn: () => {
      const now = serverNow()
      const params = paramsOf(search, now)
      if (!params.has("since")) params.set("since", String((rangeOf(search, now).until ?? now) - mostMs))
      return get<Charts>(`/v1/audit/charts?${params.toString()}`)
    },
    ...onlyWhenAsked,
  })

export type Verified =
  | { readonly ok: true; readonly records: number; readonly chains: number }
  | { readonly ok: false; readonly problem: string; readonly record: string }

/** Reads the whole log: only when somebody says so. */
export const verifyQuery = queryOptions({
  queryKey: ["verify"],
  queryFn: () => post<Verified>("/v1/audit/verify"),
  enabled: false,
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
})
