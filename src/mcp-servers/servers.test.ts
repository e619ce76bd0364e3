import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { silentLogger } from "../core/logger.ts"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const allowed = [{ allow: "mcp:*", because: "The tests use them." }]
const textResult = (text: string) => ({ content: [{ type: "text", text }] })

test("a server's tools are governed like any tool: by groups, rules and limits", async () => {
  const box = toolbox({ tools: ["echo", "secret", "few", "careful"].map((name) => definition(name)) })
  const app = await openTestApp({
    mcpServers: [{ name: "box", ...box.command }],
    org: {
      roles: [
        { name: "clerk", toolGroups: ["box"] },
        { name: "guest", toolGroups: ["system"] },
      ],
      agents: [
        { id: "clerk", role: "clerk" },
        { id: "guest", role: "guest" },
      ],
    },
    rules: [
      { deny: "mcp:box:secret", because: "Nobody needs it." },
      { allow: "group:box", because: "Clerks use it." },
      { ask: "mcp:box:careful", because: "A person looks first." },
    ],
    tools: { permissions: { "mcp:box:few": { rateLimit: { maxCallsPerHour: 1 } } } },
  } as Config)
  await app.mcp.ready()
  const call = (agentId: string, name: string) => app.call({ agentId, tool: name, input: { text: "hi" } })

  expect(app.visibleTools("clerk").map(({ name }) => name)).toEqual(["mcp:box:careful", "mcp:box:echo", "mcp:box:few"])
  expect(app.visibleTools("guest").filter(({ type }) => type === "mcp")).toEqual([])
  expect(app.listGroups()).toContainEqual(expect.objectContaining({ id: "box", isReserved: false }))
  expect(await call("clerk", "mcp:box:echo")).toMatchObject({ success: true, result: textResult('{"text":"hi"}') })
  expect(await call("clerk", "box__echo")).toMatchObject({ success: true, toolName: "mcp:box:echo" })
  expect(await call("guest", "mcp:box:echo")).toMatchObject({ code: "tool_not_available" })
  expect(await call("clerk", "mcp:box:secret")).toMatchObject({ code: "tool_not_available" })
  expect(await call("clerk", "mcp:box:few")).toMatchObject({ success: true })
  expect(await call("clerk", "mcp:box:few")).toMatchObject({ code: "rate_limited" })

  const asked = call("clerk", "mcp:box:careful")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  expect(box.calls()).not.toContain("careful")
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await asked).toMatchObject({ success: true })
  expect(box.calls()).toEqual(["echo", "echo", "few", "careful"])
  await app.settle()
  expect((await app.audit.list({ tool: "mcp:box:secret" })).map(({ code }) => code)).toEqual(["tool_not_available"])
})

test("annotations only tighten: readOnly never makes a tool public, destructive makes it sensitive", async () => {
  const box = toolbox({
    tools: [
      definition("plain"),
      definition("reads", { annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false } }),
      definition("destroys", { annotations: { destructiveHint: true, readOnlyHint: true } }),
    ],
  })
  const app = await openTestApp({ mcpServers: { box: box.command } })
  await app.mcp.ready()
  const tools = app.registry.list({ group: "box" }).filter(({ exposedAs }) => exposedAs === undefined)
  expect(
    tools.map(({ name, permission, idempotent, destructive }) => [name, permission.level, idempotent, destructive]),
  ).toEqual([
    ["mcp:box:destroys", "sensitive", false, true],
    ["mcp:box:plain", "moderate", false, undefined],
    ["mcp:box:reads", "moderate", false, undefined],
  ])
})

test("trustReadOnly counts as an allow rule for the tools that say that they only read, and for no other", async () => {
  const reads = { readOnlyHint: true }
  const tools = [
    definition("plain"),
    definition("reads", { annotations: reads }),
    definition("destroys", { annotations: { ...reads, destructiveHint: true } }),
  ]
  const [box, other] = [toolbox({ tools }), toolbox({ tools })]
  const app = await openTestApp({
    mcpServers: { box: { ...box.command, trustReadOnly: true }, other: other.command },
    org: { roles: [{ name: "guest", toolGroups: ["system"] }], agents: [{ id: "guest", role: "guest" }] },
    rules: [{ ask: "mcp:box:reads", args: { "/text": "secret*" }, because: "A person looks first." }],
  } as Config)
  await app.mcp.ready()
  const source = "mcpServers.box.trustReadOnly"
  const why = (name: string, text = "hi", agentId = "operator") =>
    app.why({ agentId, tool: `mcp:${name}`, input: { text } })
  expect(await why("box:reads")).toMatchObject({ verdict: "allow", reasons: [{ check: "rule", source }] })
  for (const name of ["box:plain", "box:destroys", "other:reads"])
    expect([name, (await why(name)).verdict]).toEqual([name, "ask"])
  expect(await why("box:reads", "secrets")).toMatchObject({ verdict: "ask" })
  expect(await why("box:reads", "hi", "guest")).toMatchObject({ verdict: "deny", code: "tool_not_available" })
  expect(await app.call({ agentId: "operator", tool: "mcp:box:reads", input: {} })).toMatchObject({ success: true })
  expect(app.rules.list()).toContainEqual(expect.objectContaining({ verdict: "allow", tool: "group:box", source }))
  expect(app.rules.flaws()).toEqual([])
})

