import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { bodyOf, openNetworkApp, serveForTest, openNetworkTools } from "./testing.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

const echo = async (request: IncomingMessage, response: ServerResponse) => {
  const { method, url, headers } = request
  const seen = { method, url, type: headers["content-type"], accept: headers.accept, body: await bodyOf(request) }
  response.writeHead(200, { "content-type": "application/json", "x-answer": "yes" }).end(JSON.stringify(seen))
}

describe("the http tools", () => {
  test("http_request sends what it is told and gives status, headers, body, latency and an id", async () => {
    const { host, at } = await serveForTest(echo)
    const { call } = await openNetworkApp([host])
    const result = await call("http_request", {
      url: at("/x?y=1"),
      method: "PUT",
      headers: { accept: "a/b" },
      body: { n: [1] },
    })
    expect(result.result).toMatchObject({
      status: 200,
      statusText: "OK",
      headers: { "x-answer": "yes", "content-type": "application/json" },
      url: at("/x?y=1"),
      truncated: false,
      latencyMs: expect.any(Number),
      requestId: result.callId,
    })
    expect(JSON.parse(result.result!["body"] as string)).toEqual({
      method: "PUT",
      url: "/x?y=1",
      type: "application/json",
      accept: "a/b",
      body: '{"n":[1]}',
    })
  })

  test("http_request without a method is a GET", async () => {
    const { host, at } = await serveForTest(echo)
    const { call } = await openNetworkApp([host])
    const { result } = await call("http_request", { url: at("/") })
    expect(JSON.parse(result!["body"] as string)).toMatchObject({ method: "GET", body: "" })
  })

  test("http_get and http_post have status, headers and body", async () => {
    const { host, at } = await serveForTest(echo)
    const { call } = await openNetworkApp([host])
    const got = await call("http_get", { url: at("/a"), headers: { accept: "text/plain" } })
    expect(got.result).toMatchObject({ status: 200, headers: { "x-answer": "yes" } })
    expect(JSON.parse(got.result!["body"] as string)).toMatchObject({ method: "GET", accept: "text/plain" })
    const posted = await call("http_post", { url: at("/a"), body: "hello" })
    expect(JSON.parse(posted.result!["body"] as string)).toMatchObject({
      method: "POST",
      body: "hello",
      type: "text/plain;charset=UTF-8",
    })
    const typed = await call("http_post", {
      url: at("/a"),
      body: "a=1",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    })
    expect(JSON.parse(typed.result!["body"] as string)).toMatchObject({ type: "application/x-www-form-urlencoded" })
  })

  test("a status that is no success is a result, not a failure", async () => {
    const { host, at } = await serveForTest((_, response) => response.writeHead(404, "Gone Fishing").end("no"))
    const { call } = await openNetworkApp([host])
    expect(await call("http_get", { url: at("/") })).toMatchObject({
      success: true,
      result: { status: 404, statusText: "Gone Fishing", body: "no" },
    })
  })

  test("what is no text becomes an artifact", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])
    const { host, at } = await serveForTest((_, response) =>
      response.writeHead(200, { "content-type": "image/png" }).end(bytes),
    )
    const { call } = await openNetworkApp([host])
    const { result } = await call("http_get", { url: at("/") })
    expect(result).toMatchObject({
      body: "",
      mimeType: "image/png",
      size: 7,
      artifactRef: expect.stringMatching(/^artifact:/),
    })
    const kept = await call("get_artifact", { ref: result!["artifactRef"] })
    expect(kept.result).toMatchObject({ content: bytes.toString("base64"), mimeType: "image/png", isBinary: true })
  })

  test("http_request ends when its own time is up", async () => {
    const { host, at } = await serveForTest(() => undefined)
    const { call } = await openNetworkApp([host])
    expect(await call("http_request", { url: at("/"), timeoutMs: 40 })).toMatchObject({
      success: false,
      error: expect.stringContaining("did not answer within 0.04 s"),
      metadata: { toolCode: "request_timeout" },
    })
  })

  test("a redirect to another host is told and not followed", async () => {
    const { host, at } = await serveForTest((_, response) =>
      response.writeHead(302, { location: "https://elsewhere.test/x" }).end(),
    )
    const { call } = await openNetworkApp([host])
    expect((await call("http_get", { url: at("/") })).result).toMatchObject({
      status: 302,
      redirect: "https://elsewhere.test/x",
    })
  })

  test("an address that may not be reached fails with host_denied and says how a person could allow it", async () => {
    const { at, host } = await serveForTest(echo)
    const { call } = await openNetworkApp([])
    for (const tool of ["http_request", "http_get", "http_post", "web_fetch"]) {
      const result = await call(tool, { url: at("/") })
      expect(result.success).toBe(false)
      expect(result.error).toContain(host)
      expect([result.code, result.metadata?.["toolCode"]]).toContain("host_denied")
    }
  })

  test("each says before its run which address it will reach, and shows an approver the request without its secrets", async () => {
    const tools = openNetworkTools([])
    const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]))
    const url = "https://docs.example.com/a"
    for (const name of ["http_request", "http_get", "http_post", "web_fetch"])
      expect(named[name]!.touches!({ url })).toEqual([{ kind: "host", what: url }])
    const request = { url, method: "POST", headers: { authorization: "Bearer hunter2", accept: "x" }, body: { a: 1 } }
    expect(await previewTextOf(named["http_request"]!, request)).toBe(
      'POST https://docs.example.com/a\nauthorization: (hidden)\naccept: x\ncontent-type: application/json\n\n{"a":1}',
    )
    expect(tools.map(({ name, idempotent, effect }) => [name, idempotent, effect])).toEqual([
      ["http_request", false, "network"],
      ["http_get", true, "network"],
      ["http_post", false, "network"],
      ["web_fetch", true, "network"],
      ["web_search", true, "network"],
    ])
  })

  test("they say what is wrong with their input", async () => {
    const { call } = await openNetworkApp([])
    for (const [tool, input] of [
      ["http_get", {}],
      ["http_get", { url: "" }],
      ["http_get", { url: "https://a.test", body: "x" }],
      ["http_request", { url: "https://a.test", method: "TRACE" }],
      ["http_request", { url: "https://a.test", timeoutMs: 0 }],
      ["http_post", { url: "https://a.test", headers: { a: 1 } }],
      ["web_search", { query: " " }],
      ["web_search", { query: "x", maxResults: 21 }],
      ["web_search", { query: "x", maxResults: 2, limit: 3 }],
      ["web_search", { query: "x", allowedDomains: ["a.test"], blockedDomains: ["b.test"] }],
      ["web_search", { query: "x", allowedDomains: ["a b"] }],
    ] as const)
      expect([input, (await call(tool, input)).code]).toEqual([input, "invalid_arguments"])
  })
})
