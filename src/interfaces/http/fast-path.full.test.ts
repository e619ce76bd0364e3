import fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { defineTool } from "../../schema/define-tool.ts"
import type { Tool, ToolContext } from "../../core/tool.ts"
import { tool, until } from "../../testing/test-app.ts"
import { mcpOverHttp } from "../mcp/http.ts"
import { serveHttp } from "./serve.ts"
import {
  rawClient,
  beginSession,
  withoutFastPath,
  envelope,
  legacyBody,
  modernRequest,
  protocolRevisions,
  serveAppForTest,
  type RawResponse,
  type RawRequest,
} from "./testing.ts"

const image = { type: "image", data: "aGk=", mimeType: "image/png" }

const free = { permission: { level: "public" } as const, group: "test" }

function tools(): Tool[] {
  const text = z.object({ text: z.string() })
  return [
    defineTool({
      ...free,
      name: "echo",
      description: "Repeats its input.",
      effect: "none",
      input: text,
      execute: ({ text }) => text,
    }),
    defineTool({
      ...free,
      name: "measure",
      title: "Measures",
      description: "Counts characters.",
      effect: "read",
      input: text,
      output: z.object({ length: z.number() }),
      execute: ({ text }) => ({ length: text.length }),
    }),
    tool({ ...free, name: "nothing", execute: () => undefined }),
    tool({
      ...free,
      name: "fails",
      execute: () => {
        throw failure("It is broken. Try another.", { toolCode: "broken" })
      },
    }),
    tool({
      ...free,
      name: "throws",
      execute: () => {
        throw new Error("a defect")
      },
    }),
    tool({ ...free, name: "long", execute: () => "ab".repeat(20_000) }),
    tool({
      ...free,
      name: "held",
      permission: { level: "public", requireResultApproval: "always" },
      execute: () => "secret",
    }),
    tool({ ...free, name: "asks", permission: { level: "moderate" }, effect: "write", execute: () => "done" }),
    tool({
      ...free,
      name: "chain",
      kind: "composite",
      execute: async (_: unknown, context: ToolContext) => (await context.call("asks", {})).success,
    }),
    tool({ ...free, name: "denied", execute: () => "never" }),
    tool({ ...free, name: "elsewhere", group: "other", execute: () => "never" }),
    tool({
      ...free,
      name: "streams",
      async *execute() {
        yield "one"
        yield "two"
      },
    }),
  ]
}

/** Tools with the content of other servers, including content that the protocol does not allow. */
function upstreamTools(): Tool[] {
  const value = (name: string, changed: unknown) => tool({ ...free, name, execute: () => changed })
  return [
    value("image", { content: [{ type: "text", text: "see" }, image] }),
    value("noted", { content: [{ type: "text", text: "x", annotations: { priority: 1 } }], _meta: { "a/b": 1 } }),
    value("extra", { content: [{ type: "text", text: "x", unknown: true }], structuredContent: { a: [1] } }),
    value("link", { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] }),
    value("list", { content: [], structuredContent: [1, 2] }),
    value("odd", { content: [{ type: "image", data: "%%%", mimeType: "image/png" }] }),
    value("proto", { content: [], structuredContent: JSON.parse('{"__proto__":{"a":1},"b":2}') }),
  ]
}

const config = {
  org: {
    people: [{ id: "pat", name: "Pat" }],
    roles: [
      { name: "worker", toolGroups: ["test"] },
      { name: "guest", toolGroups: ["other"] },
    ],
    agents: [
      { id: "ada", role: "worker" },
      { id: "gus", role: "guest" },
    ],
  },
  rules: [{ deny: "denied", args: { "/really": "*" }, because: "Nobody needs this." }],
}

/** Serves an app with all tools of this test. */
async function serveTestTools(makeMcp = mcpOverHttp) {
  const all = await serveAppForTest(config as never, { waitMs: 20 }, {}, makeMcp)
  for (const item of tools()) all.app.registry.register(item)
  for (const item of upstreamTools()) all.app.registry.register(item, { type: "mcp" })
  return all
}

