import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { openNetworkApp, serveForTest, openNetworkTools } from "./testing.ts"

describe("web_fetch", () => {
  const page = (type: string, text: string) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { "content-type": type }).end(text)

  test("gives the readable part of a page as Markdown, with its title", async () => {
    const { host, at } = await serveForTest(
      page(
        "text/html; charset=utf-8",
        "<html><head><title>A page</title></head><body><h1>Hello</h1><p>See <a href='/more'>more</a>.</p><script>x</script></body></html>",
      ),
    )
    const { call } = await openNetworkApp([host])
    expect((await call("web_fetch", { url: at("/a") })).result).toEqual({
      url: at("/a"),
      status: 200,
      title: "A page",
      content: `# Hello\n\nSee [more](${at("/more")}).`,
      contentType: "text/html",
      charset: "utf-8",
      size: expect.any(Number),
      truncated: false,
    })
  })

  test.each([
    ["text/plain", "a <b>c</b>"],
    ["application/json", '{"a": "<p>"}'],
    ["text/markdown", "# Title\n\n- a"],
  ])("gives %s as it is", async (type, text) => {
    const { host, at } = await serveForTest(page(type, text))
    const { call } = await openNetworkApp([host])
    expect((await call("web_fetch", { url: at("/") })).result).toMatchObject({
      content: text,
      contentType: type,
      title: "",
    })
  })

  test("reads the charset of a page", async () => {
    const bytes = Buffer.from([0xc4, 0xe3, 0xba, 0xc3])
    const { host, at } = await serveForTest((_, response) =>
      response.writeHead(200, { "content-type": "text/html; charset=gb2312" }).end(bytes),
    )
    const { call } = await openNetworkApp([host])
    expect((await call("web_fetch", { url: at("/") })).result).toMatchObject({ content: "你好", charset: "gb18030" })
  })

  test("tells of a move to another host and does not go there; one that leads inside ends the call", async () => {
    const { host, at } = await serveForTest((request, response) => {
      const location = request.url === "/out" ? "https://elsewhere.test/page" : "http://169.254.169.254/latest/"
      response.writeHead(301, { location }).end()
    })
    const { call } = await openNetworkApp([host])
    expect((await call("web_fetch", { url: at("/out") })).result).toMatchObject({
      status: 301,
      redirect: "https://elsewhere.test/page",
      content: "The page has moved to https://elsewhere.test/page",
      contentType: "",
    })
    expect((await call("web_fetch", { url: at("/in") })).error).toContain("169.254.169.254")
  })

  test("an error of the server is a failure that says which", async () => {
    const { host, at } = await serveForTest((_, response) => response.writeHead(404).end("<h1>no</h1>"))
    const { call } = await openNetworkApp([host])
    expect(await call("web_fetch", { url: at("/") })).toMatchObject({
      success: false,
      error: `${host} answers 404 Not Found. Check the address, or search for it.`,
      metadata: { toolCode: "http_status" },
    })
  })

  test("what is no text becomes an artifact", async () => {
    const { host, at } = await serveForTest(page("application/pdf", "%PDF-1.7 …"))
    const { call } = await openNetworkApp([host])
    expect((await call("web_fetch", { url: at("/") })).result).toMatchObject({
      content: "",
      contentType: "application/pdf",
      artifactRef: expect.stringMatching(/^artifact:/),
    })
  })

  test.each([
    ["http://docs.example.com/a", "https://docs.example.com/a"],
    ["HTTP://Docs.example.com", "https://Docs.example.com"],
    ["http://docs.example.com./?x", "https://docs.example.com./?x"],
    ["http://docs.example.com:8080/", "http://docs.example.com:8080/"],
    ["http://127.0.0.1/", "http://127.0.0.1/"],
    ["http://localhost/", "http://localhost/"],
    ["http://a@docs.example.com/", "http://a@docs.example.com/"],
    ["https://docs.example.com/?u=http://a.test/", "https://docs.example.com/?u=http://a.test/"],
  ])("%s is asked as %s, and said to be", (url, asked) => {
    expect(openNetworkTools([]).find(({ name }) => name === "web_fetch")!.touches!({ url })).toEqual([
      { kind: "host", what: asked },
    ])
  })

  test("its results may be used again for fifteen minutes", () => {
    expect(openNetworkTools([]).find(({ name }) => name === "web_fetch")!.cache).toEqual({ ttlMs: 900_000 })
  })
})
