import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { endpoints } from "./routes/endpoints.ts"
import { openConsole } from "./transport/console-files.ts"
import { serveAppForTest, sessionHeaders } from "./testing.ts"

const config = {
  org: {
    people: [{ id: "pat" }, { id: "max", scopes: ["read", "call", "approve", "manage"] }],
    roles: [{ name: "worker", toolGroups: ["system"] }],
    agents: [{ id: "ada", role: "worker" }],
  },
}

async function serving(options = {}) {
  const scene = await serveAppForTest(config as never, options)
  const session = (person: string, isMachineUser = false) => sessionHeaders(scene.app, person, isMachineUser)
  return { ...scene, session }
}

/** Sends bytes as they are and returns everything that comes back until the server closes or is quiet. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text))
    let received = ""
    socket.on("data", (chunk) => (received += chunk.toString("latin1")))
    socket.setTimeout(500, () => socket.destroy())
    socket.on("close", () => resolve(received))
    socket.on("error", () => resolve(received))
  })
}

describe("static files", () => {
  /** A small console whose folder lies beside a secret. */
  async function pages() {
    const root = mkdtempSync(join(tmpdir(), "quartermaster-pages-"))
    const folder = join(root, "console")
    mkdirSync(join(folder, "assets"), { recursive: true })
    writeFileSync(join(root, "secret.txt"), "s3cret")
    writeFileSync(join(folder, "index.html"), "<html nonce='__QM_NONCE__'>page</html>")
    writeFileSync(join(folder, "assets/a.js"), "script")
    const open = await openConsole(`${folder}/`)
    const handle: RequestListener = (request, response) => {
      if (!open(request.url ?? "", response, true)) response.writeHead(404).end()
    }
    const server = createServer(handle)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    return (server.address() as { port: number }).port
  }

  test("no path leaves the folder, whatever it is written like", async () => {
    const port = await pages()
    for (const path of [
      "/../secret.txt",
      "/..%2fsecret.txt",
      "/%2e%2e/secret.txt",
      "/assets/../../secret.txt",
      "/assets/..%5c..%5csecret.txt",
      "/..\\secret.txt",
      "//secret.txt",
      "/assets//a.js",
      "/secret.txt%00.js",
      "/%00",
      "/assets/a.js%00",
      "/.%2e/secret.txt",
      "/assets/%2e%2e%2fa.js",
      "/index.html/../../secret.txt",
      "///etc/passwd",
      "/file:///etc/passwd",
    ]) // prettier-ignore
    {
      const answer = await raw(port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
      expect(answer, path).not.toMatch(/s3cret|root:/)
      expect(answer, path).toMatch(/^HTTP\/1\.1 (404|200)/)
    }
    expect(await raw(port, "GET /assets/a.js HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")).toMatch(
      /script$/,
    )
  })

  test("a page cannot be framed, runs no inline script and says nothing to other sites", async () => {
    const port = await pages()
    const { headers } = await fetch(`http://127.0.0.1:${port}/inbox`)
    const policy = headers.get("content-security-policy")!
    for (const part of ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part)
    expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    expect(headers.get("x-frame-options")).toBe("DENY")
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
  })
})

test("a token or a session in the address counts for nothing", async () => {
  const { served, token, session } = await serving()
  const { cookie, "x-quartermaster-session": page } = await session("pat")
  const mine = await token("ada")
  for (const query of [
    `token=${mine}`,
    `access_token=${mine}`,
    `authorization=Bearer%20${mine}`,
    cookie,
    `${cookie}&x-quartermaster-session=${page}`,
  ])
    expect((await fetch(`${served.url}/v1/me?${query}`)).status, query).toBe(401)
})

