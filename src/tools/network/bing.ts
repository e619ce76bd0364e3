import { failure } from "../../model/ending.ts"
import type { Web } from "../../model/web.ts"
import { addressAt, askProvider, keyOf, readJson, resultsIn, withDomains } from "./search-provider.ts"
import type { SearchProvider, WebSearchOptions } from "./search-provider.ts"

/** Bing's Web Search API v7. Its public service has ended; what speaks like it is reached by `baseUrl`. */
export function bing(web: Web, { apiKey, baseUrl }: WebSearchOptions): SearchProvider {
  const address = addressAt("https://api.bing.microsoft.com", "/v7.0/search", baseUrl)
  return {
    name: "bing",
    address,
    configured: baseUrl !== undefined,
    async search(query) {
      if (baseUrl === undefined) throw ended()
      const headers = { "ocp-apim-subscription-key": keyOf("bing", apiKey) }
      const wanted = new URLSearchParams({
        q: withDomains(query),
        count: String(query.count),
        responseFilter: "Webpages",
      })
      const request = { url: `${address}?${wanted.toString()}`, headers, signal: query.signal }
      const { webPages } = readJson("bing", await askProvider("bing", web, request))
      const list = (webPages as { value?: unknown } | null | undefined)?.value
      return resultsIn(list, { title: "name", url: "url", snippet: "snippet" })
    },
  }
}

function ended(): Error {
  return failure(
    "The Bing Search API has ended (11 August 2025). A person must set tools.webSearch.provider to tavily or duckduckgo.",
    { toolCode: "search_provider_ended" },
  )
}
