import { failure } from "../../core/ending.ts"
import type { Tool } from "../../core/tool.ts"
import { needsVariables } from "../../core/unset-variables.ts"
import type { Pages, Web } from "../../platform/web/web-access.ts"
import { bing } from "./bing.ts"
import { duckduckgo } from "./duckduckgo.ts"
import { google } from "./google.ts"
import { httpGet } from "./http-get.ts"
import { httpPost } from "./http-post.ts"
import { httpRequest } from "./http-request.ts"
import type { SearchProvider, WebSearchOptions } from "./search-provider.ts"
import { tavily } from "./tavily.ts"
import { webFetch } from "./web-fetch.ts"
import { webSearch } from "./web-search.ts"

export interface NetworkOptions {
  /** `trusting` returns a web that may also reach a configured private address. */
  readonly web: Web & { trusting(address: string): Web }
  readonly pages: Pages
  /** `tools.webSearch`. Default: DuckDuckGo, which needs no key. */
  readonly webSearch?: WebSearchOptions
  /** Variables in `tools.webSearch` that are not set: a search fails and names them. */
  readonly unset?: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
}

export const networkTools = (options: NetworkOptions): Tool[] => {
  const { web, pages } = options
  return [
    httpRequest(web, pages),
    httpGet(web, pages),
    httpPost(web, pages),
    webFetch(web, pages),
    webSearch(unlessUnset(searchProvider(options), options.unset ?? []), options.webSearch?.maxResults),
  ]
}

function unlessUnset(provider: SearchProvider, unset: readonly string[]): SearchProvider {
  if (unset.length === 0) return provider
  return {
    ...provider,
    search() {
      throw failure(`tools.webSearch ${needsVariables(unset)}. A person must set it.`, {
        toolCode: "search_key_missing",
      })
    },
  }
}

/** The configured provider. */
export function searchProvider({ web, pages, webSearch = {}, environment }: NetworkOptions): SearchProvider {
  const { provider = "duckduckgo", baseUrl } = webSearch
  const reached = baseUrl === undefined ? web : web.trusting(baseUrl)
  const own = provider === "tavily" ? environment["TAVILY_API_KEY"] : undefined
  const options = { ...webSearch, apiKey: webSearch.apiKey ?? environment["WEB_SEARCH_API_KEY"] ?? own }
  switch (provider) {
    case "tavily":
      return tavily(reached, options)
    case "google":
      return google(reached, options, Date.now)
    case "bing":
      return bing(reached, options)
    case "duckduckgo":
      return duckduckgo(reached, pages, options)
  }
}
