import { expect, test } from "vitest"
import { openTestApp } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const rules = [{ allow: "mcp:*", because: "The tests use them." }]
const number = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
const text = (value: string) => [{ type: "text", text: value }]

test("each invalid or failed result of a server has its own ending", async () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" }
  const everything = [
    ...text("hello"),
    image,
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "note://1", text: "one" } },
    { type: "resource", resource: { uri: "note://2", blob: "AAAA" } },
    { type: "resource_link", uri: "note://3", name: "three", annotations: { audience: ["user"] } },
  ]
  const results = {
    everything: { content: everything, _meta: { "example.com/seen": 1 } },
    keeps: { content: text("7"), structuredContent: { n: 7, more: "kept" } },
    breaks: { content: text("7"), structuredContent: { n: "seven" } },
    forgets: { content: text("7") },
    fails: { content: [...text("It is closed."), image], structuredContent: { open: false }, isError: true },
    silent: { content: [], isError: true },
    unknown: { content: [{ type: "hologram", data: "AAAA" }] },
    noText: { content: [{ type: "text" }] },
    noBase64: { content: [{ type: "image", data: "not base64!", mimeType: "image/png" }] },
    noList: { content: "hello" },
  }
  const promises = ["keeps", "breaks", "forgets"]
  const tools = Object.keys(results).map((name) =>
    definition(name, promises.includes(name) ? { outputSchema: number } : {}),
  )
  const app = await openTestApp({ mcpServers: { box: toolbox({ tools, results }).command }, rules })
  await app.mcp.ready()
  const call = (name: string) => app.call({ agentId: "operator", tool: `mcp:box:${name}`, input: {} })

  expect(await call("everything")).toMatchObject({ success: true, result: results.everything })
  expect((await call("keeps")).result).toEqual(results.keeps)
  expect(await call("breaks")).toMatchObject({ code: "output_invalid", error: expect.stringContaining("Field 'n'") })
  expect(await call("forgets")).toMatchObject({
    code: "output_invalid",
    error: expect.stringContaining("structuredContent"),
  })
  expect(await call("fails")).toMatchObject({
    code: "tool_failed",
    error: "It is closed.",
    metadata: { toolCode: "mcp_error", content: results.fails.content, structuredContent: { open: false }, ran: true },
  })
  expect(await call("silent")).toMatchObject({ code: "tool_failed", error: expect.stringContaining("not why") })
  for (const [name, what] of [
    ["unknown", 'type "hologram"'],
    ["noText", "has no text"],
    ["noBase64", "not in base64"],
    ["noList", "content that is not a list"],
  ] as const) {
    expect(await call(name)).toMatchObject({ code: "output_invalid", error: expect.stringContaining(what) })
  }
})

test("input that does not match the schema never reaches the server", async () => {
  const named = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
  const closed = { ...named, additionalProperties: false }
  const box = toolbox({
    tools: [
      definition("strict", { inputSchema: closed }),
      definition("open", { inputSchema: named }),
      definition("anything", { inputSchema: { type: "object" } }),
    ],
  })
  const app = await openTestApp({ mcpServers: { box: box.command }, rules })
  await app.mcp.ready()
  const call = (name: string, input: unknown) => app.call({ agentId: "operator", tool: `mcp:box:${name}`, input })
  for (const [name, input, code] of [
    ["strict", { n: 1 }, undefined],
    ["strict", { n: "1" }, "invalid_arguments"],
    ["strict", { n: 1, m: 2 }, "invalid_arguments"],
    ["strict", {}, "invalid_arguments"],
    ["open", { n: 1, m: 2 }, undefined],
    ["open", { m: 2 }, "invalid_arguments"],
    ["anything", { x: [1] }, undefined],
    ["anything", {}, undefined],
    ["anything", "text", "invalid_arguments"],
  ] as const) {
    expect([name, input, (await call(name, input)).code]).toEqual([name, input, code])
  }
  expect(box.calls()).toEqual(["strict", "open", "anything", "anything"])
})

