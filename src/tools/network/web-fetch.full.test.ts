import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { openNetworkApp, serveForTest } from "./testing.ts"

describe("web_fetch", () => {
  const page = (type: string, text: string) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { "content-type": type }).end(text)

  test("a page of more than five megabytes is cut, and says so", async () => {
    const { host, at } = await serveForTest(page("text/plain", "x".repeat(6_000_000)))
    const { call } = await openNetworkApp([host])
    const { result } = await call("web_fetch", { url: at("/") })
    expect(result).toMatchObject({ truncated: true, size: 5 * 1024 * 1024 })
  })
})
