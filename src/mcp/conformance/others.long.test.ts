import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { until } from "../../testing/open.ts"
import { doors, type Server } from "./house/testing.ts"
import { packageFile, testWithOthers } from "./testing.ts"
import { stockClients, type Elicited, type Handlers, type StockClient } from "./stock/testing.ts"

const text = ({ content }: Awaited<ReturnType<StockClient["callTool"]>>) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")

for (const [sdk, connect] of Object.entries(stockClients)) {
  for (const [door, prepare] of Object.entries(doors)) {
    const title = `${sdk} over ${door}`
    const enter = async (server: Server, handlers?: Handlers) => {
      const house = await prepare([server])
      const client = await connect(await house.way("wanda"), handlers)
      onTestFinished(() => client.close())
      await client.listTools()
      return { ...house, client }
    }

    testWithOthers(
      `${title}: two agents with different roles see different lists of other people's tools`,
      async () => {
        const house = await prepare(["everything", "memory"])
        const lists = []
        for (const agentId of ["wanda", "lee"] as const) {
          const client = await connect(await house.way(agentId))
          lists.push((await client.listTools()).tools.map(({ name }) => name))
          await client.close()
        }
        const [wanda, lee] = lists as [string[], string[]]
        expect(wanda).toEqual(expect.arrayContaining(["everything__echo", "memory__read_graph"]))
        expect(wanda).toEqual(wanda.toSorted())
        expect(lee).toContain("memory__read_graph")
        expect(lee.filter((tool) => !tool.startsWith("memory__"))).toEqual([])
        expect(wanda).toEqual(expect.arrayContaining(lee))
      },
    )

    testWithOthers(
      `${title}: a client that knows the tools from before calls one without asking for the list`,
      async () => {
        const { way } = await prepare(["everything"])
        const client = await connect(await way("wanda"))
        onTestFinished(() => client.close())
        expect(text(await client.callTool({ name: "everything__echo", arguments: { message: "first" } }))).toBe(
          "Echo: first",
        )
      },
    )

    testWithOthers(`${title}: a call of a tool that an agent may not know of never reaches the server`, async () => {
      const { way } = await prepare(["everything", "memory"])
      const client = await connect(await way("lee"))
      onTestFinished(() => client.close())
      const ended = await ending(client.callTool({ name: "everything__echo", arguments: { message: "secret" } }))
      expect(ended).toMatch(/NOT EXECUTED|not found/)
      expect(ended).not.toContain("secret")
    })

    testWithOthers(
      `${title}: text, numbers, structured content and images arrive as the servers sent them`,
      async () => {
        const { client } = await enter("everything")
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
      },
    )

    testWithOthers(`${title}: an input that the server's own schema refuses never reaches it`, async () => {
      const { client } = await enter("everything")
      const refused = await client.callTool({ name: "everything__get-sum", arguments: { a: "two", b: 40 } })
      expect(refused).toMatchObject({ isError: true })
      expect(text(refused)).toMatch(/\ba\b/)
    })

    testWithOthers(`${title}: what a server says while it works arrives as progress, in order`, async () => {
      const { client } = await enter("everything")
      const seen: number[] = []
      const result = await client.callTool(
        { name: "everything__trigger-long-running-operation", arguments: { duration: 2, steps: 4 } },
        { onprogress: ({ progress }) => seen.push(progress) },
      )
      expect(text(result)).toContain("completed")
      // The second SDK's client drops what arrives in one piece with the result.
      const steps = [1, 2, 3, 4]
      expect(seen).toEqual(sdk === "SDK v1" ? steps : steps.slice(0, seen.length))
      expect(seen.length).toBeGreaterThan(0)
    })

    testWithOthers(`${title}: a form that a server asks for is filled in at the client, schema unchanged`, async () => {
      const asked: Elicited[] = []
      const { client } = await enter("everything", {
        elicit: (params) => {
          asked.push(params)
          return {
            action: "accept",
            content: { name: "Ann", integer: 7, untitledMultipleSelectEnum: ["Piano", "Bass"] },
          }
        },
      })
      const result = await client.callTool({ name: "everything__trigger-elicitation-request", arguments: {} })
      expect(text(result)).toContain("- Name: Ann")
      expect(text(result)).toContain("- Favorite Integer: 7")
      expect(asked).toHaveLength(1)
      expect(asked[0]?.message).toContain("Please provide inputs for the following fields:")
      expect(asked[0]?.requestedSchema?.required).toEqual(["name"])
      expect(asked[0]?.requestedSchema?.properties).toMatchObject({
        legacyTitledEnum: { enumNames: ["Cats", "Dogs", "Birds", "Fish", "Reptiles"] },
        titledMultipleSelectEnum: { items: { anyOf: [{ const: "fish-1", title: "Tuna" }, {}, {}] } },
      })
    })

    testWithOthers(`${title}: a no to a server's form is a no`, async () => {
      const { client } = await enter("everything", { elicit: () => ({ action: "decline" }) })
      const result = await client.callTool({ name: "everything__trigger-elicitation-request", arguments: {} })
      expect(text(result)).toContain("declined")
    })

    testWithOthers(`${title}: a file is written only after the person at the client agreed`, async () => {
      const answers = ["decline", "accept"] as const
      const asked: Elicited[] = []
      const { client, folder } = await enter("files", {
        elicit: (params) => {
          const action = answers[asked.push(params) - 1]!
          return action === "accept" ? { action, content: agreement(params) } : { action }
        },
      })
      const path = join(folder, "files", "new.txt")
      const write = () => client.callTool({ name: "files__write_file", arguments: { path, content: "Written." } })
      const refused = await write()
      expect(refused.isError).toBe(true)
      expect(() => readFileSync(path)).toThrow("ENOENT")
      expect((await write()).isError ?? false).toBe(false)
      expect(readFileSync(path, "utf8")).toBe("Written.")
      expect(asked).toHaveLength(2)
      const read = await client.callTool({ name: "files__read_text_file", arguments: { path } })
      expect(text(read)).toContain("Written.")
    })

    testWithOthers(`${title}: a server's own refusal is told as an error, in its words`, async () => {
      const { client } = await enter("files")
      const result = await client.callTool({ name: "files__read_text_file", arguments: { path: "/etc/hostname" } })
      expect(result.isError).toBe(true)
      expect(text(result)).toContain("Access denied")
    })

    testWithOthers(`${title}: what a server remembers is there for the next call`, async () => {
      const { client } = await enter("memory")
      const entities = [{ name: "Ada", entityType: "person", observations: ["wrote the first program"] }]
      await client.callTool({ name: "memory__create_entities", arguments: { entities } })
      const { structuredContent } = await client.callTool({ name: "memory__read_graph", arguments: {} })
      expect(structuredContent).toEqual({ entities, relations: [] })
    })

    testWithOthers(
      `${title}: resources and prompts of a server are there for who may use it, and for nobody else`,
      async () => {
        const house = await prepare(["everything", "memory"])
        const wanda = await connect(await house.way("wanda"))
        const { resources } = await wanda.listResources()
        expect(resources.length).toBeGreaterThan(0)
        const { contents } = await wanda.readResource({ uri: resources[0]!.uri })
        expect(contents[0]?.uri).toBe(resources[0]!.uri)
        const { prompts } = await wanda.listPrompts()
        expect(prompts.map(({ name }) => name)).toContain("everything__simple-prompt")
        const { messages } = await wanda.getPrompt({ name: "everything__simple-prompt" })
        expect(messages[0]?.content.type).toBe("text")
        await wanda.close()
        const lee = await connect(await house.way("lee"))
        const known = (await lee.listResources()).resources.map(({ uri }) => uri)
        expect(known.filter((uri) => resources.some((one) => one.uri === uri && !uri.startsWith("memory:")))).toEqual(
          [],
        )
        await expect(lee.readResource({ uri: resources[0]!.uri })).rejects.toThrow()
        await lee.close()
      },
    )

    testWithOthers(`${title}: a tool that a server takes away or brings back is announced to the client`, async () => {
      let announced = 0
      const { client } = await enter("fixture", { onToolsChanged: () => announced++ })
      const has = async () => (await client.listTools()).tools.some(({ name }) => name === "fixture__test_toggled_tool")
      expect(await has()).toBe(true)
      for (const expected of [false, true]) {
        const before = announced
        await client.callTool({ name: "fixture__test_trigger_tool_change", arguments: {} })
        await until(() => announced > before, "the client was told of the change")
        await until(async () => (await has()) === expected, "the list was as the server's")
      }
    })

    testWithOthers(`${title}: what the client cancels is cancelled at the server`, async () => {
      const { client } = await enter("fixture")
      const stop = new AbortController()
      const slow = client.callTool(
        { name: "fixture__test_slow", arguments: {} },
        { onprogress: () => stop.abort(), signal: stop.signal },
      )
      await expect(slow).rejects.toThrow(/abort/i)
      const count = () => client.callTool({ name: "fixture__test_cancellations", arguments: {} })
      await until(async () => text(await count()) === "1", "the server heard of it")
    })

    testWithOthers(`${title}: a call that the client cancels ends at once, and the next one runs`, async () => {
      const { client } = await enter("everything")
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

  testWithOthers(`${sdk}: a server that is killed is started again, and the others never notice`, async () => {
    const house = await doors.HTTP(["everything", "memory"])
    const caller = await connect(await house.way("wanda"))
    const echo = () => caller.callTool({ name: "everything__echo", arguments: { message: "hello" } })
    expect(text(await echo())).toBe("Echo: hello")
    const before = house.pidOf!("everything")
    const neighbour = house.pidOf!("memory")
    process.kill(before, "SIGKILL")
    await until(async () => text(await echo()) === "Echo: hello", "the server answered again")
    expect(house.pidOf!("everything")).not.toBe(before)
    expect(house.pidOf!("memory")).toBe(neighbour)
    expect((await caller.callTool({ name: "memory__read_graph", arguments: {} })).isError ?? false).toBe(false)
    await caller.close()
  })

  testWithOthers(`${sdk}: a server killed in the middle of a call ends that call with a sentence`, async () => {
    const house = await doors.HTTP(["everything", "memory"])
    const caller = await connect(await house.way("wanda"))
    const long = caller.callTool(
      { name: "everything__trigger-long-running-operation", arguments: { duration: 60, steps: 600 } },
      { onprogress: () => process.kill(house.pidOf!("everything"), "SIGKILL") },
    )
    const result = await long
    expect(result.isError).toBe(true)
    expect(text(result)).toMatch(/everything/)
    await caller.close()
  })
}

/** What a call came to, whether it was refused by the protocol or as a result. */
async function ending(call: ReturnType<StockClient["callTool"]>): Promise<string> {
  return call.then(text, (error: Error) => error.message)
}

/** The form of an approval, filled in as somebody who agrees would. */
function agreement({ requestedSchema }: Elicited): Record<string, unknown> {
  const fields = Object.entries(requestedSchema?.properties ?? {})
  const agreed = fields.map(([name, { type, enum: options = [], oneOf = [] }]) => {
    const choices = [...(options as string[]), ...(oneOf as { const: string }[]).map((choice) => choice.const)]
    return [name, type === "boolean" ? true : choices.find((choice) => /approve|yes|agree/i.test(choice))] as const
  })
  return Object.fromEntries(agreed.filter(([, value]) => value !== undefined))
}