test.each([
  ["another host", { host: "evil.example" }, 403],
  ["another site", { origin: "https://evil.example" }, 403],
  ["a page without origin", { origin: "null" }, 403],
  ["a page of another port of this machine", { origin: "http://127.0.0.1:3000" }, 403],
  ["a form of another site", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ["plain text", { "content-type": "text/plain" }, 415],
])("a request with a session by %s is refused", async (_what, headers: Record<string, string>, status) => {
  const { ask, session } = await serving()
  const signedIn = await session("me", true)
  const sent = { ...signedIn, ...headers }
  const reply = await ask({ method: "POST", path: "/v1/freeze", headers: sent, body: "{}" })
  expect(reply.status).toBe(status)
  expect(reply.message).toMatchObject({ detail: expect.stringMatching(/\.$/) })
})

test("names in an address do not become headers of the answer", async () => {
  const { served, session } = await serving()
  const signedIn = await session("me", true)
  const answer = await raw(
    served.port,
    `GET /v1/roles/x%0d%0aset-cookie:%20a=b HTTP/1.1\r\nhost: localhost\r\ncookie: ${signedIn.cookie}\r\nx-quartermaster-session: ${signedIn["x-quartermaster-session"]}\r\nconnection: close\r\n\r\n`,
  )
  expect(answer.split("\r\n\r\n")[0]).not.toMatch(/set-cookie/i)
  const doubled = await raw(
    served.port,
    "POST /v1/why HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
  )
  expect(doubled).toMatch(/^HTTP\/1\.1 400/)
})

test("a body that is too long is refused, announced or not, and one that never ends is dropped", async () => {
  const { served, session, ask } = await serving({
    maxBodyBytes: 1000,
    limits: { headersMs: 200, requestMs: 300, sweepMs: 50 },
  })
  const signedIn = await session("me", true)
  const headers = { ...signedIn, "content-type": "application/json" }
  const body = JSON.stringify({ tool: "x".repeat(2000) })
  const announced = await ask({ path: "/v1/why", headers, body })
  expect(announced).toMatchObject({ status: 413, message: { code: "body_too_long" } })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST /v1/why HTTP/1.1\r\nhost: localhost\r\n${lines.join("")}`
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  expect(await raw(served.port, `${head}transfer-encoding: chunked\r\n\r\n${chunk}`)).toMatch(/^HTTP\/1\.1 413/)
  const slow = await raw(served.port, `${head}content-length: 500\r\n\r\n{`)
  expect(slow).toMatch(/^(HTTP\/1\.1 408|$)/)
  expect((await fetch(`${served.url}/healthz`)).status).toBe(200)
})

test("wrong tokens and links are counted together, and a good token signs in whatever others try", async () => {
  const { app, ask } = await serving()
  const signIn = (given: object) =>
    ask({ path: "/v1/session", headers: { "x-quartermaster": "1" }, body: JSON.stringify(given) })
  for (let tries = 0; tries < 10; tries++) {
    expect((await signIn({ token: `qmp_${tries}` })).status).toBe(401)
    expect((await signIn({ link: `wrong-${tries}` })).status).toBe(401)
  }
  expect(await signIn({ token: "qmp_x" })).toMatchObject({ status: 429, message: { code: "too_many_tries" } })
  const { token } = await app.org.createPerson({ id: "sue" }, { kind: "person", id: "someone" })
  expect((await signIn({ token })).status).toBe(200)
})

test("wrong links are looked at twenty times a minute, and a good one signs in whatever others try", async () => {
  let now = Date.now()
  const { app, ask } = await serving({ now: () => now })
  const signIn = (link: string) =>
    ask({ path: "/v1/session", headers: { "x-quartermaster": "1" }, body: JSON.stringify({ link }) })
  for (let tries = 0; tries < 20; tries++) expect((await signIn(`wrong-${tries}`)).status).toBe(401)
  const refused = await signIn("wrong")
  expect(refused).toMatchObject({ status: 429, message: { code: "too_many_tries" } })
  expect(refused.headers["retry-after"]).toBe("60")
  const { link } = await app.signIn.createLink({ person: "pat", isMachineUser: false })
  const good = await signIn(link)
  expect(good.status).toBe(200)
  const [cookie] = good.headers["set-cookie"]!
  for (const flag of [/; HttpOnly/i, /; SameSite=Strict/i, /; Path=\//i, /; Max-Age=\d+/i]) expect(cookie).toMatch(flag)
  now += 61_000
  expect((await signIn("wrong")).status).toBe(401)
})

describe("who may use which endpoint", () => {
  const at = (path: string) => path.replaceAll(/\{\w+\}/g, "nothing")
  const statusOf = async (
    ask: Awaited<ReturnType<typeof serving>>["ask"],
    headers: object,
    each: (typeof endpoints)[number],
  ) =>
    (
      await ask({
        method: each.method.toUpperCase(),
        path: at(each.path),
        headers: { ...headers, "x-quartermaster": "1", "content-type": "application/json" },
        body: each.body === undefined ? undefined : "{}",
      })
    ).status

  test("an agent's token only calls, and sees only what is its own", async () => {
    const { ask, token } = await serving()
    const authorization = `Bearer ${await token("ada")}`
    const answered: Record<string, number> = {}
    for (const each of endpoints) {
      const status = await statusOf(ask, { authorization }, each)
      if (each.scope === "read" || each.scope === "approve" || each.scope === "manage")
        expect(status, `${each.method} ${each.path}`).toBe(403)
      else answered[`${each.method} ${each.path}`] = status
    }
    // 404: it is not theirs or is not there. 400: the body is missing. 403: agents use a tool for this.
    expect(answered).toEqual({
      "get /v1/tools": 200,
      "get /v1/tools/{name}": 404,
      "post /v1/tools/{name}/call": 400,
      "get /v1/calls/{id}": 404,
      "post /v1/why": 400,
      "get /v1/artifacts/{ref}": 404,
      "get /v1/me": 200,
      "get /v1/agents/{id}/messages": 404,
      "post /v1/messages": 400,
      "get /v1/audit/{id}": 404,
      "get /v1/chains": 200,
      "post /v1/chains": 400,
      "get /v1/chains/{id}": 404,
      "get /v1/chains/{id}/events": 404,
      "post /v1/chains/{id}/messages": 400,
      "delete /v1/chains/{id}": 403,
      "patch /v1/chains/{id}": 403,
      "delete /v1/chains/{id}/messages/{index}": 400,
      "get /v1/chains/{id}/view": 404,
      "get /v1/chains/{id}/turns/{index}": 400,
      "get /v1/chains/{id}/images/{index}/{place}": 400,
      "get /v1/chains/{id}/unfinished": 404,
      "get /v1/chains/{id}/side": 404,
      "post /v1/chains/{id}/branch": 400,
      "post /v1/chains/{id}/files": 400,
      "get /v1/documents": 200,
      "post /v1/documents": 400,
      "get /v1/documents/file": 400,
      "put /v1/documents/file": 400,
      "post /v1/documents/send": 400,
      "post /v1/documents/close": 400,
      "post /v1/chains/{id}/resume": 404,
      "post /v1/chains/{id}/stop": 404,
      // Only programs that can read the data folder ask there.
      "post /v1/hooks/{client}": 401,
    })
    expect((await ask({ method: "GET", path: "/metrics", headers: { authorization } })).status).toBe(403)
  })

  test("a person without manage changes nothing of the organisation, its rules and its tokens", async () => {
    const { ask, session } = await serving()
    const [pat, max] = [await session("pat"), await session("max")]
    const managed = endpoints.filter(({ scope }) => scope === "manage")
    expect(managed.length).toBeGreaterThan(15)
    for (const each of managed) {
      expect(await statusOf(ask, pat, each), `${each.method} ${each.path}`).toBe(403)
      expect(await statusOf(ask, max, each), `${each.method} ${each.path}`).not.toBe(403)
    }
  })

  test("nobody is answered without a token or a session", async () => {
    const { ask } = await serving()
    for (const each of endpoints) expect(await statusOf(ask, {}, each), each.path).toBe(401)
    for (const path of ["/v1/events", "/metrics"]) expect((await ask({ method: "GET", path })).status).toBe(401)
  })
})
