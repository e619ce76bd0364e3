import { describe, expect, test } from "vitest"
import { serveHttp } from "./serve.ts"
import { openTestApp, until } from "../../testing/test-app.ts"
import { headersFor, legacyBody, serveAppForTest } from "./testing.ts"

const org = { roles: [{ name: "worker", toolGroups: ["data"] }], agents: [{ id: "ada", role: "worker" }] }

describe("address", () => {
  test("the server listens on loopback and returns its URL", async () => {
    const { served } = await serveAppForTest()
    expect(served.url).toBe(`http://127.0.0.1:${served.port}`)
  })

  test("a port that is in use is refused with a sentence", async () => {
    const { app, served } = await serveAppForTest()
    await expect(serveHttp(app, { port: served.port, version: "1" })).rejects.toThrow(
      /Another program has it\. Choose another: qm serve --port/,
    )
  })

  test("an unknown path gets an RFC 9457 problem", async () => {
    const { ask } = await serveAppForTest()
    const { status, headers, message } = await ask({ method: "GET", path: "/nothing" })
    expect(status).toBe(404)
    expect(headers["content-type"]).toBe("application/problem+json")
    expect(message).toMatchObject({ title: "Not Found", status: 404, detail: expect.stringContaining("/mcp") })
  })

  test("a program that asks for the bare address reads where everything is", async () => {
    const { served } = await serveAppForTest()
    for (const accept of ["*/*", "application/json"]) {
      const response = await fetch(`${served.url}/`, { headers: { accept } })
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
      const text = await response.text()
      for (const place of ["/ in a browser", "/v1", "/openapi.json", "/mcp", "/healthz"])
        expect(text).toContain(`${served.url}${place}`)
    }
    const head = await fetch(`${served.url}/`, { method: "HEAD", headers: { accept: "*/*" } })
    expect([head.status, await head.text()]).toEqual([200, ""])
    expect((await fetch(`${served.url}/`, { method: "POST" })).status).toBe(404)
  })

  test("no response allows pages of other sites to read it", async () => {
    const { ask } = await serveAppForTest()
    const { headers } = await ask({ method: "OPTIONS", path: "/mcp", headers: { origin: "http://localhost:3000" } })
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([])
  })

  test("after close the server is unreachable and the app is still open", async () => {
    const { app, served, ask } = await serveAppForTest()
    await served.close()
    await expect(ask({ method: "GET", path: "/healthz" })).rejects.toThrow(/ECONNREFUSED/)
    expect(app.listGroups().length).toBeGreaterThan(0)
  })
})

describe.each(["/healthz", "/readyz"])("health check at %s", (path) => {
  test("it is ok when the store can be written", async () => {
    const { ask } = await serveAppForTest()
    const { status, message } = await ask({ method: "GET", path })
    expect({ status, message }).toEqual({ status: 200, message: { status: "ok" } })
  })

  test("it fails when the store cannot be written, and says why", async () => {
    const { app, ask } = await serveAppForTest({ org })
    await app.close()
    const { status, message } = await ask({ method: "GET", path })
    expect(status).toBe(503)
    expect(message?.["detail"]).toMatch(/^The store cannot be used \(.+\)\.$/)
  })

  test("it answers only GET and HEAD", async () => {
    const { ask } = await serveAppForTest()
    const { status, headers } = await ask({ path })
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET, HEAD" })
  })
})

