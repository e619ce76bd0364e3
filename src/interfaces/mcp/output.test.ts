import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { connectClient, openEndpoint, eras, textOf, type Connected } from "./testing.ts"

const logs = ({ notifications }: Connected) =>
  notifications.filter(({ method }) => method === "notifications/message").map(({ params }) => params)

for (const era of eras) {
  test(`a tool's stream is sent as progress, and as log messages to clients that asked for them (${era})`, async () => {
    const app = await openTestApp()
    app.registry.registerMany([
      tool({
        name: "streams",
        async *execute() {
          yield "one"
          yield { progress: 50, total: 100, message: "half" }
          yield { log: { level: "warning", logger: "there", data: { a: 1 } } }
          yield { log: { level: "debug", data: "small" } }
          yield { progress: 10, total: 100 }
          return "done"
        },
      }),
      tool({
        name: "outer",
        kind: "composite",
        execute: async (_input, { call }) => (await call("streams", {})).result,
      }),
    ])
    const connected = await connectClient(openEndpoint(app), era)
    const { client } = connected
    for (const name of ["streams", "outer"]) {
      const received: unknown[] = []
      const options = { onprogress: (progress: unknown) => void received.push(progress) }
      expect(textOf(await client.callTool({ name, arguments: {} }, options))).toBe("done")
      expect(received).toEqual([
        { progress: 1, message: "one" },
        { progress: 50, total: 100, message: "half" },
        { progress: 51, total: 141 },
      ])
    }
    expect(logs(connected)).toEqual([])
    if (era === "legacy") await client.setLoggingLevel("info")
    const _meta = era === "legacy" ? {} : { "io.modelcontextprotocol/logLevel": "info" }
    await client.callTool({ name: "streams", arguments: {}, _meta })
    await until(() => logs(connected).length >= 2, "the messages come")
    expect(logs(connected)).toEqual([
      { level: "info", data: "one" },
      { level: "warning", logger: "there", data: { a: 1 } },
    ])
  })

  test(`a long result is cut, and only its agent can read the whole in pages (${era})`, async () => {
    const app = await openTestApp({ org: { agents: [{ id: "other", role: "operator" }] } })
    const whole = Array.from({ length: 9000 }, (_, n) => `line ${n} 😀`).join("\n")
    app.registry.registerMany([
      tool({ execute: () => whole }),
      tool({ name: "fields", output: z.object({ whole: z.string() }), execute: () => ({ whole }) }),
    ])
    const endpoint = openEndpoint(app)
    const { client } = await connectClient(endpoint, era)
    await client.listTools()
    const { content } = await client.callTool({ name: "probe", arguments: {} })
    const [text, link] = content as unknown as [{ text: string }, { type: string; uri: string }]
    expect(text.text.length).toBeLessThan(31_000)
    expect(text.text).toContain("[truncated: 30000 of")
    expect(link).toMatchObject({ type: "resource_link", uri: expect.stringMatching(/^qm:\/\/artifact\//) as string })
    let read = ""
    let pages = 0
    for (let uri: string | undefined = `${link.uri}?limit=50001`; uri !== undefined; pages++) {
      const { contents } = await client.readResource({ uri })
      const page = (contents[0] as { text: string }).text
      const [, part = "", next] = /^(.*)\n\[characters \d+ to \d+ of \d+; (?:next: (.*)|the end)\]$/su.exec(page) ?? []
      read += part
      uri = next
    }
    expect(read).toBe(whole)
    expect(pages).toBeGreaterThan(2)
    const { client: other } = await connectClient(endpoint, era, { agentId: "other" })
    await expect(other.readResource({ uri: link.uri })).rejects.toMatchObject({ code: -32_602 })
    for (const uri of [
      "qm://artifact/nothing",
      "qm://elsewhere/1",
      "qm:",
      `${link.uri}?limit=0`,
      `${link.uri}?offset=-1`,
    ]) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 })
    }
    const { structuredContent } = await client.callTool({ name: "fields", arguments: {} })
    expect(structuredContent).toEqual({
      whole: expect.stringMatching(/\[truncated: \d+ of \d+ characters\.\]$/) as string,
    })
  })

  test(`a binary artifact is read as a blob (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(
      tool({
        execute: (_input, { artifacts }) =>
          artifacts.put({ type: "picture", content: Uint8Array.of(0, 255, 1), mimeType: "image/png" }),
      }),
    )
    const { client } = await connectClient(openEndpoint(app), era)
    const id = textOf(await client.callTool({ name: "probe", arguments: {} }))
    expect((await client.readResource({ uri: `qm://artifact/${id}` })).contents).toEqual([
      { uri: `qm://artifact/${id}`, mimeType: "image/png", blob: "AP8B" },
    ])
  })
}

test("the trace id of a request is recorded", async () => {
  const app = await openTestApp()
  app.registry.register(tool({ execute: () => "ran" }))
  const { client } = await connectClient(openEndpoint(app), "legacy")
  const trace = "0af7651916cd43dd8448eb211c80319c"
  await client.callTool({ name: "probe", arguments: {}, _meta: { traceparent: `00-${trace}-b7ad6b7169203331-01` } })
  const [row] = await app.audit.list({ tool: "probe" })
  expect(JSON.stringify(await app.audit.show(row?.callId ?? ""))).toContain(trace)
})
