import { queryOptions, useQuery } from "@tanstack/react-query"
import type { AuditRowJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import type { Digest, Inbox, Me, Refused, Standing, Suggestion } from "../../../src/interfaces/http/routes/schemas.ts"
import { setServerTime } from "./clock.ts"
import { get } from "./http.ts"

/** Reads something that carries the server's time, and sets the clock by it. */
async function timed<T extends { now: number }>(path: string): Promise<T> {
  const answer = await get<T>(path)
  setServerTime(answer.now)
  return answer
}

export const meQuery = queryOptions({ queryKey: ["me"], queryFn: () => timed<Me>("/v1/me") })

/** The person at the browser. Pages are shown only to somebody who is signed in. */
export function useMe(): Me {
  const { data } = useQuery(meQuery)
  if (data === undefined) throw new Error("Nobody is signed in.")
  return data
}

/** Also read twice a minute, in case the stream is silent for a reason nobody sees. */
export const inboxQuery = queryOptions({
  queryKey: ["approvals"],
  queryFn: () => timed<Inbox>("/v1/approvals"),
  refetchInterval: 30_000,
})

/** Finds the state of a card that is not in the list, asked once for what was last seen of it. */
export const standingQuery = (callId: string, seen: string) =>
  queryOptions({
    queryKey: ["card", callId, seen],
    queryFn: () => get<Standing>(`/v1/approvals/${encodeURIComponent(callId)}/standing`),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

export const refusedQuery = (since: number) =>
  queryOptions({
    queryKey: ["refused", since],
    queryFn: () => get<{ items: Refused[]; total: number }>(`/v1/refused?since=${since}`),
  })

export const suggestionsQuery = queryOptions({
  queryKey: ["suggestions"],
  queryFn: async () => (await get<{ items: Suggestion[] }>("/v1/rules/suggestions")).items,
})

export const digestQuery = (since: number) =>
  queryOptions({
    queryKey: ["digest", since],
    queryFn: () => get<Digest>(`/v1/digest?since=${since}`),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The newest calls that have ended. */
export const callsQuery = queryOptions({
  queryKey: ["calls", "newest"],
  queryFn: async () => (await get<{ items: AuditRowJson[] }>("/v1/audit?limit=200")).items,
})
