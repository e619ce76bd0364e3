import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer as createSecureServer } from "node:https"
import type { Socket } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { makeHostThrottle } from "./throttle.ts"
import {
  respondingServer,
  requestBodyOf,
  failureOf,
  listenOnFreePort,
  openTestWeb,
  serveToWeb,
  serveRawToWeb,
} from "./testing.ts"
import { openWeb } from "./web.ts"

test("a request is sent as given, and its response is returned whole", async () => {
  const { web, at } = await serveToWeb(async (request, response) => {
    const seen = {
      method: request.method,
      url: request.url,
      key: request.headers["x-key"],
      body: await requestBodyOf(request),
    }
    response.writeHead(201, "Made", { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] })
    response.end(JSON.stringify(seen))
  })
  const answer = await web.send({ url: at("/a?b=c#d"), method: "POST", headers: { "X-Key": "k" }, body: "hällo" })
  expect(answer).toMatchObject({
    status: 201,
    statusText: "Made",
    truncated: false,
    headers: { "set-cookie": "a=1, b=2" },
  })
  expect(JSON.parse(answer.bytes.toString())).toEqual({ method: "POST", url: "/a?b=c", key: "k", body: "hällo" })
})

describe("a denied address is refused before anything is sent", () => {
  test("an address that no line allows, though a server answers there", async () => {
    let asked = 0
    const port = await listenOnFreePort(respondingServer((_, response) => response.end(String(++asked))))
    for (const allow of [[], ["127.0.0.1"], ["*"], ["127.0.0.1:1"]]) {
      const refused = await failureOf(openTestWeb(allow).send({ url: `http://127.0.0.1:${port}/` }))
      expect(refused).toMatchObject({ code: "host_denied", sentence: expect.stringContaining(`"127.0.0.1:${port}"`) })
    }
    expect(asked).toBe(0)
  })

  test("a name with a private address, or with a public and a private one", async () => {
    let asked = 0
    const port = await listenOnFreePort(respondingServer((_, response) => response.end(String(++asked))))
    const here = { address: "127.0.0.1", family: 4 }
    for (const found of [
      [here],
      [{ address: "93.184.215.14", family: 4 }, here],
      [{ address: "::ffff:127.0.0.1", family: 6 }],
    ]) {
      const web = openTestWeb(["rebind.test:1", "*"], { lookup: async () => found })
      const refused = await failureOf(web.send({ url: `http://rebind.test:${port}/` }))
      expect(refused).toMatchObject({ code: "host_denied", sentence: expect.stringContaining("rebind.test leads to") })
    }
    expect(asked).toBe(0)
  })

  test("a name whose second lookup differs: the checked address is used", async () => {
    const port = await listenOnFreePort(respondingServer((_, response) => response.end("inside")))
    let lookups = 0
    const lookup = async () => [{ address: ++lookups === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }]
    const web = openTestWeb([`rebind.test:${port}`], { lookup })
    expect((await web.send({ url: `http://rebind.test:${port}/` })).bytes.toString()).toBe("inside")
    expect(lookups).toBe(1)
    const later = openTestWeb([`rebind.test:${port}`], { lookup })
    expect(await failureOf(later.send({ url: `http://rebind.test:${port}/` }))).toMatchObject({ code: "host_denied" })
  })

  test("our own address, though a line allows it by number and by name", async () => {
    const port = await listenOnFreePort(respondingServer((_, response) => response.end("inside")))
    const own = () => [`http://localhost:${port}`]
    const web = openTestWeb([`127.0.0.1:${port}`, `a.test:${port}`], {
      own,
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    })
    for (const host of ["127.0.0.1", "a.test"])
      expect(await failureOf(web.send({ url: `http://${host}:${port}/` }))).toMatchObject({
        code: "host_denied",
        sentence: expect.stringContaining("Quartermaster itself"),
      })
  })

  test("headers that would redirect it, or are invalid", async () => {
    const { web, at } = await serveToWeb((_, response) => response.end())
    for (const headers of [
      { Host: "evil.test" },
      { "Transfer-Encoding": "chunked" },
      { "Proxy-Connection": "x" },
      { a: "b\r\nc: d" },
      { "a b": "c" },
      { a: "\u0000" },
      { a: "€" },
    ] as Record<string, string>[])
      // prettier-ignore
      expect(await failureOf(web.send({ url: at("/"), headers }))).toMatchObject({ code: "bad_header" })
  })
})

