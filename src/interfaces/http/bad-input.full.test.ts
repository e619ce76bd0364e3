import { once } from "node:events"
import { request } from "node:http"
import { connect } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { deferred, tool, until } from "../../testing/test-app.ts"
import {
  beginSession,
  headersFor,
  legacyBody,
  modernRequest,
  protocolRevisions,
  serveAppForTest as serve,
  type RawRequest,
} from "./testing.ts"

const config = {
  org: {
    people: [{ id: "pat", name: "Pat" }],
    roles: [{ name: "worker", toolGroups: ["test"] }],
    agents: [
      { id: "ada", role: "worker" },
      { id: "bob", role: "worker" },
    ],
  },
}

const serving = (options: Parameters<typeof serve>[1] = {}) => serve(config as never, options)

type Code = { error?: { code: number; message: string } } | undefined

describe("messages", () => {
  test("invalid messages get the right status and error code", async () => {
    const { ask, token } = await serving()
    const mine = await token("ada")
    const session = await beginSession(ask, mine)
    const modern = modernRequest(mine, "tools/list").headers
    const rows: [string, RawRequest["headers"], string, number, number][] = [
      ["no JSON", session, "{", 400, -32_700],
      ["nothing", session, "", 400, -32_700],
      ["two messages", session, "{}{}", 400, -32_700],
      ["no JSON-RPC", session, "{}", 400, -32_600],
      ["a number", session, "7", 400, -32_600],
      ["another version", session, '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
      ["a bad id", session, '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32_600],
      ["an unknown method", session, legacyBody("tools/eat"), 200, -32_601],
      ["a method of the other era", session, legacyBody("server/discover"), 200, -32_601],
      ["params that do not fit", session, legacyBody("tools/call", { name: 1 }), 200, -32_602],
      ["an unknown tool", session, legacyBody("tools/call", { name: "nothing_like_it" }), 200, -32_602],
      ["no session", headersFor(mine), legacyBody("tools/list"), 400, -32_000],
      ["an unknown session", { ...session, "mcp-session-id": "none" }, legacyBody("tools/list"), 404, -32_001],
      ["an unknown revision", { ...session, "mcp-protocol-version": "1" }, legacyBody("tools/list"), 400, -32_000],
      ["no accept", { ...session, accept: undefined }, legacyBody("ping"), 406, -32_000],
      ["another type", { ...session, "content-type": "text/plain" }, legacyBody("ping"), 415, -32_000],
      ["a session initialized twice", session, legacyBody("initialize", hello), 400, -32_600],
      ["modern headers without an envelope", modern, legacyBody("tools/list"), 400, -32_602],
      ["a method that another header names", modern, modernRequest(mine, "prompts/list").body as string, 400, -32_020],
      ["an unknown method, modern", ...parts(modernRequest(mine, "tools/eat")), 404, -32_601],
      ["a method of the past", ...parts(modernRequest(mine, "logging/setLevel")), 404, -32_601],
      ["a response without a request", modern, '{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32_000],
    ]
    for (const [what, headers, body, status, code] of rows) {
      const reply = await ask({ headers, body })
      const message = reply.message as Code
      expect({ status: reply.status, code: message?.error?.code }, what).toEqual({ status, code })
      expect(message?.error?.message.length, what).toBeGreaterThan(5)
    }
  })

  test("batches are accepted only in revisions that have them", async () => {
    const { ask, token } = await serving()
    const mine = await token("ada")
    const body = `[${legacyBody("ping", undefined, 1)},${legacyBody("tools/list", undefined, 2)}]`
    const old = await ask({ headers: await beginSession(ask, mine, {}, "2025-03-26"), body })
    expect(old.status).toBe(200)
    expect(old.text.match(/"id":[12]/g)?.sort()).toEqual(['"id":1', '"id":2'])
    for (const revision of ["2025-06-18", "2025-11-25"]) {
      const { status, message } = await ask({ headers: await beginSession(ask, mine, {}, revision), body })
      expect({ status, code: (message as Code)?.error?.code }).toEqual({ status: 400, code: -32_600 })
    }
    const posted = modernRequest(mine, "tools/list")
    const { status, message } = await ask({ ...posted, body: `[${String(posted.body)}]` })
    expect({ status, code: (message as Code)?.error?.code }).toEqual({ status: 400, code: -32_600 })
  })

  test("an unknown HTTP method is refused", async () => {
    const { ask, token } = await serving()
    const { status, headers } = await ask({ method: "PUT", headers: headersFor(await token("ada")), body: "{}" })
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET, POST, DELETE" })
  })
})

const hello = {
  protocolVersion: protocolRevisions.legacy,
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
}

const parts = ({ headers, body }: RawRequest): [RawRequest["headers"], string] => [headers, String(body)]

describe("limits", () => {
  test("a body that is too long is refused, with and without a content length", async () => {
    const { ask, token } = await serving({ maxBodyBytes: 1000 })
    const headers = headersFor(await token("ada"))
    const long = legacyBody("tools/call", { name: "x".repeat(1000) })
    const declared = await ask({ headers: { ...headers, "content-length": String(long.length) }, body: long })
    expect({ status: declared.status, close: declared.headers.connection }).toEqual({ status: 413, close: "close" })
    expect(declared.message?.["detail"]).toContain("1000 bytes")
    expect((await ask({ headers: { ...headers, "transfer-encoding": "chunked" }, body: long })).status).toBe(413)
    expect((await ask({ headers, body: "x".repeat(1000) })).status).toBe(400)
  })

  test("by default a body may have 4 MiB and not a byte more", async () => {
    const { ask, token } = await serving()
    const headers = headersFor(await token("ada"))
    const most = 4 * 1024 * 1024
    expect((await ask({ headers, body: Buffer.alloc(most, " ") })).status).toBe(400)
    expect((await ask({ headers, body: Buffer.alloc(most + 1, " ") })).status).toBe(413)
  })

  test("a message that is nested too deeply is refused, and the server stays up", async () => {
    const { ask, token } = await serving()
    const mine = await token("ada")
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${deep}}}`
    for (const headers of [await beginSession(ask, mine), modernRequest(mine, "tools/call", { name: "x" }).headers]) {
      const { status, message } = await ask({ headers, body })
      expect({ status, code: (message as Code)?.error?.code }).toEqual({ status: 400, code: -32_600 })
    }
    expect((await ask({ method: "GET", path: "/healthz" })).status).toBe(200)
  })

  test("a compressed body is refused unread", async () => {
    const { ask, token } = await serving()
    const headers = { ...headersFor(await token("ada")), "content-encoding": "gzip" }
    expect((await ask({ headers, body: gzipSync(Buffer.alloc(1e6)) })).status).toBe(415)
  })

  test("headers that are too long are refused", async () => {
    const { ask, token } = await serving()
    const headers = { ...headersFor(await token("ada")), "x-long": "x".repeat(20_000) }
    expect((await ask({ headers, body: "{}" })).status).toBe(431)
  })

  test.each([
    ["the headers", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"],
    ["the body", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"],
  ])("a client that sends %s too slowly is disconnected", async (_, begin) => {
    const { served, token } = await serving({ limits: { headersMs: 100, requestMs: 150, sweepMs: 20 } })
    const authorization = `Authorization: Bearer ${await token("ada")}\r\n`
    const socket = connect(served.port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString()))
    socket.on("error", () => {})
    socket.write(begin.replace("Host: localhost\r\n", `Host: localhost\r\n${authorization}`))
    const drop = setInterval(() => socket.write(begin.includes("{") ? " " : "X-A: b\r\n"), 20)
    onTestFinished(() => {
      clearInterval(drop)
      socket.destroy()
    })
    await once(socket, "close")
    expect(text).toContain("408")
  })

  test("connections beyond the limit are refused", async () => {
    const { served } = await serving({ limits: { connections: 2 } })
    const sockets = [1, 2, 3].map(() => connect(served.port, "127.0.0.1").on("error", () => {}))
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    await until(
      () => sockets.filter(({ destroyed, readyState }) => destroyed || readyState === "closed").length === 1,
      "one was refused",
    )
  })

  test("sessions beyond the limit are refused while none is idle", async () => {
    const { app, ask, token } = await serving({ limits: { sessions: 1 } })
    const mine = await token("ada")
    const { promise: free, resolve } = deferred()
    app.registry.register(tool({ name: "waits", execute: () => free }))
    const session = await beginSession(ask, mine)
    const running = ask({
      headers: session,
      body: legacyBody("tools/call", { name: "waits", _meta: { progressToken: 1 } }),
    })
    const begin = () => ask({ headers: headersFor(mine), body: legacyBody("initialize", hello) })
    await until(async () => (await begin()).status === 503, "there is no room")
    expect((await begin()).headers["retry-after"]).toBe("60")
    resolve()
    expect((await running).status).toBe(200)
    await until(async () => (await begin()).status === 200, "there is room again")
  })
})

describe("tokens", () => {
  test("a session cannot be used with another token, not even of the same agent", async () => {
    const { ask, token } = await serving()
    const session = await beginSession(ask, await token("ada"))
    for (const agentId of ["ada", "bob"]) {
      const headers = { ...session, authorization: `Bearer ${await token(agentId)}` }
      expect((await ask({ headers, body: legacyBody("tools/list") })).status).toBe(404)
      expect((await ask({ method: "DELETE", headers })).status).toBe(404)
      expect((await ask({ method: "GET", headers })).status).toBe(404)
    }
    expect((await ask({ headers: session, body: legacyBody("tools/list") })).status).toBe(200)
  })

  test("revoking a token ends its sessions, streams and running calls", async () => {
    const { app, served, ask } = await serving({ limits: { sweepMs: 20 } })
    const { token: mine, entry } = await app.tokens.create({ agentId: "ada" }, "a test")
    const [begun, stopped] = [
      [deferred(), deferred()],
      [deferred(), deferred()],
    ]
    app.registry.register(
      defineTool({
        name: "works",
        group: "test",
        description: "Works until it is stopped.",
        effect: "none",
        input: z.object({ which: z.number() }),
        execute: ({ which }, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve(stopped[which]?.resolve()))
            begun[which]?.resolve()
          }),
      }),
    )
    const session = await beginSession(ask, mine)
    const stream = await listen(served.port, session)
    const call = (which: number, _meta: unknown) =>
      ask({ headers: session, body: legacyBody("tools/call", { name: "works", arguments: { which }, _meta }) })
    // One takes the SDK's handler, one the fast path.
    const running = [call(0, { progressToken: 1 })]
    await begun[0]?.promise
    running.push(call(1, {}))
    await begun[1]?.promise
    for (const each of running) each.catch(() => {})
    expect(served.sessions()).toBe(1)
    await app.tokens.revoke(entry.id, "a test")
    await Promise.all([stream.closed, ...stopped.map(({ promise }) => promise)])
    for (const each of running) await expect(each).rejects.toThrow()
    await until(() => served.sessions() === 0, "the session ended")
    expect((await ask({ headers: session, body: legacyBody("tools/list") })).status).toBe(401)
  })
})

describe("sessions", () => {
  test("DELETE ends a session", async () => {
    const { served, ask, token } = await serving()
    const session = await beginSession(ask, await token("ada"))
    expect((await ask({ method: "DELETE", headers: session })).status).toBe(200)
    expect(served.sessions()).toBe(0)
    expect((await ask({ headers: session, body: legacyBody("ping") })).status).toBe(404)
  })

  test("a GET stream notifies the client that its list changed", async () => {
    const { app, served, ask, token } = await serving()
    const session = await beginSession(ask, await token("ada"))
    const stream = await listen(served.port, session)
    app.registry.register(tool({ name: "fresh", execute: () => 1 }))
    await until(() => stream.text().includes("notifications/tools/list_changed"), "the client was notified")
    await served.close()
    await stream.closed
  })

  test("a session that was idle for 15 minutes has ended", async () => {
    const clock = { now: 0 }
    const { ask, token, served } = await serving({ now: () => clock.now, limits: { sweepMs: 10 } })
    const session = await beginSession(ask, await token("ada"))
    clock.now = 15 * 60_000 - 1
    expect((await ask({ headers: session, body: legacyBody("ping") })).status).toBe(200)
    clock.now += 15 * 60_000
    await until(() => served.sessions() === 0, "it ended")
    expect((await ask({ headers: session, body: legacyBody("ping") })).status).toBe(404)
  })

  test("an initialize that is refused leaves no session behind", async () => {
    const { served, ask, token } = await serving()
    const headers = { ...headersFor(await token("ada")), accept: "application/json" }
    expect((await ask({ headers, body: legacyBody("initialize", hello) })).status).toBe(406)
    expect(served.sessions()).toBe(0)
  })
})

describe("a client that disconnects", () => {
  test.each([
    ["in a session, by the fast path", "legacy", {}, {}],
    ["in a session, by the SDK", "legacy", { progressToken: 1 }, {}],
    ["with an envelope, by the fast path", "modern", {}, {}],
    ["with an envelope, by the SDK", "modern", { progressToken: 1 }, {}],
    ["with an envelope and a person", "modern", {}, { elicitation: {} }],
  ])("%s: its call is aborted", async (_, era, _meta, capabilities) => {
    const { app, ask, token } = await serving()
    const begun = deferred()
    app.registry.register(
      tool({
        name: "works",
        execute: (_: unknown, { signal }: { signal: AbortSignal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => resolve("stopped"))
            begun.resolve()
          }),
      }),
    )
    app.registry.register(tool({ name: "first", execute: () => 1 }))
    const mine = await token("ada", { person: "pat" })
    await ask(modernRequest(mine, "tools/call", { name: "first" }))
    const disconnect = new AbortController()
    const params = { name: "works", _meta }
    const posted: RawRequest =
      era === "modern"
        ? modernRequest(mine, "tools/call", params, capabilities)
        : { headers: await beginSession(ask, mine), body: legacyBody("tools/call", params) }
    const pending = ask({ ...posted, signal: disconnect.signal })
    await begun.promise
    disconnect.abort()
    await expect(pending).rejects.toThrow(/abort/i)
    await until(async () => {
      await app.settle()
      return (await app.audit.list({ tool: "works" })).some(({ code }) => code === "aborted")
    }, "the call was aborted")
  })
})

describe("request state", () => {
  const openCallState = async () => {
    const all = await serving()
    all.app.registry.register(
      tool({ name: "asks", effect: "write", permission: { level: "moderate" }, execute: () => "done" }),
    )
    const mine = await all.token("ada", { person: "pat" })
    const call = (more: Record<string, unknown> = {}, bearer = mine) =>
      all.ask(modernRequest(bearer, "tools/call", { name: "asks", arguments: {}, ...more }, { elicitation: {} }))
    const first = (await call()).message?.["result"] as {
      resultType: string
      requestState: string
      inputRequests: Record<string, unknown>
    }
    expect(first.resultType).toBe("input_required")
    const [key = ""] = Object.keys(first.inputRequests)
    const inputResponses = { [key]: { action: "accept", content: { decision: "once" } } }
    return { ...all, call, first, inputResponses }
  }
  const runs = async ({ app }: Awaited<ReturnType<typeof openCallState>>) => {
    await app.settle()
    return (await app.audit.list({ tool: "asks" })).filter(({ status }) => status === "success").length
  }

  test("it is valid once, for the client that got it", async () => {
    const all = await openCallState()
    const { call, first, inputResponses } = all
    const reply = await call({ requestState: first.requestState, inputResponses })
    expect(reply.message?.["result"]).toMatchObject({ content: [{ type: "text", text: "done" }] })
    const again = await call({ requestState: first.requestState, inputResponses })
    expect((again.message as Code)?.error).toMatchObject({ code: -32_602, message: "Invalid or expired requestState" })
    expect(await runs(all)).toBe(1)
  })

  test.each([
    ["made up", () => "forged"],
    ["changed", (state: string) => `${state.slice(0, -2)}${state.endsWith("A") ? "BB" : "AA"}`],
    ["cut off", (state: string) => state.slice(0, 20)],
    ["empty", () => ""],
    ["no text", () => 7],
  ])("%s, it is refused and nothing happens", async (_, change) => {
    const all = await openCallState()
    const { call, first, inputResponses } = all
    const { message } = await call({ requestState: change(first.requestState), inputResponses })
    expect((message as Code)?.error?.code).toBe(-32_602)
    expect(await runs(all)).toBe(0)
    expect(await all.app.approvals.list()).toHaveLength(1)
  })

  test("of another agent or for another input, it is refused and nothing happens", async () => {
    const all = await openCallState()
    const { call, first, inputResponses, token } = all
    const { requestState } = first
    const theirs = await call({ requestState, inputResponses }, await token("bob", { person: "pat" }))
    expect((theirs.message as Code)?.error?.code).toBe(-32_602)
    const other = await call({ requestState, inputResponses, arguments: { more: 1 } })
    expect((other.message as Code)?.error?.code).toBe(-32_602)
    expect(await runs(all)).toBe(0)
  })
})

/** Opens the GET stream on which a client receives notifications. */
async function listen(port: number, headers: Record<string, string | undefined>) {
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
  const outgoing = request({ host: "127.0.0.1", port, method: "GET", path: "/mcp", headers: sent as never })
  onTestFinished(() => void outgoing.destroy())
  outgoing.on("error", () => {})
  outgoing.end()
  const [response] = (await once(outgoing, "response")) as [import("node:http").IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`Listening was answered with ${response.statusCode}.`)
  let text = ""
  response.on("error", () => {})
  response.on("data", (chunk: Buffer) => (text += chunk.toString()))
  return { text: () => text, closed: new Promise<void>((resolve) => response.on("close", () => resolve())) }
}
