import { parseUrl } from "../../lib/url.ts"
import { failure } from "../../core/ending.ts"
import type { Web, WebResponse, WebRequest } from "../../platform/web/web-access.ts"

export interface SearchResult {
  title: string
  url: string
  snippet: string
}

export interface SearchQuery {
  readonly text: string
  /** The wanted number of results, 20 at most. */
  readonly count: number
  readonly allowedDomains: readonly string[]
  readonly blockedDomains: readonly string[]
  readonly signal: AbortSignal
}

/** A search engine. It names the address of a request beforehand, so that rules apply to it. */
export interface SearchProvider {
  readonly name: string
  readonly address: string
  /** True when the address comes from the configuration. */
  readonly configured: boolean
  search(query: SearchQuery): Promise<SearchResult[]>
}

/** `tools.webSearch`. */
export interface WebSearchOptions {
  readonly provider?: "tavily" | "google" | "bing" | "duckduckgo"
  readonly apiKey?: string
  /** Google's id of the search engine. */
  readonly engineId?: string
  /** Used in place of the provider's own address. */
  readonly baseUrl?: string
  readonly maxResults?: number
}

/** The provider's public address, or the configured one followed by the provider's path. */
export function providerAddress(own: string, path: string, baseUrl: string | undefined): string {
  return `${(baseUrl ?? own).replace(/\/+$/, "")}${path}`
}

/** The key. Fails with a sentence that says where to set it. */
export function requireApiKey(name: string, key: string | undefined): string {
  if (key !== undefined && key.trim() !== "") return key.trim()
  throw failure(
    `Searching with ${name} needs a key. A person must set the environment variable WEB_SEARCH_API_KEY, or tools.webSearch.apiKey in the configuration.`,
    { toolCode: "search_key_missing" },
  )
}

/** Sends a request to a provider. Its error texts are not passed on, because they may repeat the key. */
export async function askProvider(name: string, web: Web, request: WebRequest): Promise<WebResponse> {
  const answer = await web.send({ maxBytes: 5 * 1024 * 1024, redirects: "same-host", ...request })
  const { status } = answer
  if (status >= 200 && status < 300) return answer
  const [toolCode, sentence] =
    status === 401 || status === 403
      ? ["search_key_refused", "does not accept the key. A person must check tools.webSearch.apiKey."]
      : status === 429 || status === 432 || status === 433
        ? ["search_limit", "has been asked too often for now. Try later."]
        : ["search_failed", "could not search. Try other words, or later."]
  throw failure(`${name} ${sentence} It answered ${status}.`, {
    toolCode,
    transient: status >= 500,
    metadata: { status },
  })
}

/** The provider's response as JSON. */
export function readProviderJson(name: string, { bytes, truncated }: WebResponse): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"))
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  const why = truncated ? "too much to be read" : "no JSON"
  throw failure(`${name} answered ${why}. Try again, or set tools.webSearch.provider to another.`, {
    toolCode: "bad_answer",
  })
}

/** Reads results from a list of entries with these field names. Entries without a web address are left out. */
export function readResults(list: unknown, names: Readonly<Record<keyof SearchResult, string>>): SearchResult[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    const part = (name: string) => textOf((entry as Record<string, unknown> | null)?.[name])
    return resultOf(part(names.title), part(names.url), part(names.snippet))
  })
}

export function resultOf(title: string, url: string, snippet: string): SearchResult[] {
  if (!/^https?:$/.test(parseUrl(url)?.protocol ?? "")) return []
  return [{ title: title === "" ? url : title, url, snippet: snippet.slice(0, 1000) }]
}

/** The query with domains as `site:` terms, for providers without a parameter for them. */
export function withDomains({ text, allowedDomains, blockedDomains }: SearchQuery): string {
  const only = allowedDomains.map((domain) => `site:${domain}`).join(" OR ")
  const without = blockedDomains.map((domain) => `-site:${domain}`)
  return [text, ...(only === "" ? [] : [`(${only})`]), ...without].join(" ")
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.replace(/\s+/g, " ").trim() : ""
}