/** Serves one app twice: with the fast path and without. */
async function serveBothWays() {
  const { app, served, token } = await serveTestTools()
  const plain = await serveHttp(app, { port: 0, version: "1.2.3", waitMs: 20 }, withoutFastPath)
  onTestFinished(() => plain.close())
  const [fast, sdk] = [rawClient(served.port), rawClient(plain.port)]
  const tokens = { ada: await token("ada"), gus: await token("gus") }
  const sessions = {
    ada: [await beginSession(fast, tokens.ada), await beginSession(sdk, tokens.ada)] as const,
    gus: [await beginSession(fast, tokens.gus), await beginSession(sdk, tokens.gus)] as const,
  }
  return {
    tokens,
    /** The responses of both servers to one request of the newest revision. */
    modern: async (asking: RawRequest) => [comparable(await fast(asking)), comparable(await sdk(asking))],
    /** The same in a session with each server. */
    legacy: async (who: "ada" | "gus", asking: RawRequest) => {
      const [fastSession, sdkSession] = sessions[who]
      return [
        comparable(await fast({ ...asking, headers: { ...fastSession, ...asking.headers } })),
        comparable(await sdk({ ...asking, headers: { ...sdkSession, ...asking.headers } })),
      ]
    },
  }
}

/** The parts of a response that must be equal. It may come as JSON or on a stream; ids and times differ. */
function comparable({ status, headers, text, message }: RawResponse) {
  const plain = (value: string) =>
    value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replaceAll(/"until":\d+/g, '"until":0')
      .replaceAll(/"requestState":"[^"]+"/g, '"requestState":"<state>"')
  const { allow, "www-authenticate": challenge, "retry-after": retry } = headers
  const session = headers["mcp-session-id"] === undefined ? undefined : "<session>"
  const body = message === undefined ? text : (JSON.parse(plain(JSON.stringify(message))) as unknown)
  return { status, allow, challenge, retry, session: status === 200 ? session : undefined, body }
}

const names = [
  ["echo", { text: "hello" }],
  ["echo", { text: "ünïcode 🎈 \u2028 \ud800" }],
  ["echo", {}],
  ["echo", { text: 1 }],
  ["echo", { text: "a", more: true }],
  ["measure", { text: "hello" }],
  ["nothing", undefined],
  ["nothing", {}],
  ["fails", {}],
  ["throws", {}],
  ["long", {}],
  ["denied", {}],
  ["elsewhere", {}],
  ["unknown", {}],
  ["", {}],
  ["streams", {}],
  ["image", {}],
  ["noted", {}],
  ["extra", {}],
  ["link", {}],
  ["list", {}],
  ["odd", {}],
  ["proto", {}],
  ["echo@1", { text: "a" }],
  ["echo", { __proto__: null, text: "a", ["__proto__x"]: 1 }],
  ["echo", [1]],
  ["echo", null],
  ["echo", "text"],
  ["held", {}],
  ["asks", {}],
  ["chain", {}],
] as const

const metas = {
  none: undefined,
  trace: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  "a bad trace": { traceparent: 7 },
  progress: { progressToken: "p" },
  "bad progress": { progressToken: {} },
  other: { "example.com/x": [1] },
}

const bodies: Record<string, string> = {
  "no params": '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
  "no name": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
  "a number for a name": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}',
  "params that are a list": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["echo"]}',
  "params that are null": '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}',
  "a cursor": '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}',
  "a bad cursor": '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":1}}',
  "a text for an id": '{"jsonrpc":"2.0","id":"é\\"1","method":"tools/list"}',
  "an empty id": '{"jsonrpc":"2.0","id":"","method":"tools/list"}',
  "zero for an id": '{"jsonrpc":"2.0","id":0,"method":"tools/list"}',
  "a part of a number for an id": '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}',
  "a huge id": '{"jsonrpc":"2.0","id":1e99,"method":"tools/list"}',
  "null for an id": '{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
  "another version": '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
  "no version": '{"id":1,"method":"tools/list"}',
  "something more": '{"jsonrpc":"2.0","id":1,"method":"tools/list","more":1}',
  "a key twice": '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
  "a prototype":
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"__proto__":{"text":"a"}}}}',
  "a prototype around it": '{"jsonrpc":"2.0","id":1,"method":"tools/list","__proto__":{}}',
  "an unknown method": '{"jsonrpc":"2.0","id":1,"method":"tools/eat"}',
  "a method of objects": '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
  "a ping": '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  resources: '{"jsonrpc":"2.0","id":1,"method":"resources/list"}',
  "a notification": '{"jsonrpc":"2.0","method":"tools/list"}',
  "an answer": '{"jsonrpc":"2.0","id":1,"result":{}}',
  "a list": '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
  "an empty list": "[]",
  null: "null",
  "a number": "1",
  "a text": '"tools/list"',
  nothing: "",
  "half of it": '{"jsonrpc":"2.0","id":1,"method":"tools/li',
  "two of them": '{"jsonrpc":"2.0","id":1,"method":"tools/list"}{}',
  "a task":
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"task":{"ttl":1}}}',
  state:
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"requestState":"forged"}}',
}

