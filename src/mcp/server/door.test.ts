import { expect, test } from "vitest"
import { z } from "zod"
import { failure } from "../../model/ending.ts"
import { open, tool, until } from "../../testing/open.ts"
import { connect, doorOf, eras, textOf } from "./testing.ts"

const twoRoles = {
  org: {
    roles: [
      { name: "reader", toolGroups: ["data"] },
      { name: "writer", toolGroups: ["data", "test"] },
    ],
    agents: [
      { id: "rea", role: "reader" },
      { id: "wri", role: "writer" },
    ],
  },
}

for (const era of eras) {
  test(`two agents with different roles are told of different tools, each sorted (${era})`, async () => {
    const house = await open(twoRoles)
    house.registry.register(tool({ name: "mcp:box:zeta", title: "Zeta", execute: () => "z" }))
    house.registry.register(tool({ name: "alpha", output: z.object({ n: z.number() }), execute: () => ({ n: 1 }) }))
    const door = doorOf(house)
    const names = async (agentId: string) => {
      const { client } = await connect(door, era, { agentId })
      return (await client.listTools()).tools
    }
    const reader = (await names("rea")).map(({ name }) => name)
    const writer = await names("wri")
    expect(reader).not.toContain("alpha")
    expect(reader).toContain("json_parse")
    expect(writer.map(({ name }) => name)).toEqual(["alpha", ...reader, "box__zeta"].sort())
    expect(writer.find(({ name }) => name === "alpha")).toMatchObject({
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true, destructiveHint: false },
    })
    expect(writer.find(({ name }) => name === "box__zeta")).toMatchObject({ title: "Zeta" })
  })

  test(`a result has a text, and fields where fields were announced (${era})`, async () => {
    const house = await open()
    house.registry.registerMany([
      tool({ name: "fields", output: z.object({ n: z.number() }), execute: () => ({ n: 1 }) }),
      tool({ name: "plain", execute: () => ({ n: 2 }) }),
    ])
    const { client } = await connect(doorOf(house), era)
    await client.listTools()
    expect(await client.callTool({ name: "fields", arguments: {} })).toMatchObject({
      content: [{ type: "text", text: '{"n":1}' }],
      structuredContent: { n: 1 },
    })
    const plain = await client.callTool({ name: "plain", arguments: {} })
    expect(plain.content).toEqual([{ type: "text", text: '{"n":2}' }])
    expect(plain).not.toHaveProperty("structuredContent")
    expect(plain).not.toHaveProperty("isError")
  })

  test(`an unknown tool is a fault of the protocol, and every other ending a result that says so (${era})`, async () => {
    const house = await open({
      ...twoRoles,
      rules: [{ deny: "denied", args: { "/n": "1" }, because: "One is not enough." }],
    })
    house.registry.registerMany([
      tool({ name: "denied", input: z.object({ n: z.number() }) as never, execute: () => "ran" }),
      tool({ name: "fails", execute: () => Promise.reject(failure("No luck.", { toolCode: "luck" })) }),
    ])
    const { client } = await connect(doorOf(house), era, { agentId: "wri" })
    const { client: reader } = await connect(doorOf(house), era, { agentId: "rea" })
    await expect(client.callTool({ name: "nowhere", arguments: {} })).rejects.toMatchObject({ code: -32_602 })
    const ends = async (name: string, input: Record<string, unknown>, from = client) => {
      const result = await from.callTool({ name, arguments: input })
      return [
        result.isError,
        textOf(result),
        (result._meta as Record<string, { code: string }>)["quartermaster/ending"]?.code,
      ]
    }
    expect(await ends("denied", { n: 1 })).toEqual([
      true,
      expect.stringMatching(/^NOT EXECUTED\. .*One is not/),
      "permission_denied",
    ])
    expect(await ends("denied", { n: "x" })).toEqual([
      true,
      expect.stringMatching(/^NOT EXECUTED/),
      "invalid_arguments",
    ])
    expect(await ends("fails", {})).toEqual([true, "Error: No luck.", "tool_failed"])
    expect(await ends("fails", {}, reader)).toEqual([
      true,
      expect.stringMatching(/^NOT EXECUTED/),
      "tool_not_available",
    ])
  })

  test(`what changes a role, a group, a rule or a freeze is announced to those whose list it changes (${era})`, async () => {
    const house = await open(twoRoles)
    house.registry.register(tool({ execute: () => "ran" }))
    const door = doorOf(house)
    const writer = await connect(door, era, { agentId: "wri" })
    const reader = await connect(door, era, { agentId: "rea" })
    const count = ({ told }: typeof writer) =>
      told.filter(({ method }) => method === "notifications/tools/list_changed").length
    if (era === "modern") {
      for (const { client } of [writer, reader]) await client.listen({ toolsListChanged: true })
    }
    await house.rules.add({ deny: "probe", because: "Not now." }, "ann")
    await until(() => count(writer) === 1, "the writer is told")
    expect((await writer.client.listTools()).tools.map(({ name }) => name)).not.toContain("probe")
    await house.freeze({ agentId: "rea", by: "ann" })
    await until(() => count(reader) === 1, "the reader is told")
    expect((await reader.client.listTools()).tools).toEqual([])
    expect(count(writer)).toBe(1)
  })

  test(`a client that cancels ends its call, also while it waits (${era})`, async () => {
    const house = await open()
    let isRunning = false
    let isStopped = false
    house.registry.registerMany([
      tool({
        name: "slow",
        execute: (_input, { signal }) =>
          new Promise((_, reject) => {
            isRunning = true
            signal.addEventListener("abort", () => {
              isStopped = true
              reject(new Error("stopped"))
            })
          }),
      }),
      tool({ name: "guarded", permission: { level: "sensitive" }, execute: () => "ran" }),
    ])
    const { client } = await connect(doorOf(house), era)
    for (const name of ["slow", "guarded"]) {
      const giveUp = new AbortController()
      const called = client.callTool({ name, arguments: {} }, { signal: giveUp.signal })
      if (name === "guarded") await until(async () => (await house.desk.list()).length === 1, "it waits")
      else await until(() => isRunning, "it runs")
      giveUp.abort()
      await expect(called).rejects.toThrow()
      await until(async () => {
        const [row] = await house.audit.list({ tool: name })
        return row?.code === "aborted"
      }, `${name} is aborted`)
    }
    expect(isStopped).toBe(true)
    expect(await house.desk.list()).toEqual([])
  })

  test(`methods nobody knows are refused as such (${era})`, async () => {
    const { client } = await connect(doorOf(await open()), era)
    await expect(client.request({ method: "tools/destroy" }, z.object({}))).rejects.toMatchObject({ code: -32_601 })
  })
}

test("the list of a thousand tools is made once for each version of what decides", async () => {
  const { toolList } = await import("./lists.ts")
  const house = await open()
  house.registry.registerMany(Array.from({ length: 1000 }, (_, n) => tool({ name: `tool_${n}`, execute: () => n })))
  const first = toolList(house, "operator")
  expect(first.tools.length).toBeGreaterThan(1000)
  expect(JSON.parse(first.json)).toEqual(first.tools)
  const before = process.cpuUsage()
  for (let n = 0; n < 100; n++) expect(toolList(house, "operator")).toBe(first)
  expect(process.cpuUsage(before).user / 100).toBeLessThan(1000)
  house.registry.register(tool({ name: "one_more", execute: () => 1 }))
  expect(toolList(house, "operator").json).toContain("one_more")
})
