import { readUrl } from "../../model/address.ts"
import { failure } from "../../model/ending.ts"
import type { Web, WebAnswer, WebRequest } from "../../model/web.ts"

export interface SearchResult {
  title: string
  url: string
  snippet: string
}

export interface SearchQuery {
  readonly text: string
  /** How many results are wanted, 20 at most. */
  readonly count: number
  readonly allowedDomains: readonly string[]
  readonly blockedDomains: readonly string[]
  readonly signal: AbortSignal
}

/** A search engine. It says before it is asked where it asks, so that rules can see it. */
export interface SearchProvider {
  readonly name: string
  readonly address: string
  /** The address stands in the configuration. */
  readonly configured: boolean
  search(query: SearchQuery): Promise<SearchResult[]>
}

/** `tools.webSearch`. */
export interface WebSearchOptions {
  readonly provider?: "tavily" | "google" | "bing" | "duckduckgo" | undefined
  readonly apiKey?: string | undefined
  /** Google's id of the search engine. */
  readonly engineId?: string | undefined
  /** Asked instead of the provider's own address. */
  readonly baseUrl?: string | undefined
  readonly maxResults?: number | undefined
}

/** The public address of a provider, or what stands for it in the configuration with its path before the provider's. */
export function addressAt(own: string, path: string, baseUrl: string | undefined): string {
  return `${(baseUrl ?? own).replace(/\/+$/, "")}${path}`
}

/** The key, or a sentence that says where it belongs. */
export function keyOf(name: string, key: string | undefined): string {
  if (key !== undefined && key.trim() !== "") return key.trim()
  throw failure(
    `Searching with ${name} needs a key. A person must set the environment variable WEB_SEARCH_API_KEY, or tools.webSearch.apiKey in the configuration.`,
    { toolCode: "search_key_missing" },
  )
}

/** Asks a provider. What it says of itself in an error is not told, because it may repeat the key. */
export async function askProvider(name: string, web: Web, request: WebRequest): Promise<WebAnswer> {
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

/** What a provider answered as JSON. */
export function readJson(name: string, { bytes, truncated }: WebAnswer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"))
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  const why = truncated ? "too much to be read" : "no JSON"
  throw failure(`${name} answered ${why}. Try again, or set tools.webSearch.provider to another.`, {
    toolCode: "bad_answer",
  })
}

/** The results in a list whose entries name their parts so; entries without a web address are left out. */
export function resultsIn(list: unknown, names: Readonly<Record<keyof SearchResult, string>>): SearchResult[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    const part = (name: string) => textOf((entry as Record<string, unknown> | null)?.[name])
    return resultOf(part(names.title), part(names.url), part(names.snippet))
  })
}

export function resultOf(title: string, url: string, snippet: string): SearchResult[] {
  if (!/^https?:$/.test(readUrl(url)?.protocol ?? "")) return []
  return [{ title: title === "" ? url : title, url, snippet: snippet.slice(0, 1000) }]
}

/** The words with the domains, for providers that know no other way to be told them. */
export function withDomains({ text, allowedDomains, blockedDomains }: SearchQuery): string {
  const only = allowedDomains.map((domain) => `site:${domain}`).join(" OR ")
  const without = blockedDomains.map((domain) => `-site:${domain}`)
  return [text, ...(only === "" ? [] : [`(${only})`]), ...without].join(" ")
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.replace(/\s+/g, " ").trim() : ""
}