const headers: Record<string, Record<string, string | undefined>> = {
  "another type": { "content-type": "text/plain" },
  "a type with a charset": { "content-type": "application/json; charset=utf-8" },
  "a type in capitals": { "content-type": "Application/JSON" },
  "a type that only mentions it": { "content-type": "text/plain; a=application/json" },
  "no type": { "content-type": undefined },
  "no accept": { accept: undefined },
  "only JSON": { accept: "application/json" },
  "only streams": { accept: "text/event-stream" },
  anything: { accept: "*/*" },
  "another revision": { "mcp-protocol-version": "2025-03-26" },
  "an unknown revision": { "mcp-protocol-version": "1999-01-01" },
  "the other era": { "mcp-protocol-version": protocolRevisions.modern },
  "no revision": { "mcp-protocol-version": undefined },
  "another method": { "mcp-method": "tools/eat" },
  "no method": { "mcp-method": undefined },
  "another name": { "mcp-name": "fails" },
  "no name": { "mcp-name": undefined },
  "an encoded name": { "mcp-name": `=?base64?${Buffer.from("echo").toString("base64")}?=` },
  "a badly encoded name": { "mcp-name": "=?base64?***?=" },
  "another session": { "mcp-session-id": "7c0f9d2e-0000-4000-8000-000000000000" },
  "no session": { "mcp-session-id": undefined },
  "an empty session": { "mcp-session-id": "" },
}

describe("the fast path", () => {
  test("it is taken for calls that end at once, for every client", async () => {
    const { ask, app, token } = await serveAppForTest(config as never)
    for (const item of tools()) app.registry.register(item)
    const ways = [
      [await token("ada"), {}],
      [await token("ada", { person: "pat" }), { elicitation: {}, roots: {}, sampling: {} }],
    ] as const
    for (const [mine, capabilities] of ways) {
      const session = await beginSession(ask, mine, capabilities)
      const types: unknown[] = []
      // The first call of an agent takes the slow path, to load the tickets of earlier processes.
      for (const name of ["echo", "echo", "fails", "unknown", "streams", "denied"]) {
        const body = legacyBody("tools/call", { name, arguments: { text: "a" } })
        types.push((await ask({ headers: session, body })).headers["content-type"])
      }
      expect(types.slice(1)).toEqual(Array.from({ length: 5 }, () => "application/json"))
      const list = await ask({ headers: session, body: legacyBody("tools/list") })
      expect(list.headers["content-type"]).toBe("application/json")
      const slow = await ask({
        headers: session,
        body: legacyBody("tools/call", { name: "echo", _meta: { progressToken: 1 } }),
      })
      expect(slow.headers["content-type"]).toBe("text/event-stream")
    }
  })
})

