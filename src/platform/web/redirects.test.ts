import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import {
  respondingServer,
  requestBodyOf,
  failureOf,
  listenOnFreePort,
  openTestWeb,
  serveToWeb,
  type Responder,
} from "./testing.ts"

const redirect = (response: ServerResponse, status: number, location: string) =>
  response.writeHead(status, { location }).end("moved")

describe("redirects are checked one by one", () => {
  const go: Responder = (request, response) => {
    const { searchParams } = new URL(request.url!, "http://x")
    const to = searchParams.get("to")
    if (to !== null) return redirect(response, Number(searchParams.get("status") ?? 302), to)
    const { authorization, cookie, accept } = request.headers
    const key = request.headers["x-api-key"]
    return response.end(
      JSON.stringify({
        method: request.method,
        authorization,
        cookie,
        key,
        accept,
        type: request.headers["content-type"],
      }),
    )
  }
  const secrets = { authorization: "Bearer s", cookie: "c=1", "x-api-key": "k", accept: "text/plain" }

  test("to the same origin with all headers", async () => {
    const { web, at } = await serveToWeb(go)
    const answer = await web.send({ url: at("/?to=/end"), headers: secrets })
    expect(answer.url).toBe(at("/end"))
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({ authorization: "Bearer s", cookie: "c=1", key: "k" })
  })

  test("a denied target ends the request, whichever redirects are followed", async () => {
    const { web, at } = await serveToWeb(go)
    const targets = ["http://169.254.169.254/latest/", "http://127.0.0.1:1/", "file:///etc/passwd", "http://a:b@docs.example.com/", "http://2130706433/", "//10.0.0.1/"] // prettier-ignore
    for (const redirects of ["all", "same-host"] as const)
      for (const target of targets) {
        const refused = await failureOf(web.send({ url: at(`/?to=${encodeURIComponent(target)}`), redirects }))
        expect(refused).toMatchObject({ code: "host_denied", sentence: expect.stringContaining("redirects to") })
      }
  })

  test("a redirect to another host is reported, not followed", async () => {
    const { web, at } = await serveToWeb(go)
    const target = "https://elsewhere.test/page?x=1"
    for (const redirects of ["all", "same-host", "none"] as const) {
      const answer = await web.send({ url: at(`/?to=${encodeURIComponent(target)}`), redirects })
      expect(answer).toMatchObject({ status: 302, redirect: target, url: at(`/?to=${encodeURIComponent(target)}`) })
      expect(answer.bytes.toString()).toBe("moved")
    }
  })

  test("an allowed other host is visited only with redirects: all, and without secrets", async () => {
    const first = await listenOnFreePort(respondingServer(go))
    const second = await listenOnFreePort(respondingServer(go))
    const web = openTestWeb([`127.0.0.1:${first}`, `b.test:${second}`], {
      lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    })
    const url = `http://127.0.0.1:${first}/?to=${encodeURIComponent(`http://b.test:${second}/end`)}`
    const answer = await web.send({ url, headers: secrets, redirects: "all" })
    expect(answer.url).toBe(`http://b.test:${second}/end`)
    expect(JSON.parse(answer.bytes.toString())).toEqual({ method: "GET", accept: "text/plain" })
    expect(await web.send({ url, redirects: "same-host" })).toMatchObject({
      status: 302,
      redirect: `http://b.test:${second}/end`,
    })
  })

  test("another port of the same host is visited without secrets, and only if it is allowed", async () => {
    const [first, second, third] = [
      await listenOnFreePort(respondingServer(go)),
      await listenOnFreePort(respondingServer(go)),
      1,
    ]
    const lookup = async () => [{ address: "127.0.0.1", family: 4 }]
    const web = openTestWeb([`a.test:${first}`, `a.test:${second}`], { lookup })
    const to = (port: number) => `http://a.test:${first}/?to=${encodeURIComponent(`http://a.test:${port}/end`)}`
    const answer = await web.send({ url: to(second), headers: secrets })
    expect(JSON.parse(answer.bytes.toString())).toEqual({ method: "GET", accept: "text/plain" })
    expect(await web.send({ url: to(third) })).toMatchObject({ status: 302, redirect: `http://a.test:${third}/end` })
  })

  test.each([
    [301, "POST", "GET"],
    [302, "POST", "GET"],
    [303, "PUT", "GET"],
    [307, "POST", "POST"],
    [308, "PUT", "PUT"],
    [302, "HEAD", "HEAD"],
  ])("after %i a %s becomes a %s", async (status, method, expected) => {
    const seen: string[] = []
    const { web, at } = await serveToWeb(async (request, response) => {
      seen.push(`${request.method} ${await requestBodyOf(request)} ${request.headers["content-type"] ?? ""}`.trim())
      return request.url === "/end" ? response.end() : redirect(response, status, "/end")
    })
    const body = method === "HEAD" ? {} : { body: "x", headers: { "content-type": "text/plain" } }
    await web.send({ url: at("/"), method, ...body })
    expect(seen[1]).toBe(expected === "GET" || expected === "HEAD" ? expected : `${expected} x text/plain`)
  })

  test("a loop and too many redirects are errors", async () => {
    const { web, at } = await serveToWeb((request, response) => {
      if (request.url === "/a") return redirect(response, 302, "/b")
      if (request.url === "/b") return redirect(response, 302, "/a")
      return redirect(response, 302, `/${Number(request.url!.slice(1)) + 1}`)
    })
    expect(await failureOf(web.send({ url: at("/a") }))).toMatchObject({
      code: "redirect_loop",
      sentence: expect.stringContaining("127.0.0.1"),
    })
    expect(await failureOf(web.send({ url: at("/0") }))).toMatchObject({ code: "too_many_redirects" })
  })

  test("a redirect without a valid target is an ordinary response", async () => {
    const { web, at } = await serveToWeb((_, response) => response.writeHead(302, { location: "http://[" }).end("hm"))
    expect(await web.send({ url: at("/") })).toMatchObject({ status: 302, bytes: Buffer.from("hm") })
    const without = await serveToWeb((_, response) => response.writeHead(302).end("hm"))
    expect(await without.web.send({ url: without.at("/") })).toMatchObject({ status: 302 })
  })
})
