import type { IncomingMessage } from "node:http"
import { describe, expect, test } from "vitest"
import type { NetworkOptions } from "./index.ts"
import { bodyOf, openNetworkApp, serveForTest, openNetworkTools } from "./testing.ts"

describe("web_search", () => {
  const secret = "hunter2-key"
  const answers: Record<string, { path: string; body: string; type?: string }> = {
    tavily: {
      path: "/search",
      body: JSON.stringify({ query: "q", response_time: 1.1, results: [{ title: "One", url: "https://one.test/a", content: "First  one.", score: 0.9, raw_content: null }, { title: "Two", url: "https://two.test/", content: "Second.", score: 0.5 }, { title: "Bad", url: "javascript:alert(1)", content: "x" }] }), // prettier-ignore
    },
    google: {
      path: "/customsearch/v1",
      body: JSON.stringify({ kind: "customsearch#search", items: [{ kind: "customsearch#result", title: "One", link: "https://one.test/a", snippet: "First one." }, { title: "Two", link: "https://two.test/", snippet: "Second." }] }), // prettier-ignore
    },
    bing: {
      path: "/v7.0/search",
      body: JSON.stringify({ _type: "SearchResponse", webPages: { totalEstimatedMatches: 2, value: [{ id: "1", name: "One", url: "https://one.test/a", snippet: "First one." }, { name: "Two", url: "https://two.test/", snippet: "Second." }] } }), // prettier-ignore
    },
    duckduckgo: {
      path: "/html/",
      type: "text/html; charset=UTF-8",
      body: `<html><body><div class="result results_links result--ad"><a class="result__a" href="https://ad.test/">Ad</a></div>
        <div class="result results_links web-result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.test%2Fa&amp;rut=abc">One</a></h2><a class="result__snippet" href="#">First <b>one</b>.</a></div>
        <div class="result results_links web-result"><a class="result__a" href="https://two.test/">Two</a><a class="result__snippet">Second.</a></div></body></html>`,
    },
  }
  const expected = [
    { title: "One", url: "https://one.test/a", snippet: "First one." },
    { title: "Two", url: "https://two.test/", snippet: "Second." },
  ]

  async function provider(name: string, more: Partial<NetworkOptions["webSearch"]> = {}, status = 200, text?: string) {
    const seen: { url: URL; headers: IncomingMessage["headers"]; body: string }[] = []
    const { body, type = "application/json" } = answers[name]!
    const answering = { status, text: text ?? body }
    const server = await serveForTest(async (request, response) => {
      seen.push({ url: new URL(request.url!, "http://x"), headers: request.headers, body: await bodyOf(request) })
      response.writeHead(answering.status, { "content-type": type }).end(answering.text)
    })
    const webSearch = { provider: name as "tavily", apiKey: secret, engineId: "cx1", baseUrl: server.at(""), ...more }
    return { ...(await openNetworkApp([], { webSearch })), seen, answering }
  }

  test.each(Object.keys(answers))("finds with %s, at the address of the configuration", async (name) => {
    const { call, seen } = await provider(name)
    const { result, error } = await call("web_search", { query: "two words", maxResults: 5 })
    expect([result, error]).toEqual([{ results: expected, provider: name }, undefined])
    expect(seen.map(({ url }) => url.pathname)).toEqual([answers[name]!.path])
  })

  test("each is asked as it wants to be", async () => {
    const asked = async (name: string) => {
      const { call, seen } = await provider(name)
      await call("web_search", { query: "two words", limit: 3, blockedDomains: ["bad.test"] })
      return seen[0]!
    }
    const tavily = await asked("tavily")
    expect(tavily.headers.authorization).toBe(`Bearer ${secret}`)
    expect(JSON.parse(tavily.body)).toEqual({ query: "two words", max_results: 3, exclude_domains: ["bad.test"] })
    const google = await asked("google")
    expect(Object.fromEntries(google.url.searchParams)).toEqual({
      key: secret,
      cx: "cx1",
      q: "two words -site:bad.test",
      num: "3",
      start: "1",
    })
    const bing = await asked("bing")
    expect(bing.headers["ocp-apim-subscription-key"]).toBe(secret)
    expect(Object.fromEntries(bing.url.searchParams)).toMatchObject({ q: "two words -site:bad.test", count: "3" })
    const duckduckgo = await asked("duckduckgo")
    expect(duckduckgo.url.searchParams.get("q")).toBe("two words -site:bad.test")
  })

  test("the instant answers of DuckDuckGo are read too", async () => {
    const topics = [
      { FirstURL: "https://two.test/", Text: "Two - Second." },
      { Name: "More", Topics: [{ FirstURL: "https://three.test/", Text: "Three" }] },
    ]
    const text = JSON.stringify({
      Heading: "One",
      AbstractText: "First.",
      AbstractURL: "https://one.test/",
      Results: [],
      RelatedTopics: topics,
    })
    const { call } = await provider("duckduckgo", {}, 200, text)
    expect((await call("web_search", { query: "x" })).result).toMatchObject({
      results: [
        { title: "One", url: "https://one.test/", snippet: "First." },
        { title: "Two", url: "https://two.test/", snippet: "Two - Second." },
        { title: "Three", url: "https://three.test/", snippet: "Three" },
      ],
    })
  })

  test("no more results than were wanted, none twice, and only of the domains that were wanted", async () => {
    const result = (title: string, url: string) => ({ title, url, content: "" })
    const text = JSON.stringify({ results: [result("A", "https://a.test/"), result("A again", "https://a.test/"), result("B", "https://sub.b.test/"), result("N", "https://notb.test/")] }) // prettier-ignore
    const search = async (input: object, more = {}) => {
      const { call } = await provider("tavily", more, 200, text)
      const { result } = await call<{ results: { title: string }[] }>("web_search", { query: "x", ...input })
      return result!.results.map(({ title }) => title)
    }
    expect(await search({})).toEqual(["A", "B", "N"])
    expect(await search({ maxResults: 1 })).toEqual(["A"])
    expect(await search({}, { maxResults: 2 })).toEqual(["A", "B"])
    expect(await search({ allowedDomains: ["B.test"] })).toEqual(["B"])
    expect(await search({ blockedDomains: ["b.test", "a.test"] })).toEqual(["N"])
  })

  test("a missing key is a sentence that says where it belongs, and nothing is sent", async () => {
    for (const name of ["tavily", "google", "bing"])
      for (const apiKey of [undefined, ""]) {
        const { call, seen } = await provider(name, { apiKey })
        expect(await call("web_search", { query: "x" })).toMatchObject({
          error: expect.stringMatching(/WEB_SEARCH_API_KEY.*tools\.webSearch\.apiKey/),
          metadata: { toolCode: "search_key_missing" },
        })
        expect(seen).toEqual([])
      }
    const { call } = await provider("google", { engineId: undefined })
    expect((await call("web_search", { query: "x" })).error).toContain("tools.webSearch.engineId")
  })

  test("the key is taken from the environment where the configuration has none", async () => {
    const { at } = await serveForTest((request, response) => {
      const results = [{ title: request.headers.authorization, url: "https://a.test/", content: "" }]
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results }))
    })
    for (const variable of ["WEB_SEARCH_API_KEY", "TAVILY_API_KEY"]) {
      const webSearch = { provider: "tavily" as const, baseUrl: at("/") }
      const { call } = await openNetworkApp([], { webSearch, environment: { [variable]: "k1" } })
      expect((await call("web_search", { query: "x" })).result).toMatchObject({ results: [{ title: "Bearer k1" }] })
    }
  })

  test("a provider whose public service has ended says so and names another", async () => {
    const { call } = await openNetworkApp([], { webSearch: { provider: "bing", apiKey: secret } })
    expect(await call("web_search", { query: "x" })).toMatchObject({
      error: expect.stringMatching(/ended \(11 August 2025\).*tavily or duckduckgo/),
      metadata: { toolCode: "search_provider_ended" },
    })
  })

  test("a refusal of the provider is told by what to do, and the key is in no text", async () => {
    for (const name of Object.keys(answers)) {
      const { call, system, answering } = await provider(name)
      for (const [status, toolCode] of [
        [401, "search_key_refused"],
        [403, "search_key_refused"],
        [429, "search_limit"],
        [400, "search_failed"],
      ] as const) {
        // prettier-ignore
        answering.status = status
        answering.text = `{"error": "bad key ${secret}"}`
        const result = await call("web_search", { query: `asked for ${status}` })
        expect(result).toMatchObject({ success: false, metadata: { toolCode } })
        const record = JSON.stringify(await system.audit.show(result.callId))
        expect(record).toContain(`asked for ${status}`)
        expect(record + JSON.stringify(result)).not.toContain(secret)
      }
    }
  })

  test("an answer that is none, and a page that wants to see a person, are told", async () => {
    for (const name of ["tavily", "google", "bing"]) {
      const { call } = await provider(name, {}, 200, "<html>busy</html>")
      expect((await call("web_search", { query: "x" })).metadata).toMatchObject({ toolCode: "bad_answer" })
    }
    const { call } = await provider("duckduckgo", {}, 202, '<form id="challenge-form"></form>')
    expect(await call("web_search", { query: "x" })).toMatchObject({
      metadata: { toolCode: "search_refused" },
      error: expect.stringContaining("tavily"),
    })
    const none = await provider("duckduckgo", {}, 200, "<div class=no-results>No results.</div>")
    expect((await none.call("web_search", { query: "x" })).result).toMatchObject({ results: [] })
  })

  test("it says where it will ask: the provider's own host, or the one of the configuration", () => {
    const touches = (webSearch: NetworkOptions["webSearch"]) =>
      openNetworkTools([], { webSearch }).find(({ name }) => name === "web_search")!.touches!({ query: "x" })
    expect(touches(undefined)).toEqual([{ kind: "host", what: "https://html.duckduckgo.com/html/" }])
    expect(touches({ provider: "tavily" })).toEqual([{ kind: "host", what: "https://api.tavily.com/search" }])
    expect(touches({ provider: "google", baseUrl: "http://127.0.0.1:9/g/" })).toEqual([
      { kind: "host", what: "http://127.0.0.1:9/g/customsearch/v1", configured: true },
    ])
  })
})
