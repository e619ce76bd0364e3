import { queryOptions } from "@tanstack/react-query"
import type { AgentToken } from "../../../src/org/token-admin.ts"
import type { Person } from "../../../src/core/organisation.ts"
import { get } from "../api/http.ts"

const items = <T>(path: string) => get<{ items: T[] }>(path).then((answer) => answer.items)

export const peopleQuery = queryOptions({
  queryKey: ["people"],
  queryFn: async () => (await items<Person>("/v1/people")).filter(({ status }) => status === "active"),
})

export const tokensQuery = queryOptions({ queryKey: ["tokens"], queryFn: () => items<AgentToken>("/v1/tokens") })
