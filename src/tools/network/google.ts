import { failure } from "../../core/ending.ts"
import type { Web } from "../../platform/web/web-access.ts"
import {
  providerAddress,
  askProvider,
  requireApiKey,
  readProviderJson,
  readResults,
  withDomains,
} from "./search-provider.ts"
import type { SearchProvider, SearchResult, WebSearchOptions } from "./search-provider.ts"

/** Google's Custom Search JSON API. It is open to existing customers only, and ends on this day. */
const endsAt = Date.UTC(2027, 0, 1)
const pageSize = 10

export function google(web: Web, options: WebSearchOptions, now: () => number): SearchProvider {
  const { apiKey, engineId, baseUrl } = options
  const address = providerAddress("https://www.googleapis.com", "/customsearch/v1", baseUrl)
  return {
    name: "google",
    address,
    configured: baseUrl !== undefined,
    async search(query) {
      if (baseUrl === undefined && now() >= endsAt) throw ended()
      const key = requireApiKey("google", apiKey)
      if (engineId === undefined || engineId === "") throw engineMissing()
      const results: SearchResult[] = []
      for (let start = 1; results.length < query.count && start <= query.count; start += pageSize) {
        const wanted = {
          key,
          cx: engineId,
          q: withDomains(query),
          num: String(Math.min(pageSize, query.count)),
          start: String(start),
        }
        const request = { url: `${address}?${new URLSearchParams(wanted).toString()}`, signal: query.signal }
        const { items } = readProviderJson("google", await askProvider("google", web, request))
        const found = readResults(items, { title: "title", url: "link", snippet: "snippet" })
        results.push(...found)
        if (found.length < pageSize) break
      }
      return results
    },
  }
}

function engineMissing(): Error {
  return failure(
    "Searching with google needs the id of a search engine. A person must set tools.webSearch.engineId in the configuration.",
    { toolCode: "search_engine_missing" },
  )
}

function ended(): Error {
  return failure(
    "Google's Custom Search JSON API has ended (1 January 2027). A person must set tools.webSearch.provider to tavily or duckduckgo.",
    { toolCode: "search_provider_ended" },
  )
}