test("a configured address is reached only by the `Web` that trusts it", async () => {
  const port = await listenOnFreePort(respondingServer((_, response) => response.end("results")))
  const web = openTestWeb([])
  const search = web.trusting(`http://127.0.0.1:${port}/search`)
  expect((await search.send({ url: `http://127.0.0.1:${port}/search?q=a` })).bytes.toString()).toBe("results")
  expect(await failureOf(web.send({ url: `http://127.0.0.1:${port}/` }))).toMatchObject({ code: "host_denied" })
  expect(await failureOf(search.send({ url: `http://localhost:${port}/` }))).toMatchObject({ code: "host_denied" })
})

test("a proxy in the environment is not used", async () => {
  let proxied = 0
  const proxy = await listenOnFreePort(respondingServer((_, response) => response.end(String(++proxied))))
  const { web, at } = await serveToWeb((_, response) => response.end("direct"))
  const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]
  for (const name of names) process.env[name] = name.startsWith("NODE") ? "1" : `http://127.0.0.1:${proxy}`
  onTestFinished(() => {
    for (const name of names) delete process.env[name]
  })
  expect((await web.send({ url: at("/") })).bytes.toString()).toBe("direct")
  expect(proxied).toBe(0)
})

test("an abort ends the request immediately with its own reason, and closes the connection", async () => {
  const controller = new AbortController()
  let closed!: () => void
  const gone = new Promise<void>((resolve) => (closed = resolve))
  const { web, url } = await serveRawToWeb((socket) => {
    socket.on("close", () => closed())
    controller.abort(new Error("changed my mind"))
  })
  await expect(web.send({ url, signal: controller.signal })).rejects.toThrow("changed my mind")
  await gone
  await expect(web.send({ url, signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before")
})

test("of several allowed addresses, one that answers is used", async () => {
  const port = await listenOnFreePort(respondingServer((_, response) => response.end("here")))
  const found = [
    { address: "::1", family: 6 },
    { address: "127.0.0.1", family: 4 },
  ]
  const web = openTestWeb([`a.test:${port}`], { lookup: async () => found })
  expect((await web.send({ url: `http://a.test:${port}/` })).bytes.toString()).toBe("here")
})

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"))

test.skipIf(!hasIPv6)("an IPv6 address is reached if a line allows it, with its port or the default port", async () => {
  const server = respondingServer((_, response) => response.end("here"))
  const port = await listenOnFreePort(server, "::1")
  for (const url of [`http://[::1]:${port}/`, `http://[0:0:0:0:0:0:0:1]:${port}/`])
    expect((await openTestWeb([`[::1]:${port}`]).send({ url })).bytes.toString()).toBe("here")
  for (const allow of [[], ["*"], ["[::1]"], ["[::1]:1"], [`127.0.0.1:${port}`]])
    expect(await failureOf(openTestWeb(allow).send({ url: `http://[::1]:${port}/` }))).toMatchObject({
      code: "host_denied",
      sentence: expect.stringContaining(`"[::1]:${port}"`),
    })
})

test.skipIf(process.platform !== "linux")("however requests end, no descriptor stays open", async () => {
  const open = () => readdirSync("/proc/self/fd").length
  const server = respondingServer((request, response) => {
    if (request.url === "/big") return void response.end(Buffer.alloc(300_000))
    if (request.url === "/lost") return void response.destroy()
    if (request.url === "/go") return void response.writeHead(302, { location: "/big" }).end()
    return request.url === "/hang" ? undefined : response.end("x")
  })
  const port = await listenOnFreePort(server)
  const before = open()
  const web = openWeb({ allow: [{ text: `127.0.0.1:${port}`, source: "x" }], deny: [], own: () => [] })
  const ask = (path: string, more = {}) =>
    web.send({ url: `http://127.0.0.1:${port}${path}`, ...more }).catch((error: unknown) => error)
  const ways = [["/"], ["/big", { maxBytes: 100 }], ["/lost"], ["/go"], ["/hang", { timeoutMs: 20 }], ["/hang", { signal: AbortSignal.timeout(20) }]] as const // prettier-ignore
  await Promise.all([...ways, ...ways, ...ways].map(([path, more]) => ask(path, more)))
  await web.close()
  while (open() > before) await new Promise(setImmediate)
  expect(open()).toBeLessThanOrEqual(before)
})

test("close ends open requests, and nothing is sent afterwards", async () => {
  const sockets: Socket[] = []
  const server = respondingServer((request, response) => (request.url === "/" ? response.end("x") : undefined))
  server.on("connection", (socket) => sockets.push(socket))
  const port = await listenOnFreePort(server)
  const web = openTestWeb([`127.0.0.1:${port}`])
  await web.send({ url: `http://127.0.0.1:${port}/` })
  const hanging = failureOf(web.send({ url: `http://127.0.0.1:${port}/hang` }))
  while (sockets.length === 0) await new Promise(setImmediate)
  await web.close()
  expect((await hanging).code).toEqual(expect.any(String))
  for (const socket of sockets) if (!socket.closed) await once(socket, "close")
  expect(await failureOf(web.send({ url: `http://127.0.0.1:${port}/` }))).toMatchObject({ code: "request_failed" })
})

test("after a burst, requests to one host wait for their turn, and those to others do not", async () => {
  const pace = makeHostThrottle({ burst: 2, perSecond: 0.1 })
  const controller = new AbortController()
  const { signal } = controller
  expect([pace.waitTurn("a.test", signal), pace.waitTurn("a.test", signal)]).toEqual([undefined, undefined])
  const third = pace.waitTurn("a.test", signal)
  expect(third).toBeInstanceOf(Promise)
  expect(pace.waitTurn("b.test", signal)).toBeUndefined()
  controller.abort()
  await expect(third).rejects.toThrow()
  const { web, at } = await serveToWeb((_, response) => response.end(), { throttle: { burst: 1, perSecond: 0.01 } })
  await web.send({ url: at("/") })
  expect(await failureOf(web.send({ url: at("/"), timeoutMs: 20 }))).toMatchObject({ code: "request_timeout" })
})

describe.skipIf(!existsSync("/usr/bin/openssl"))("over https", () => {
  test("a server must have a certificate for the requested host", async () => {
    const { key, cert } = selfSigned("a.test")
    const server = createSecureServer({ key, cert }, (_, response) => response.end("safe"))
    const port = await listenOnFreePort(server)
    const options = { lookup: async () => [{ address: "127.0.0.1", family: 4 }] }
    const ask = (host: string, more: object) =>
      openTestWeb([`${host}:${port}`], { ...options, ...more }).send({ url: `https://${host}:${port}/` })
    expect((await ask("a.test", { ca: cert })).bytes.toString()).toBe("safe")
    expect(await failureOf(ask("b.test", { ca: cert }))).toMatchObject({ code: "bad_certificate" })
    expect(await failureOf(ask("a.test", {}))).toMatchObject({ code: "bad_certificate" })
    expect(
      await failureOf(openTestWeb([`http://a.test:${port}`], options).send({ url: `http://a.test:${port}/` })),
    ).toMatchObject({
      code: expect.stringMatching(/bad_answer|connection_lost/),
    })
  })
})

function selfSigned(host: string): { key: string; cert: string } {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`, "-days", "2"]
  const files = ["-keyout", join(dir, "key"), "-out", join(dir, "cert")]
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  execFileSync("/usr/bin/openssl", ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" })
  return { key: readFileSync(join(dir, "key"), "utf8"), cert: readFileSync(join(dir, "cert"), "utf8") }
}
