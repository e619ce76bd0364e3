import { parseUrl } from "../../lib/url.ts"
import { failure } from "../../core/ending.ts"
import type { Pages, Web, WebResponse } from "../../platform/web/web-access.ts"
import {
  providerAddress,
  askProvider,
  readProviderJson,
  resultOf,
  readResults,
  withDomains,
} from "./search-provider.ts"
import type { SearchProvider, SearchResult, WebSearchOptions } from "./search-provider.ts"

/** DuckDuckGo's HTML page, which needs no key. Answers of its Instant Answer API are understood too. */
export function duckduckgo(web: Web, pages: Pages, { baseUrl }: WebSearchOptions): SearchProvider {
  const address = providerAddress("https://html.duckduckgo.com", "/html/", baseUrl)
  return {
    name: "duckduckgo",
    address,
    configured: baseUrl !== undefined,
    async search(query) {
      const wanted = new URLSearchParams({ q: withDomains(query), format: "json", no_html: "1" })
      const request = { url: `${address}?${wanted.toString()}`, signal: query.signal }
      const answer = await askProvider("duckduckgo", web, request)
      const isJson = /json|javascript/i.test(answer.headers["content-type"] ?? "") || answer.bytes[0] === 0x7b
      return isJson
        ? instantAnswers(readProviderJson("duckduckgo", answer))
        : resultsOfPage(answer, pages, query.signal)
    },
  }
}

async function resultsOfPage(answer: WebResponse, pages: Pages, signal: AbortSignal): Promise<SearchResult[]> {
  const html = (await pages.text(answer))?.text ?? ""
  const rows = await pages.find(html, { each: ".result:not(.result--ad)", parts }, signal)
  if (rows.length === 0 && (await pages.find(html, challenge, signal)).length > 0) throw challenged()
  return rows.flatMap(({ title = "", url = "", snippet = "" }) => resultOf(title, leadsTo(url), snippet))
}

const parts = { title: ".result__a", url: ".result__a@href", snippet: ".result__snippet" }
const challenge = { each: "#challenge-form, .anomaly-modal__title, .anomaly-modal__mask", parts: {} }

/** Its links are redirects with the target in the query. */
function leadsTo(link: string): string {
  const url = parseUrl(link, "https://duckduckgo.com")
  if (url === undefined) return ""
  return url.hostname.endsWith("duckduckgo.com") ? (url.searchParams.get("uddg") ?? "") : url.href
}

function instantAnswers(answer: Record<string, unknown>): SearchResult[] {
  const { Heading, AbstractText, AbstractURL, Results, RelatedTopics } = answer
  const summary = readResults([{ title: Heading, url: AbstractURL, snippet: AbstractText }], names)
  return [...summary, ...topics(Results), ...topics(RelatedTopics)]
}

const names = { title: "title", url: "url", snippet: "snippet" } as const

/** A topic is a link or a named list of links. */
function topics(list: unknown): SearchResult[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((topic: Record<string, unknown> | null) => {
    const { FirstURL, Text, Topics } = topic ?? {}
    if (Topics !== undefined) return topics(Topics)
    const title = typeof Text === "string" ? Text.split(" - ", 1)[0] : ""
    return readResults([{ title, url: FirstURL, snippet: Text }], names)
  })
}

function challenged(): Error {
  return failure(
    "DuckDuckGo wants to see a person before it searches. Try later; or a person sets tools.webSearch.provider to tavily.",
    { toolCode: "search_refused" },
  )
}
