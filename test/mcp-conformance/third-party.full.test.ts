import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { until } from "../../src/testing/test-app.ts"
import { gateways, type ThirdPartyServer } from "./gateways.ts"
import { packageFile, testWithThirdParty } from "./suite.ts"
import { stockClients, type Elicited, type Handlers, type StockClient } from "./stock-clients.ts"

const text = ({ content }: Awaited<ReturnType<StockClient["callTool"]>>) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

for (const [sdk, connect] of Object.entries(stockClients)) {
  for (const [transport, prepare] of Object.entries(gateways)) {
    const title = `${sdk} over ${transport}`
    const connectTo = async (server: ThirdPartyServer, handlers?: Handlers) => {
      const gateway = await prepare([server])
      const client = await connect(await gateway.target("wanda"), handlers)
      onTestFinished(() => client.close())
      const isListed = async () => (await client.listTools()).tools.some(({ name }) => name.startsWith(`${server}__`))
      await until(isListed, `the tools of ${server} are listed`)
      return { ...gateway, client }
    }

    testWithThirdParty(`${title}: agents with different roles see different lists of third-party tools`, async () => {
      const gateway = await prepare(["everything", "memory"])
      const lists = []
      for (const agentId of ["wanda", "lee"] as const) {
        const client = await connect(await gateway.target(agentId))
        const names = async () => (await client.listTools()).tools.map(({ name }) => name)
        const servers = agentId === "wanda" ? ["everything__", "memory__"] : ["memory__"]
        const areListed = (listed: string[]) =>
          servers.every((prefix) => listed.some((name) => name.startsWith(prefix)))
        await until(async () => areListed(await names()), "the servers have connected")
        lists.push(await names())
        await client.close()
      }
      const [wanda, lee] = lists as [string[], string[]]
      expect(wanda).toEqual(expect.arrayContaining(["everything__echo", "memory__read_graph"]))
      expect(wanda).toEqual(wanda.toSorted())
      expect(lee).toContain("memory__read_graph")
      expect(lee.filter((tool) => !tool.startsWith("memory__"))).toEqual([])
      expect(wanda).toEqual(expect.arrayContaining(lee))
    })

    testWithThirdParty(`${title}: a client may call a tool without listing the tools first`, async () => {
      const { target } = await prepare(["everything"])
      const client = await connect(await target("wanda"))
      onTestFinished(() => client.close())
      expect(text(await client.callTool({ name: "everything__echo", arguments: { message: "first" } }))).toBe(
        "Echo: first",
      )
    })

    testWithThirdParty(`${title}: a call of a hidden tool never reaches the server`, async () => {
      const { target } = await prepare(["everything", "memory"])
      const client = await connect(await target("lee"))
      onTestFinished(() => client.close())
      const outcome = await outcomeOf(client.callTool({ name: "everything__echo", arguments: { message: "secret" } }))
      expect(outcome).toMatch(/NOT EXECUTED|not found/)
      expect(outcome).not.toContain("secret")
    })

    testWithThirdParty(`${title}: text, numbers, structured content and images are passed on unchanged`, async () => {
      const { client } = await connectTo("everything")
      const call = (name: string, input: Record<string, unknown> = {}) => client.callTool({ name, arguments: input })
      expect(text(await call("everything__echo", { message: "hello" }))).toBe("Echo: hello")
      expect(text(await call("everything__get-sum", { a: 2, b: 40 }))).toContain("42")
      const weather = await call("everything__get-structured-content", { location: "Chicago" })
      expect(weather.structuredContent).toEqual({ temperature: 36, conditions: "Light rain / drizzle", humidity: 82 })
      const { content } = await call("everything__get-tiny-image")
      expect(content.map(({ type }) => type)).toEqual(["text", "image", "text"])
      const { MCP_TINY_IMAGE } = (await import(packageFile("server-everything/dist/tools/get-tiny-image.js"))) as {
        MCP_TINY_IMAGE: string
      }
      expect(content[1]).toMatchObject({ data: MCP_TINY_IMAGE, mimeType: "image/png" })
      const links = await call("everything__get-resource-links", { count: 2 })
      expect(links.content.filter(({ type }) => type === "resource_link")).toHaveLength(2)
    })

    testWithThirdParty(`${title}: an input that the server's own schema refuses never reaches it`, async () => {
      const { client } = await connectTo("everything")
      const refused = await client.callTool({ name: "everything__get-sum", arguments: { a: "two", b: 40 } })
      expect(refused).toMatchObject({ isError: true })
      expect(text(refused)).toMatch(/\ba\b/)
    })

    testWithThirdParty(`${title}: a server's progress arrives in order`, async () => {
      const { client } = await connectTo("everything")
      const seen: number[] = []
      const result = await client.callTool(
        { name: "everything__trigger-long-running-operation", arguments: { duration: 2, steps: 4 } },
        { onprogress: ({ progress }) => seen.push(progress) },
      )
      expect(text(result)).toContain("completed")
      // The client of SDK v2, which we are to that server, drops progress that arrives together with the result.
      expect(seen).toEqual([1, 2, 3, 4].filter((step) => seen.includes(step)))
      expect(seen.length).toBeGreaterThan(0)
    })

    testWithThirdParty(`${title}: a server's form is filled in at the client, with its schema unchanged`, async () => {
      const forms: Elicited[] = []
      const { client } = await connectTo("everything", {
        elicit: (params) => {
          forms.push(params)
          return {
            action: "accept",
            content: { name: "Ann", integer: 7, untitledMultipleSelectEnum: ["Piano", "Bass"] },
          }
        },
      })
      const result = await client.callTool({ name: "everything__trigger-elicitation-request", arguments: {} })
      expect(text(result)).toContain("- Name: Ann")
      expect(text(result)).toContain("- Favorite Integer: 7")
      expect(forms).toHaveLength(1)
      expect(forms[0]?.message).toContain("Please provide inputs for the following fields:")
      expect(forms[0]?.requestedSchema?.required).toEqual(["name"])
      expect(forms[0]?.requestedSchema?.properties).toMatchObject({
        legacyTitledEnum: { enumNames: ["Cats", "Dogs", "Birds", "Fish", "Reptiles"] },
        titledMultipleSelectEnum: { items: { anyOf: [{ const: "fish-1", title: "Tuna" }, {}, {}] } },
      })
    })

    testWithThirdParty(`${title}: declining a server's form is passed on`, async () => {
      const { client } = await connectTo("everything", { elicit: () => ({ action: "decline" }) })
      const result = await client.callTool({ name: "everything__trigger-elicitation-request", arguments: {} })
      expect(text(result)).toContain("declined")
    })

    testWithThirdParty(`${title}: a file is written only after the person at the client approved`, async () => {
      const answers = ["decline", "accept"] as const
      const forms: Elicited[] = []
      const { client, folder } = await connectTo("files", {
        elicit: (params) => {
          const action = answers[forms.push(params) - 1]!
          return action === "accept" ? { action, content: approvalFor(params) } : { action }
        },
      })
      const path = join(folder, "files", "new.txt")
      const write = () => client.callTool({ name: "files__write_file", arguments: { path, content: "Written." } })
      const refused = await write()
      expect(refused.isError).toBe(true)
      expect(() => readFileSync(path)).toThrow("ENOENT")
      expect((await write()).isError ?? false).toBe(false)
      expect(readFileSync(path, "utf8")).toBe("Written.")
      expect(forms).toHaveLength(2)
      const read = await client.callTool({ name: "files__read_text_file", arguments: { path } })
      expect(text(read)).toContain("Written.")
    })

    testWithThirdParty(`${title}: a server's own refusal is an error with its text`, async () => {
      const { client } = await connectTo("files")
      const result = await client.callTool({ name: "files__read_text_file", arguments: { path: "/etc/hostname" } })
      expect(result.isError).toBe(true)
      expect(text(result)).toContain("Access denied")
    })

    testWithThirdParty(`${title}: a server keeps its state between calls`, async () => {
      const { client } = await connectTo("memory")
      const entities = [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }]
      await client.callTool({ name: "memory__create_entities", arguments: { entities } })
      const { structuredContent } = await client.callTool({ name: "memory__read_graph", arguments: {} })
      expect(structuredContent).toEqual({ entities, relations: [] })
    })

    testWithThirdParty(`${title}: only agents that may use a server see its resources and prompts`, async () => {
      const gateway = await prepare(["everything", "memory"])
      const wanda = await connect(await gateway.target("wanda"))
      const { resources } = await wanda.listResources()
      expect(resources.length).toBeGreaterThan(0)
      const { contents } = await wanda.readResource({ uri: resources[0]!.uri })
      expect(contents[0]?.uri).toBe(resources[0]!.uri)
      const { prompts } = await wanda.listPrompts()
      expect(prompts.map(({ name }) => name)).toContain("everything__simple-prompt")
      const { messages } = await wanda.getPrompt({ name: "everything__simple-prompt" })
      expect(messages[0]?.content.type).toBe("text")
      await wanda.close()
      const lee = await connect(await gateway.target("lee"))
      const known = (await lee.listResources()).resources.map(({ uri }) => uri)
      expect(known.filter((uri) => resources.some((one) => one.uri === uri && !uri.startsWith("memory:")))).toEqual([])
      await expect(lee.readResource({ uri: resources[0]!.uri })).rejects.toThrow()
      await lee.close()
    })

    testWithThirdParty(`${title}: the client is notified when a server removes or adds a tool`, async () => {
      let announced = 0
      const { client } = await connectTo("fixture", { onToolsChanged: () => announced++ })
      const has = async () => (await client.listTools()).tools.some(({ name }) => name === "fixture__test_toggled_tool")
      expect(await has()).toBe(true)
      for (const expected of [false, true]) {
        const before = announced
        await client.callTool({ name: "fixture__test_trigger_tool_change", arguments: {} })
        await until(() => announced > before, "the client was notified of the change")
        await until(async () => (await has()) === expected, "the list matches the server's")
      }
    })

    testWithThirdParty(`${title}: a call that the client cancels is cancelled on the server`, async () => {
      const { client } = await connectTo("fixture")
      const stop = new AbortController()
      const slow = client.callTool(
        { name: "fixture__test_slow", arguments: {} },
        { onprogress: () => stop.abort(), signal: stop.signal },
      )
      await expect(slow).rejects.toThrow(/abort/i)
      const count = () => client.callTool({ name: "fixture__test_cancellations", arguments: {} })
      await until(async () => text(await count()) === "1", "the server was notified")
    })

    testWithThirdParty(`${title}: a call that the client cancels ends at once, and the next one runs`, async () => {
      const { client } = await connectTo("everything")
      const stop = new AbortController()
      const began = Date.now()
      const long = client.callTool(
        { name: "everything__trigger-long-running-operation", arguments: { duration: 60, steps: 600 } },
        { onprogress: () => stop.abort(), signal: stop.signal },
      )
      await expect(long).rejects.toThrow(/abort/i)
      expect(text(await client.callTool({ name: "everything__echo", arguments: { message: "on" } }))).toBe("Echo: on")
      expect(Date.now() - began).toBeLessThan(20_000)
    })
  }

  testWithThirdParty(`${sdk}: a server that is killed is restarted, and other servers are not affected`, async () => {
    const gateway = await gateways.HTTP(["everything", "memory"])
    const caller = await connect(await gateway.target("wanda"))
    const echo = () => caller.callTool({ name: "everything__echo", arguments: { message: "hello" } })
    expect(text(await echo())).toBe("Echo: hello")
    const before = gateway.pidOf!("everything")
    const neighbour = gateway.pidOf!("memory")
    process.kill(before, "SIGKILL")
    await until(async () => text(await echo()) === "Echo: hello", "the server answered again")
    expect(gateway.pidOf!("everything")).not.toBe(before)
    expect(gateway.pidOf!("memory")).toBe(neighbour)
    expect((await caller.callTool({ name: "memory__read_graph", arguments: {} })).isError ?? false).toBe(false)
    await caller.close()
  })

  testWithThirdParty(`${sdk}: a server killed during a call ends that call with a sentence`, async () => {
    const gateway = await gateways.HTTP(["everything", "memory"])
    const caller = await connect(await gateway.target("wanda"))
    const long = caller.callTool(
      { name: "everything__trigger-long-running-operation", arguments: { duration: 60, steps: 600 } },
      { onprogress: () => process.kill(gateway.pidOf!("everything"), "SIGKILL") },
    )
    const result = await long
    expect(result.isError).toBe(true)
    expect(text(result)).toMatch(/everything/)
    await caller.close()
  })
}

/** The text of a call's result, or of its JSON-RPC error. */
async function outcomeOf(call: ReturnType<StockClient["callTool"]>): Promise<string> {
  return call.then(text, (error: Error) => error.message)
}

/** The content of an approval form that approves. */
function approvalFor({ requestedSchema }: Elicited): Record<string, unknown> {
  const fields = Object.entries(requestedSchema?.properties ?? {})
  const values = fields.map(([name, { type, enum: options = [], oneOf = [] }]) => {
    const choices = [...(options as string[]), ...(oneOf as { const: string }[]).map((choice) => choice.const)]
    return [name, type === "boolean" ? true : choices.find((choice) => /once|yes|agree/i.test(choice))] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}
