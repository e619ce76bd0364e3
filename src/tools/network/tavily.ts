import type { Web } from "../../platform/web/web-access.ts"
import { providerAddress, askProvider, requireApiKey, readProviderJson, readResults } from "./search-provider.ts"
import type { SearchProvider, WebSearchOptions } from "./search-provider.ts"

export function tavily(web: Web, { apiKey, baseUrl }: WebSearchOptions): SearchProvider {
  const address = providerAddress("https://api.tavily.com", "/search", baseUrl)
  return {
    name: "tavily",
    address,
    configured: baseUrl !== undefined,
    async search({ text, count, allowedDomains, blockedDomains, signal }) {
      const wanted = {
        query: text,
        max_results: count,
        ...(allowedDomains.length === 0 ? {} : { include_domains: allowedDomains }),
        ...(blockedDomains.length === 0 ? {} : { exclude_domains: blockedDomains }),
      }
      const headers = { authorization: `Bearer ${requireApiKey("tavily", apiKey)}`, "content-type": "application/json" }
      const request = { url: address, method: "POST", headers, body: JSON.stringify(wanted), signal }
      const { results } = readProviderJson("tavily", await askProvider("tavily", web, request))
      return readResults(results, { title: "title", url: "url", snippet: "content" })
    },
  }
}