describe("Host and Origin headers", () => {
  test.each([
    ["the address", {}, 200],
    ["localhost", { host: "localhost:1" }, 200],
    ["the IPv6 loopback", { host: "[::1]:80" }, 200],
    ["a name that was allowed", { host: "tools.example.com" }, 200],
    ["the public name", { host: "public.example.com" }, 200],
    ["the public name with another port", { host: "public.example.com:8443" }, 200],
    ["a name below the public one", { host: "evil.public.example.com" }, 403],
    ["a page of the public name", { origin: "https://public.example.com" }, 200],
    ["a name that points here", { host: "evil.example.com" }, 403],
    ["a name that ends like ours", { host: "localhost.evil.com" }, 403],
    ["a name that begins like ours", { host: "127.0.0.1.evil.com" }, 403],
    ["a name with a user before it", { host: "localhost@evil.com" }, 403],
    ["a page of ours", { host: "localhost:7420", origin: "http://localhost:7420" }, 200],
    ["a page of ours by another name", { host: "127.0.0.1:7420", origin: "http://localhost:7420" }, 403],
    ["a page of another port of this machine", { host: "localhost:7420", origin: "http://localhost:5173" }, 403],
    ["a page of ours by another scheme", { host: "localhost:7420", origin: "https://localhost:7420" }, 403],
    ["a page of another port of the public name", { origin: "https://public.example.com:8443" }, 403],
    ["a page of the public name without TLS", { origin: "http://public.example.com" }, 403],
    ["a page that was allowed", { origin: "https://console.example.com" }, 200],
    ["a page of another site", { origin: "https://evil.example.com" }, 403],
    ["a page without an origin", { origin: "null" }, 403],
    ["a page of a site that looks like ours", { origin: "http://localhost.evil.com" }, 403],
  ])("%s", async (_, headers, expected) => {
    const allowed = { allowedHosts: ["tools.example.com"], allowedOrigins: ["console.example.com"] }
    const { ask } = await serveAppForTest({}, { ...allowed, publicUrl: "https://public.example.com/" })
    const { status } = await ask({ method: "GET", path: "/healthz", headers })
    expect(status).toBe(expected)
  })
})

describe("where other machines can reach it", () => {
  test.each(["0.0.0.0", "::", "192.0.2.7", "tools.example"])(
    "it does not listen on %s without a public URL",
    async (host) => {
      const app = await openTestApp()
      const sentence = `Other machines could reach ${host}, but the address that people open is not stated.`
      await expect(serveHttp(app, { host, port: 0, version: "1" })).rejects.toThrow(sentence)
    },
  )

  test("with one it listens, and people are sent to the public URL", async () => {
    const { served, ask } = await serveAppForTest({}, { host: "0.0.0.0", publicUrl: "https://public.example.com" })
    expect(served).toMatchObject({ publicUrl: "https://public.example.com", url: `http://0.0.0.0:${served.port}` })
    const nameless = { method: "GET", path: "/healthz", headers: { host: "192.0.2.7" } }
    expect((await ask(nameless)).status).toBe(403)
  })

  test.each([
    [undefined, false],
    ["http://localhost:7420", false],
    ["https://public.example.com", true],
  ])("with the public URL %s the cookie is only for https: %s", async (publicUrl, isSecure) => {
    const { app, ask } = await serveAppForTest({}, { publicUrl })
    const { link } = await app.signIn.createLink({ person: "me", isMachineUser: true })
    const headers = { "x-quartermaster": "1", "content-type": "application/json" }
    const reply = await ask({ path: "/v1/session", headers, body: JSON.stringify({ link }) })
    expect(reply.status).toBe(200)
    expect(/; Secure/i.test(reply.headers["set-cookie"]![0]!)).toBe(isSecure)
  })
})

describe("tokens", () => {
  const list = legacyBody("tools/list")

  test.each([
    ["none", undefined],
    ["another scheme", "Basic YWRhOmFkYQ=="],
    ["an empty one", "Bearer "],
    ["one that was never created", `Bearer qma_${"x".repeat(43)}`],
    ["something else", "Bearer ../../etc/passwd"],
  ])("%s is refused, with how to get one", async (_, authorization) => {
    const { ask } = await serveAppForTest({ org })
    const { status, headers, message } = await ask({ headers: { ...headersFor(undefined), authorization }, body: list })
    expect(status).toBe(401)
    expect(headers["www-authenticate"]).toMatch(/^Bearer realm="quartermaster"/)
    expect(message?.["detail"]).toContain("qm tokens create --agent")
  })

  test("one that has expired is refused", async () => {
    const { ask, token } = await serveAppForTest({ org })
    const expired = await token("ada", { lifetimeMs: 1 })
    const madeAt = Date.now()
    await until(() => Date.now() > madeAt + 1, "the token has expired")
    expect((await ask({ headers: headersFor(expired), body: list })).status).toBe(401)
  })

  test("one that was revoked is refused", async () => {
    const { app, ask } = await serveAppForTest({ org })
    const { token, entry } = await app.tokens.create({ agentId: "ada" }, "a test")
    await app.tokens.revoke(entry.id, "a test")
    expect((await ask({ headers: headersFor(token), body: list })).status).toBe(401)
  })

  test("one of another app is refused", async () => {
    const [mine, theirs] = [await serveAppForTest({ org }), await serveAppForTest({ org })]
    const token = await theirs.token("ada")
    expect((await mine.ask({ headers: headersFor(token), body: list })).status).toBe(401)
  })
})
