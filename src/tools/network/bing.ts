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
import type { SearchProvider, WebSearchOptions } from "./search-provider.ts"

/** Bing's Web Search API v7. The public service has ended; use `baseUrl` for a compatible one. */
export function bing(web: Web, { apiKey, baseUrl }: WebSearchOptions): SearchProvider {
  const address = providerAddress("https://api.bing.microsoft.com", "/v7.0/search", baseUrl)
  return {
    name: "bing",
    address,
    configured: baseUrl !== undefined,
    async search(query) {
      if (baseUrl === undefined) throw ended()
      const headers = { "ocp-apim-subscription-key": requireApiKey("bing", apiKey) }
      const wanted = new URLSearchParams({
        q: withDomains(query),
        count: String(query.count),
        responseFilter: "Webpages",
      })
      const request = { url: `${address}?${wanted.toString()}`, headers, signal: query.signal }
      const { webPages } = readProviderJson("bing", await askProvider("bing", web, request))
      const list = (webPages as { value?: unknown } | null | undefined)?.value
      return readResults(list, { title: "name", url: "url", snippet: "snippet" })
    },
  }
}

function ended(): Error {
  return failure(
    "The Bing Search API has ended (11 August 2025). A person must set tools.webSearch.provider to tavily or duckduckgo.",
    { toolCode: "search_provider_ended" },
  )
}
