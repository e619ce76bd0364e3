import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SearchProvider, SearchResult } from "./search-provider.ts"

const most = 20
const count = z.number().int().min(1).max(most).optional()
const domains = z
  .array(z.string().regex(/^[a-z0-9.-]+$/i, "is no domain; write it like example.com"))
  .max(20)
  .optional()

/** Searches the web. It touches the hosts of its provider. */
export const webSearch = (provider: SearchProvider, usual = 10) =>
  defineTool({
    name: "web_search",
    group: "network",
    category: "network",
    description: "Search the web. Each result has a title, an address and a snippet; read one with web_fetch.",
    effect: "network",
    idempotent: true,
    input: () =>
      z
        .object({
          query: z.string().trim().min(1).max(1000).describe("What to search for, for example: node 20 end of life"),
          maxResults: count.describe(`How many results at most; ${Math.min(usual, most)} when left out`),
          limit: count.describe("The same as maxResults"),
          allowedDomains: domains.describe("Only results of these domains and their subdomains"),
          blockedDomains: domains.describe("No results of these domains; not together with allowedDomains"),
        })
        .refine(({ maxResults, limit }) => maxResults === undefined || limit === undefined || maxResults === limit, {
          message: "and maxResults say different things",
          path: ["limit"],
        })
        .refine(({ allowedDomains, blockedDomains }) => allowedDomains === undefined || blockedDomains === undefined, {
          message: "cannot stand together with allowedDomains",
          path: ["blockedDomains"],
        }),
    output: () =>
      z.object({
        results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string() })),
        provider: z.string(),
      }),
    touches: () => [{ kind: "host", what: provider.address, ...(provider.configured ? { configured: true } : {}) }],
    preview: ({ query }) => `Search with ${provider.name}: ${query}`,

    async execute({ query, maxResults, limit, allowedDomains = [], blockedDomains = [] }, { signal }) {
      const wanted = maxResults ?? limit ?? Math.min(usual, most)
      const asked = { text: query, count: wanted, allowedDomains, blockedDomains, signal }
      const found = await provider.search(asked)
      const fitting = found.filter((one) => fits(one, allowedDomains, blockedDomains))
      return { results: unique(fitting).slice(0, wanted), provider: provider.name }
    },
  })

function fits({ url }: SearchResult, allowed: readonly string[], blocked: readonly string[]): boolean {
  const { hostname } = new URL(url)
  const isOf = (domain: string) => hostname === domain.toLowerCase() || hostname.endsWith(`.${domain.toLowerCase()}`)
  return (allowed.length === 0 || allowed.some(isOf)) && !blocked.some(isOf)
}

function unique(results: readonly SearchResult[]): SearchResult[] {
  return [...new Map(results.toReversed().map((one) => [one.url, one])).values()].toReversed()
}