test("a tool whose definition cannot be used is left out with a sentence, and the others stay", async () => {
  let deep: Record<string, unknown> = { type: "string" }
  for (let level = 0; level < 400; level++) deep = { type: "object", properties: { a: deep } }
  const box = toolbox({
    tools: [
      definition("good"),
      definition("reference", { inputSchema: { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } } }),
      definition("promise", { outputSchema: { type: "object", properties: { a: { type: "wrong" } } } }),
      definition("long", { description: "x".repeat(16_001) }),
      definition("large", { inputSchema: { type: "object", title: "x".repeat(260 * 1024) } }),
      definition("deep", { inputSchema: deep }),
      definition("list", { inputSchema: { type: "array" } }),
      definition("text", { inputSchema: "none" as never }),
      { name: "nothing" },
      { name: "number", description: 5, inputSchema: { type: "object" } },
      definition("good", { description: "Says that it is the good one." }),
    ],
  })
  const app = await openTestApp({ mcpServers: { box: box.command }, rules })
  await app.mcp.ready()
  expect(app.visibleTools("operator").filter(({ type }) => type === "mcp")).toMatchObject([
    { name: "mcp:box:good", description: "Does good." },
  ])
  const warnings = new Map(app.mcp.pins("box").map(({ tool, warnings: [first] }) => [tool, first]))
  expect(Object.fromEntries(warnings)).toMatchObject({
    good: undefined,
    reference: expect.stringContaining("input schema cannot be used"),
    promise: expect.stringContaining("output schema cannot be used"),
    long: expect.stringContaining("16001 characters"),
    large: expect.stringContaining("are the most"),
    deep: expect.stringContaining("nested too deep"),
    list: expect.stringContaining("inputSchema of type object"),
    text: expect.stringContaining("inputSchema of type object"),
    nothing: expect.stringContaining("inputSchema of type object"),
    number: expect.stringContaining("is not valid"),
  })
  expect(app.mcp.list()).toMatchObject([{ tools: 1, quarantined: 0 }])
  await app.close()
  // Unusable tools stay left out when they are read from the pins.
  const again = await openTestApp(
    { mcpServers: { box: box.command }, rules, data: { dir: app.dir } },
    { writes: "direct" },
  )
  expect(again.registry.list({ group: "box" }).filter((tool) => tool.exposedAs === undefined)).toHaveLength(1)
})

test("an invalid item in a server's list does not affect the other items", async () => {
  const deep = Array.from({ length: 2000 }).reduce<unknown>((inner) => ({ a: inner }), {})
  const box = toolbox({
    tools: [definition("good"), definition("odd", { annotations: { title: {}, destructiveHint: true } as never })],
    resources: [
      { uri: "note://a", name: "a" },
      { uri: "note://b", name: 5 },
      { uri: "note://c", name: "c\u200b" },
    ] as never,
    prompts: [{ name: "greet" }, { name: "odd", arguments: 7 }] as never,
  })
  const buried = toolbox({
    tools: [definition("fine")],
    resources: [{ uri: "deep://a", name: "a", _meta: deep }] as never,
  })
  const app = await openTestApp({ mcpServers: { box: box.command, buried: buried.command }, rules })
  await app.mcp.ready()
  expect(app.mcp.resources("box").map(({ uri }) => uri)).toEqual(["note://a"])
  expect(app.mcp.prompts("box").map(({ name }) => name)).toEqual(["greet"])
  expect(app.mcp.resources("buried")).toEqual([])
  const tools = app.visibleTools("operator").filter(({ type }) => type === "mcp")
  expect(tools.map(({ name }) => name)).toEqual(["mcp:box:good", "mcp:box:odd", "mcp:buried:fine"])
  expect(tools[1]).toMatchObject({
    mcp: { annotations: { destructiveHint: true } },
    permission: { level: "sensitive" },
  })
})

test("a server that exits during a call ends it with a sentence, and the next call restarts it", async () => {
  const box = toolbox({ tools: [definition("crash"), definition("echo")] })
  const app = await openTestApp({ mcpServers: { box: box.command }, rules })
  await app.mcp.ready()
  const call = (name: string) => app.call({ agentId: "operator", tool: `mcp:box:${name}`, input: {} })
  expect(await call("crash")).toMatchObject({
    code: "upstream_unavailable",
    error: expect.stringContaining("may have run"),
  })
  expect(await call("echo")).toMatchObject({ success: true })
  expect(app.mcp.list()).toMatchObject([{ state: "connected", restarts: 1 }])
})