test("a server that an allow rule trusts gets no path of ours, and protected paths only to read after a person", async () => {
  const tools = [definition("write"), definition("read", { annotations: { readOnlyHint: true } })]
  const [box, trusted] = [toolbox({ tools }), toolbox({ tools, resources: [] })]
  const folder = temporaryFolder()
  const app = await openTestApp({
    mcpServers: { box: { ...box.command, cwd: folder }, trusted: { ...trusted.command, trustReadOnly: true } },
    rules: allowed,
  })
  await app.mcp.ready()
  symlinkSync(join(app.dir, "record.key"), join(folder, "innocent.txt"))
  const verdict = async (name: string, text: string) => (await app.why({ agentId: "operator", tool: `mcp:${name}`, input: { text } })).verdict // prettier-ignore
  for (const name of ["box:write", "box:read", "trusted:read"])
    expect([name, await verdict(name, join(app.dir, "record.key"))]).toEqual([name, "deny"])
  expect(await verdict("box:read", "innocent.txt")).toBe("deny")
  expect(await verdict("box:read", ".git/config")).toBe("deny")
  expect(await verdict("trusted:read", ".git/config")).toBe("ask")
  expect(await verdict("trusted:write", ".git/config")).toBe("deny")
  expect(await verdict("box:write", "A message about .git/config")).toBe("allow")
  const input = { text: join(app.dir, "record.key") }
  expect(await app.call({ agentId: "operator", tool: "mcp:box:write", input })).toMatchObject({
    code: "permission_denied",
  })
  const uri = pathToFileURL(join(app.dir, "record.key")).href
  expect(await app.call({ agentId: "operator", tool: "mcp:trusted:resources.read", input: { uri } })).toMatchObject({
    code: "permission_denied",
  })
  expect((await app.why({ agentId: "operator", tool: "mcp:box:write", input: {} })).touches).toMatchObject({
    unknown: true,
  })
  expect(box.calls()).toEqual([])
})

test("a definition is listed as the server gave it", async () => {
  const offered = definition("whole", {
    title: "Whole",
    description: "  Keeps   its spaces.",
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { name: { type: "string", description: "A name." } },
      properties: { who: { $ref: "#/$defs/name" } },
      additionalProperties: false,
    },
    outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    annotations: { readOnlyHint: true, title: "Also whole" },
    icons: [{ src: "data:image/png;base64,AAAA" }],
    _meta: { "example.com/colour": "red" },
  })
  const app = await openTestApp({ mcpServers: { box: toolbox({ tools: [offered] }).command } })
  await app.mcp.ready()
  const [shown] = app.visibleTools("operator").filter(({ type }) => type === "mcp")
  expect(shown?.mcp).toEqual(offered)
  expect(shown?.input.json).toEqual(offered.inputSchema)
  expect(shown).toMatchObject({ title: "Whole", description: offered.description, category: "mcp" })
})

test("progress and logs are emitted as chunks, and cancelling a call cancels it on the server", async () => {
  const box = toolbox({ tools: [definition("steps"), definition("slow")] })
  const app = await openTestApp({ mcpServers: { box: box.command }, rules: allowed })
  await app.mcp.ready()
  const chunks: unknown[] = []
  app.on("TOOL_CALL_OUTPUT", ({ chunk }) => chunks.push(chunk))
  expect(await app.call({ agentId: "operator", tool: "mcp:box:steps", input: {} })).toMatchObject({ success: true })
  expect(chunks).toEqual([
    { progress: 1, total: 2, message: "step 1" },
    { progress: 2, total: 2, message: "step 2" },
    { log: { level: "info", logger: "toolbox", data: "between" } },
  ])
  const stop = new AbortController()
  const slow = app.call({ agentId: "operator", tool: "mcp:box:slow", input: {}, signal: stop.signal })
  await until(() => box.calls().includes("slow began"), "the tool runs")
  stop.abort()
  expect(await slow).toMatchObject({ code: "aborted" })
  await until(() => box.calls().includes("cancelled"), "the server was notified")
})