describe("calls that the fast path passes to the SDK", () => {
  test("a call whose result is held runs once, and its ticket gets that result", async () => {
    const { ask, app, token } = await serveAppForTest(config as never, { waitMs: 10 })
    let runs = 0
    const permission = { level: "public", requireResultApproval: "always" } as const
    app.registry.register(tool({ ...free, name: "held", permission, execute: () => `run ${(runs += 1)}` }))
    app.registry.register(tool({ ...free, name: "first", execute: () => 1 }))
    const mine = await token("ada")
    await ask(modernRequest(mine, "tools/call", { name: "first" }))
    const call = async () => JSON.stringify((await ask(modernRequest(mine, "tools/call", { name: "held" }))).message)
    expect(await call()).toContain("held back until a person releases it")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "release" }, "pat")
    await until(async () => (await call()).includes('"run 1"'), "the result came")
    expect(runs).toBe(1)
  })

  test("the client's person is asked about a waiting call even when unattended calls are rejected", async () => {
    const alone = { ...config, approvals: { unattended: "reject" } }
    const { ask, app, token } = await serveAppForTest(alone as never)
    for (const item of tools()) app.registry.register(item)
    const mine = await token("ada", { person: "pat" })
    const call = (name: string) =>
      ask(modernRequest(mine, "tools/call", { name, arguments: { text: "a" } }, { elicitation: {} }))
    await call("echo")
    const asks = tool({
      ...free,
      name: "agrees",
      effect: "write",
      permission: { level: "moderate" },
      execute: () => "done",
    })
    app.registry.register(asks)
    const { message } = await ask(modernRequest(mine, "tools/call", { name: "agrees" }, { elicitation: {} }))
    expect(message).toMatchObject({ result: { resultType: "input_required" } })
    const { message: other } = await ask(modernRequest(await token("ada"), "tools/call", { name: "asks" }))
    expect(other).toMatchObject({ result: { _meta: { "quartermaster/ending": { code: "approval_rejected" } } } })
  })
})

