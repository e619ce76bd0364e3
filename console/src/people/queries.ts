import { queryOptions } from "@tanstack/react-query"
import type { AgentToken } from "../../../src/org/token-admin.ts"
import type { PersonRowJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { get } from "../api/http.ts"

const items = <T>(path: string) => get<{ items: T[] }>(path).then((answer) => answer.items)

export const peopleQuery = queryOptions({
  queryKey: ["people"],
  queryFn: async () => (await items<PersonRowJson>("/v1/people")).filter((person) => person["status"] === "active"),
})

export const tokensQuery = queryOptions({ queryKey: ["tokens"], queryFn: () => items<AgentToken>("/v1/tokens") })