test("a server with a taken name, or that cannot be started, shows the problem and does not affect others", async () => {
  const box = toolbox({ tools: [definition("echo")] })
  const { startMcpServers } = await import("./servers.ts")
  const app = await openTestApp()
  app.registry.register(tool({ group: "mine", execute: () => 1 }))
  const warned: string[] = []
  const changes: unknown[] = []
  const running = await startMcpServers(
    [
      box.spec("workspace"),
      box.spec("mine"),
      box.spec("bad name"),
      box.spec("broken", { command: "/nowhere/at-all" }),
      box.spec("off", { enabled: false }),
      box.spec("good"),
    ],
    {
      registry: app.registry,
      groups: app.groups,
      documents: documentsOf(),
      logger: { ...silentLogger, warn: (text) => void warned.push(text) },
      workspace: app.dir,
      version: "1",
      lazy: false,
    },
  )
  running.onChange((change) => changes.push(change))
  await running.ready()
  expect(running.list().map(({ name, state, tools }) => [name, state, tools])).toEqual([
    ["workspace", "refused", 0],
    ["mine", "refused", 0],
    ["bad name", "refused", 0],
    // It is retried while the others connect.
    ["broken", expect.stringMatching(/^(waiting|connecting|open)$/), 0],
    ["off", "disabled", 0],
    ["good", "connected", 1],
  ])
  expect(running.list().map(({ problem }) => problem)).toMatchObject([
    expect.stringContaining("group of our own"),
    expect.stringContaining("There is a group 'mine' already"),
    expect.stringContaining("Rename it"),
    expect.stringContaining("nowhere"),
    undefined,
    undefined,
  ])
  expect(app.registry.list({ type: "mcp" }).map(({ name }) => name)).toContain("mcp:good:echo")
  expect(changes).toContainEqual({ server: "good", what: "tools" })
  expect(warned.length).toBeGreaterThan(2)
  expect(() => running.resources("nobody")).toThrow("There is no MCP server 'nobody'. There are: workspace, mine")
  await running.close()
})

test("a process that makes one call lists tools from the pins and connects only for the call", async () => {
  const box = toolbox({ tools: [definition("echo")] })
  const first = await openTestApp({ mcpServers: { box: box.command }, rules: allowed })
  await first.mcp.ready()
  await first.close()

  const config = { mcpServers: { box: box.command }, rules: allowed, data: { dir: first.dir } }
  const short = await openTestApp(config, { writes: "direct" })
  await short.mcp.ready()
  expect(short.mcp.list()).toMatchObject([{ state: "resting", tools: 1 }])
  expect(short.visibleTools("operator").map(({ name }) => name)).toContain("mcp:box:echo")
  const result = await short.call({ agentId: "operator", tool: "mcp:box:echo", input: { text: "now" } })
  expect(result).toMatchObject({ success: true, result: textResult('{"text":"now"}') })
  expect(short.mcp.list()).toMatchObject([{ state: "connected" }])
})

test("ready waits at most the given time", async () => {
  const hangs = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] }
  const app = await openTestApp({ mcpServers: { hangs } })
  const ready = deferred()
  void app.mcp.ready(50).then(ready.resolve)
  await ready.promise
  expect(app.mcp.list()).toMatchObject([{ state: "connecting" }])
})

/** Documents in memory, for servers without a store. */
function documentsOf(): never {
  const stored = new Map<string, { body: unknown; change: number }>()
  const listeners: ((documents: unknown[]) => void)[] = []
  const document = (id: string) => {
    const found = stored.get(id)
    return found && { kind: "pin", id, live: true, ...found }
  }
  return {
    get: (_kind: string, id: string) => document(id),
    refresh: async () => false,
    onChange: (listener: (documents: unknown[]) => void) => void listeners.push(listener),
    async put({ id, body }: { id: string; body: unknown }) {
      stored.set(id, { body, change: (stored.get(id)?.change ?? 0) + 1 })
      for (const listener of listeners) listener([document(id)])
      return { written: true, document: document(id) }
    },
  } as never
}
