import { describe, expect, test } from "vitest"
import { serveHttp } from "./serve.ts"
import { headersFor, legacyBody, serving } from "./testing.ts"

const org = { roles: [{ name: "worker", toolGroups: ["data"] }], agents: [{ id: "ada", role: "worker" }] }

describe("where it is reached", () => {
  test("it listens on loopback and says where", async () => {
    const { served } = await serving()
    expect(served.url).toBe(`http://127.0.0.1:${served.port}`)
  })

  test("a port that is taken is refused with a sentence", async () => {
    const { house, served } = await serving()
    await expect(serveHttp(house, { port: served.port, version: "1" })).rejects.toThrow(
      /Another program has it\. Choose another with --port/,
    )
  })

  test("what is nowhere is answered as RFC 9457 has it", async () => {
    const { ask } = await serving()
    const { status, headers, message } = await ask({ method: "GET", path: "/nothing" })
    expect(status).toBe(404)
    expect(headers["content-type"]).toBe("application/problem+json")
    expect(message).toMatchObject({ title: "Not Found", status: 404, detail: expect.stringContaining("/mcp") })
  })

  test("no page of another site is told that it may read the answer", async () => {
    const { ask } = await serving()
    const { headers } = await ask({ method: "OPTIONS", path: "/mcp", headers: { origin: "http://localhost:3000" } })
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([])
  })

  test("after close nothing is reached, and the house is still open", async () => {
    const { house, served, ask } = await serving()
    await served.close()
    await expect(ask({ method: "GET", path: "/healthz" })).rejects.toThrow(/ECONNREFUSED/)
    expect(house.listGroups().length).toBeGreaterThan(0)
  })
})

describe("the state of the server", () => {
  test("it is well when the store can be written", async () => {
    const { ask } = await serving()
    const { status, message } = await ask({ method: "GET", path: "/healthz" })
    expect({ status, message }).toEqual({ status: 200, message: { status: "ok" } })
  })

  test("it is not well when the store cannot be written, and says why", async () => {
    const { house, ask } = await serving({ org })
    await house.close()
    const { status, message } = await ask({ method: "GET", path: "/healthz" })
    expect(status).toBe(503)
    expect(message?.["detail"]).toMatch(/^The store cannot be used \(.+\)\.$/)
  })

  test("it is asked with GET and nothing else", async () => {
    const { ask } = await serving()
    const { status, headers } = await ask({ path: "/healthz" })
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET, HEAD" })
  })
})

describe("names and pages", () => {
  test.each([
    ["the address", {}, 200],
    ["localhost", { host: "localhost:1" }, 200],
    ["the IPv6 loopback", { host: "[::1]:80" }, 200],
    ["a name that was allowed", { host: "tools.example.com" }, 200],
    ["a name that points here", { host: "evil.example.com" }, 403],
    ["a name that ends like ours", { host: "localhost.evil.com" }, 403],
    ["a name that begins like ours", { host: "127.0.0.1.evil.com" }, 403],
    ["a name with a user before it", { host: "localhost@evil.com" }, 403],
    ["a page of this machine", { origin: "http://localhost:5173" }, 200],
    ["a page that was allowed", { origin: "https://desk.example.com" }, 200],
    ["a page of another site", { origin: "https://evil.example.com" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page of a site that looks like ours", { origin: "http://localhost.evil.com" }, 403],
  ])("%s", async (_, headers, expected) => {
    const allowed = { allowedHosts: ["tools.example.com"], allowedOrigins: ["desk.example.com"] }
    const { ask } = await serving({}, allowed)
    const { status } = await ask({ method: "GET", path: "/healthz", headers })
    expect(status).toBe(expected)
  })
})

describe("tokens", () => {
  const list = legacyBody("tools/list")

  test.each([
    ["none", undefined],
    ["another scheme", "Basic YWRhOmFkYQ=="],
    ["an empty one", "Bearer "],
    ["one that nobody made", `Bearer qma_${"x".repeat(43)}`],
    ["something else", "Bearer ../../etc/passwd"],
  ])("%s is refused, with how to get one", async (_, authorization) => {
    const { ask } = await serving({ org })
    const { status, headers, message } = await ask({ headers: { ...headersFor(undefined), authorization }, body: list })
    expect(status).toBe(401)
    expect(headers["www-authenticate"]).toMatch(/^Bearer realm="quartermaster"/)
    expect(message?.["detail"]).toContain("qm tokens create --agent")
  })

  test("one that has expired is refused", async () => {
    const { ask, token } = await serving({ org })
    const expired = await token("ada", { lifetimeMs: 1 })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await ask({ headers: headersFor(expired), body: list })).status).toBe(401)
  })

  test("one that was revoked is refused", async () => {
    const { house, ask } = await serving({ org })
    const { token, entry } = await house.tokens.create({ agentId: "ada" }, "a test")
    await house.tokens.revoke(entry.id, "a test")
    expect((await ask({ headers: headersFor(token), body: list })).status).toBe(401)
  })

  test("one of another house is refused", async () => {
    const [mine, theirs] = [await serving({ org }), await serving({ org })]
    const token = await theirs.token("ada")
    expect((await mine.ask({ headers: headersFor(token), body: list })).status).toBe(401)
  })
})
