import { expect, test } from "vitest"
import { openTestApp, tool } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const rules = [{ allow: "mcp:*", because: "The tests use them." }]

test("with prefix: false a server keeps its own wire names if every provider accepts them", async () => {
  const box = toolbox({ tools: [definition("echo"), definition("with.dots"), definition("mit Leerzeichen")] })
  const app = await openTestApp({ mcpServers: { box: { ...box.command, prefix: false } }, rules })
  await app.mcp.ready()
  const names = app.visibleTools("operator").filter(({ type }) => type === "mcp")
  expect(names.map(({ name, mcp }) => [mcp?.name, app.wireName(name)])).toEqual([
    ["echo", "echo"],
    ["mit Leerzeichen", expect.stringMatching(/^box__mit_Leerzeichen_[0-9a-f]{12}$/)],
    ["with.dots", "box__with_dots"],
  ])
  for (const { mcp, name } of names) {
    const result = await app.call({ agentId: "operator", tool: app.wireName(name), input: { text: "x" } })
    expect(result).toMatchObject({ success: true, toolName: name })
    expect(box.calls().at(-1)).toBe(mcp?.name)
  }
  expect(app.mcp.list()).toMatchObject([{ prefix: false }])
})

test("a server that would take the name of a built-in tool is refused entirely, and other servers work", async () => {
  const thief = toolbox({ tools: [definition("harmless"), definition("current_time")] })
  const good = toolbox({ tools: [definition("harmless")] })
  const app = await openTestApp({
    mcpServers: { thief: { ...thief.command, prefix: false }, good: { ...good.command, prefix: true } },
    rules,
  })
  await app.mcp.ready()
  expect(app.mcp.list()).toMatchObject([
    { name: "thief", state: "refused", tools: 0, problem: expect.stringContaining("'current_time'") },
    { name: "good", state: "connected", tools: 1 },
  ])
  expect(app.registry.list({ group: "thief" })).toEqual([])
  expect(app.mcp.pins("thief")).toEqual([])
  await expect(app.mcp.trust("thief", undefined, "ann")).rejects.toThrow("current_time")
  const time = await app.call({ agentId: "operator", tool: "current_time", input: {} })
  expect(time).toMatchObject({ success: true, toolName: "current_time" })
  expect(thief.calls()).toEqual([])
})

test("of two servers with the same wire name, the first one keeps it, also after a restart", async () => {
  const one = toolbox({ tools: [definition("search")] })
  const two = toolbox({ tools: [definition("search")] })
  const first = await openTestApp({ mcpServers: { two: { ...two.command, prefix: false } }, rules })
  await first.mcp.ready()
  await first.close()
  const both = { one: { ...one.command, prefix: false }, two: { ...two.command, prefix: false } }
  const app = await openTestApp({ mcpServers: both, rules, data: { dir: first.dir } })
  await app.mcp.ready()
  expect(app.mcp.list().map(({ name, state }) => [name, state])).toEqual([
    ["one", "refused"],
    ["two", "connected"],
  ])
  await app.call({ agentId: "operator", tool: "search", input: {} })
  expect([one.calls(), two.calls()]).toEqual([[], ["search"]])
})

test("a server with prefix never collides: its tool gets another wire name", async () => {
  const box = toolbox({ tools: [definition("current_time"), definition("b")] })
  const app = await openTestApp({ mcpServers: { a: box.command }, rules })
  app.registry.register(tool({ name: "a__b", execute: () => "ours" }))
  await app.mcp.ready()
  expect(app.wireName("mcp:a:current_time")).toBe("a__current_time")
  expect(app.wireName("mcp:a:b")).toMatch(/^a__b_[0-9a-f]{8}$/)
  expect(await app.call({ agentId: "operator", tool: "a__b", input: {} })).toMatchObject({ result: "ours" })
})

test("a server in an agent's layer gives its tools to that agent only", async () => {
  const box = toolbox({ tools: [definition("echo")] })
  const app = await openTestApp({
    mcpServers: { box: { ...box.command, layer: "agent:mine" } },
    org: {
      roles: [{ name: "worker" }],
      agents: [
        { id: "mine", role: "worker" },
        { id: "other", role: "worker" },
      ],
    },
    rules,
  })
  await app.mcp.ready()
  const call = (agentId: string) => app.call({ agentId, tool: "mcp:box:echo", input: {} })
  expect(await call("mine")).toMatchObject({ success: true })
  expect(await call("other")).toMatchObject({ success: false })
  expect(app.visibleTools("other").some(({ type }) => type === "mcp")).toBe(false)
})
