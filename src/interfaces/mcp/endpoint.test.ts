import { expect, test } from "vitest"
import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { connectClient, openEndpoint, eras, textOf } from "./testing.ts"

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
  test(`agents with different roles get different tools, sorted (${era})`, async () => {
    const app = await openTestApp(twoRoles)
    app.registry.register(tool({ name: "mcp:box:zeta", title: "Zeta", execute: () => "z" }))
    app.registry.register(tool({ name: "alpha", output: z.object({ n: z.number() }), execute: () => ({ n: 1 }) }))
    const endpoint = openEndpoint(app)
    const names = async (agentId: string) => {
      const { client } = await connectClient(endpoint, era, { agentId })
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

  test(`a result has text, and structured content if a schema was announced (${era})`, async () => {
    const app = await openTestApp()
    app.registry.registerMany([
      tool({ name: "fields", output: z.object({ n: z.number() }), execute: () => ({ n: 1 }) }),
      tool({ name: "plain", execute: () => ({ n: 2 }) }),
    ])
    const { client } = await connectClient(openEndpoint(app), era)
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

  test(`an unknown tool is a JSON-RPC error, and every other ending is a result (${era})`, async () => {
    const app = await openTestApp({
      ...twoRoles,
      rules: [{ deny: "denied", args: { "/n": "1" }, because: "One is not enough." }],
    })
    app.registry.registerMany([
      tool({ name: "denied", input: z.object({ n: z.number() }) as never, execute: () => "ran" }),
      tool({ name: "fails", execute: () => Promise.reject(failure("No luck.", { toolCode: "luck" })) }),
    ])
    const { client } = await connectClient(openEndpoint(app), era, { agentId: "wri" })
    const { client: reader } = await connectClient(openEndpoint(app), era, { agentId: "rea" })
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

  test(`a rule or a freeze is announced to the clients whose list it changes (${era})`, async () => {
    const app = await openTestApp(twoRoles)
    app.registry.register(tool({ execute: () => "ran" }))
    const endpoint = openEndpoint(app)
    const writer = await connectClient(endpoint, era, { agentId: "wri" })
    const reader = await connectClient(endpoint, era, { agentId: "rea" })
    const count = ({ notifications }: typeof writer) =>
      notifications.filter(({ method }) => method === "notifications/tools/list_changed").length
    if (era === "modern") {
      for (const { client } of [writer, reader]) await client.listen({ toolsListChanged: true })
    }
    await app.rules.add({ deny: "probe", because: "Not now." }, "ann")
    await until(() => count(writer) === 1, "the writer is notified")
    expect((await writer.client.listTools()).tools.map(({ name }) => name)).not.toContain("probe")
    await app.freeze({ agentId: "rea", by: "ann" })
    await until(() => count(reader) === 1, "the reader is notified")
    expect((await reader.client.listTools()).tools).toEqual([])
    expect(count(writer)).toBe(1)
  })

  test(`a client can cancel a running and a waiting call (${era})`, async () => {
    const app = await openTestApp()
    let isRunning = false
    let isStopped = false
    app.registry.registerMany([
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
    const { client } = await connectClient(openEndpoint(app), era)
    for (const name of ["slow", "guarded"]) {
      const cancel = new AbortController()
      const called = client.callTool({ name, arguments: {} }, { signal: cancel.signal })
      if (name === "guarded") await until(async () => (await app.approvals.list()).length === 1, "it waits")
      else await until(() => isRunning, "it runs")
      cancel.abort()
      await expect(called).rejects.toThrow()
      await until(async () => {
        const [row] = await app.audit.list({ tool: name })
        return row?.code === "aborted"
      }, `${name} is aborted`)
    }
    expect(isStopped).toBe(true)
    expect(await app.approvals.list()).toEqual([])
  })

  test(`unknown methods are refused (${era})`, async () => {
    const { client } = await connectClient(openEndpoint(await openTestApp()), era)
    await expect(client.request({ method: "tools/destroy" }, z.object({}))).rejects.toMatchObject({ code: -32_601 })
  })
}