describe("the fast path answers like the SDK's handlers", () => {
  test("for each tool, each input and each kind of metadata, in both eras", async () => {
    const { modern, legacy, tokens } = await serveBothWays()
    let compared = 0
    const compare = async (who: "ada" | "gus", params: Record<string, unknown>) => {
      const [fast, sdk] = await modern(modernRequest(tokens[who], "tools/call", params))
      expect(fast, `${who} ${JSON.stringify(params)}`).toEqual(sdk)
      const [one, other] = await legacy(who, { body: legacyBody("tools/call", params) })
      expect(one, `${who} ${JSON.stringify(params)}`).toEqual(other)
      compared += 2
    }
    for (const who of ["ada", "gus"] as const) {
      const listed = await modern(modernRequest(tokens[who], "tools/list"))
      expect(listed[0]).toEqual(listed[1])
      const inSession = await legacy(who, { body: legacyBody("tools/list") })
      expect(inSession[0]).toEqual(inSession[1])
      for (const [name, input] of names) await compare(who, input === undefined ? { name } : { name, arguments: input })
    }
    for (const _meta of Object.values(metas)) {
      for (const name of ["echo", "fails", "streams", "image"])
        await compare("ada", { name, arguments: { text: "a" }, _meta })
    }
    expect(compared).toBeGreaterThan(150)
  })

  test("for each tool when the client has a person to ask", async () => {
    // Two apps: in one app the second call would join the first one's waiting call.
    const servers = [await serveTestTools(), await serveTestTools(withoutFastPath)] as const
    const [mine, theirs] = [
      await servers[0].token("ada", { person: "pat" }),
      await servers[1].token("ada", { person: "pat" }),
    ]
    for (const capabilities of [{ elicitation: {} }, { elicitation: { url: {} } }, { sampling: {} }]) {
      for (const [name, input = {}] of names) {
        const params = { name, arguments: input }
        const fast = comparable(await servers[0].ask(modernRequest(mine, "tools/call", params, capabilities)))
        const sdk = comparable(await servers[1].ask(modernRequest(theirs, "tools/call", params, capabilities)))
        expect(fast, JSON.stringify([capabilities, params])).toEqual(sdk)
      }
    }
  })

  test("for valid, invalid and unusual bodies", async () => {
    const { modern, legacy, tokens } = await serveBothWays()
    for (const [what, body] of Object.entries(bodies)) {
      const [one, other] = await legacy("ada", { body })
      expect(one, what).toEqual(other)
      const [fast, sdk] = await modern({ ...modernRequest(tokens.ada, "tools/list"), body })
      expect(fast, what).toEqual(sdk)
      const enveloped = withEnvelope(body)
      if (enveloped === undefined) continue
      const { method } = JSON.parse(enveloped) as { method: string }
      const mirrored = modernRequest(tokens.ada, method, { name: "echo" }).headers
      const [mine, theirs] = await modern({ headers: mirrored, body: enveloped })
      expect(mine, what).toEqual(theirs)
    }
  })

  test("for valid, invalid and unusual headers", async () => {
    const { modern, legacy, tokens } = await serveBothWays()
    const params = { name: "echo", arguments: { text: "a" } }
    const asking = modernRequest(tokens.ada, "tools/call", params)
    for (const [what, changed] of Object.entries(headers)) {
      const [one, other] = await legacy("ada", { headers: changed, body: legacyBody("tools/call", params) })
      expect(one, what).toEqual(other)
      const [fast, sdk] = await modern({ ...asking, headers: { ...asking.headers, ...changed } })
      expect(fast, what).toEqual(sdk)
    }
  })

  test("for valid, invalid and unusual envelopes", async () => {
    const { modern, tokens } = await serveBothWays()
    const capabilities = [
      {},
      { elicitation: {} },
      { elicitation: { form: {}, url: {} } },
      { roots: { listChanged: true } },
      { sampling: {} },
      { experimental: { a: {} } },
      { elicitation: 1 },
      null,
      [],
      "x",
      { sampling: { tools: {} }, extensions: {} },
    ]
    const more = [
      {},
      { "io.modelcontextprotocol/logLevel": "info" },
      { "io.modelcontextprotocol/logLevel": "loud" },
      { "io.modelcontextprotocol/clientInfo": {} },
      { "io.modelcontextprotocol/clientInfo": undefined },
      { "io.modelcontextprotocol/protocolVersion": "2025-11-25" },
      { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
      { "io.modelcontextprotocol/clientCapabilities": undefined },
    ]
    for (const can of capabilities) {
      for (const _meta of more) {
        const params = { name: "echo", arguments: { text: "a" }, _meta }
        const [fast, sdk] = await modern(modernRequest(tokens.ada, "tools/call", params, can))
        expect(fast, JSON.stringify([can, _meta])).toEqual(sdk)
      }
    }
  })

  test("[law] for messages that are nearly valid", async () => {
    const { modern, legacy, tokens } = await serveBothWays()
    const odd = fc.oneof(
      fc.constantFrom(undefined, null, 0, "", "echo", "tools/call", [], {}, true),
      fc.jsonValue({ maxDepth: 2 }),
    )
    const nearly = fc.record(
      {
        jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant("2.0") }, odd),
        id: fc.oneof({ weight: 9, arbitrary: fc.oneof(fc.integer(), fc.string()) }, odd),
        method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom("tools/call", "tools/list") }, odd),
        params: fc.oneof(
          {
            weight: 9,
            arbitrary: fc.record(
              {
                name: fc.oneof(
                  { weight: 9, arbitrary: fc.constantFrom("echo", "measure", "image", "nothing", "unknown") },
                  odd,
                ),
                arguments: fc.oneof(
                  {
                    weight: 9,
                    arbitrary: fc.record({ text: fc.oneof(fc.string({ unit: "binary" }), odd) }, { requiredKeys: [] }),
                  },
                  odd,
                ),
                cursor: odd,
              },
              { requiredKeys: ["name"] },
            ),
          },
          odd,
        ),
      },
      { requiredKeys: ["jsonrpc", "id", "method"] },
    )
    await fc.assert(
      fc.asyncProperty(nearly, fc.boolean(), async (message, isModern) => {
        if (!isModern) {
          const [one, other] = await legacy("ada", { body: JSON.stringify(message) })
          expect(one).toEqual(other)
          return
        }
        const body = withEnvelope(JSON.stringify(message)) ?? JSON.stringify(message)
        const name = (message.params as { name?: unknown } | undefined)?.name
        const asking = modernRequest(
          tokens.ada,
          String(message.method ?? "x").replaceAll(/[^\x21-\x7e]/g, "?") || "x",
          typeof name === "string" ? { name: name.replaceAll(/[^\x21-\x7e]/g, "?") } : {},
        )
        const [fast, sdk] = await modern({ ...asking, body })
        expect(fast).toEqual(sdk)
      }),
      { numRuns: 100 },
    )
  })
})

/** The message with the envelope of the newest revision, if it can have one. */
function withEnvelope(text: string): string | undefined {
  try {
    const message = JSON.parse(text) as { params?: unknown; method?: unknown } | null
    if (typeof message !== "object" || message === null || Array.isArray(message) || typeof message.method !== "string")
      return undefined
    const { params = {} } = message
    if (typeof params !== "object" || params === null || Array.isArray(params)) return undefined
    return JSON.stringify({ ...message, params: { ...params, _meta: envelope() } })
  } catch {
    return undefined
  }
}
