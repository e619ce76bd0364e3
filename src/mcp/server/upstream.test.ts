import { expect, test } from "vitest"
import { open, until } from "../../testing/open.ts"
import { definition, toolbox, type Offered } from "../testing/toolbox.ts"
import { answering, connect, doorOf, eras, textOf } from "./testing.ts"

const image = { type: "image", data: "aGk=", mimeType: "image/png" }
const offered: Offered = {
  tools: [
    definition("say", { title: "Say", annotations: { readOnlyHint: true }, outputSchema: { type: "object" } }),
    definition("fails"),
    definition("steps"),
    definition("ask"),
    definition("list", { outputSchema: { type: "array" } }),
  ],
  resources: [
    { uri: "note://a", name: "a", mimeType: "text/plain" },
    { uri: "note://b", name: "b" },
  ],
  prompts: [{ name: "greet", arguments: [{ name: "who" }] }],
  results: {
    say: {
      content: [image, { type: "text", text: "hi", annotations: { audience: ["user"] } }],
      structuredContent: { a: 1 },
      _meta: { "x/y": 1 },
    },
    fails: { content: [{ type: "text", text: "no" }, image], isError: true },
    list: { content: [], structuredContent: [1, 2] },
  },
}

const allowed = {
  rules: [
    { allow: "mcp:box:*", because: "It is a test." },
    { allow: "mcp:crate:*", because: "It too." },
  ],
}

/** A house in front of a server, or two with the same things. */
async function front(names: readonly string[] = ["box"], given: { prefix?: boolean } = {}) {
  const boxes = names.map((name) => [name, { ...toolbox(offered).command, ...given }] as const)
  const house = await open({
    ...allowed,
    mcpServers: Object.fromEntries(boxes),
    org: {
      roles: [{ name: "outsider", toolGroups: ["data"] }],
      agents: [{ id: "out", role: "outsider" }],
    },
  })
  await house.mcp.ready()
  return { house, door: doorOf(house) }
}

test.each(eras)(
  "a server's tools are listed as it describes them, and its results passed on whole (%s)",
  async (era) => {
    const { door } = await front()
    const { client } = await connect(door, era)
    const { tools } = await client.listTools()
    const theirs = tools.filter(({ name }) => name.startsWith("box__"))
    expect(theirs.map(({ name }) => name)).toEqual(
      ["ask", "fails", "list", "say", "steps"].map((name) => `box__${name}`),
    )
    expect(theirs[3]).toEqual({ ...(offered.tools[0] as object), name: "box__say" })
    expect(await client.callTool({ name: "box__say", arguments: {} })).toMatchObject(offered.results?.["say"] as object)
    const failed = await client.callTool({ name: "box__fails", arguments: {} })
    expect(failed).toMatchObject({ isError: true, content: [{ type: "text", text: "no" }, image] })
    expect(await client.callTool({ name: "box__list", arguments: {} })).toMatchObject({
      structuredContent: era === "modern" ? [1, 2] : { result: [1, 2] },
      content: [{ type: "text", text: "[1,2]" }],
    })
    const heard: unknown[] = []
    await client.callTool({ name: "box__steps", arguments: {} }, { onprogress: (progress) => heard.push(progress) })
    expect(heard).toEqual([1, 2].map((progress) => ({ progress, total: 2, message: `step ${progress}` })))
  },
)

test.each(eras)(
  "a server's question reaches the person at the client with whose it is, its form unchanged, and the answer the server (%s)",
  async (era) => {
    const { door } = await front()
    const seen: unknown[] = []
    const person = answering((params) => {
      seen.push(params)
      return { action: "accept", content: { name: "Ann", age: 7 } }
    })
    const { client } = await connect(door, era, { person: "ann" }, person)
    const result = await client.callTool({ name: "box__ask", arguments: {} })
    expect(JSON.parse(textOf(result))).toEqual({ action: "accept", content: { name: "Ann", age: 7 } })
    expect(seen).toMatchObject([
      {
        message: "The MCP server box asks, in a call of agent operator:\nWho are you?",
        requestedSchema: { properties: { age: { type: "integer" } }, required: ["name"] },
      },
    ])
  },
)

test.each(eras)(
  "resources, templates, prompts and completions are passed through, recorded, for those who may (%s)",
  async (era) => {
    const { house, door } = await front()
    const { client } = await connect(door, era)
    expect((await client.listResources()).resources).toEqual(offered.resources)
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: "note://{name}" },
      { uriTemplate: "qm://artifact/{id}{?offset,limit}" },
    ])
    expect(await client.readResource({ uri: "note://a" })).toMatchObject({
      contents: [{ uri: "note://a", text: "what is at note://a" }],
    })
    expect(await client.readResource({ uri: "note://unlisted" })).toMatchObject({
      contents: [{ uri: "note://unlisted" }],
    })
    await expect(client.readResource({ uri: "note://missing" })).rejects.toMatchObject({
      code: -32_602,
      data: { uri: "note://missing" },
    })
    expect((await client.listPrompts()).prompts).toEqual([{ ...(offered.prompts?.[0] as object), name: "box__greet" }])
    expect(await client.getPrompt({ name: "box__greet", arguments: { who: "Ann" } })).toMatchObject({
      messages: [{ content: { text: 'greet {"who":"Ann"}' } }],
    })
    await expect(client.getPrompt({ name: "nothing" })).rejects.toMatchObject({ code: -32_602 })
    const ref = { type: "ref/prompt", name: "box__greet" } as const
    expect(await client.complete({ ref, argument: { name: "who", value: "x" } })).toMatchObject({
      completion: { values: ["xa", "xb"] },
    })
    expect(await house.audit.list({ tool: "mcp:box:resources.read" })).toHaveLength(3)
    expect(await house.audit.list({ tool: "mcp:box:prompts.get" })).toHaveLength(1)

    const { client: outsider } = await connect(door, era, { agentId: "out" })
    expect((await outsider.listResources()).resources).toEqual([])
    expect((await outsider.listPrompts()).prompts).toEqual([])
    await expect(outsider.readResource({ uri: "note://a" })).rejects.toMatchObject({ code: -32_602 })
    await expect(outsider.getPrompt({ name: "box__greet" })).rejects.toMatchObject({ code: -32_602 })
  },
)

test("where two servers offer one address, the second's is named after it, which always works", async () => {
  const { door } = await front(["crate", "box"])
  const { client } = await connect(door, "legacy")
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(["crate+note://a", "crate+note://b", "note://a", "note://b"])
  for (const uri of ["crate+note://a", "box+note://a", "note://a"]) {
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: "what is at note://a" }] })
  }
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["box__greet", "crate__greet"])
})

test("a server that keeps its own names has them here too", async () => {
  const { door } = await front(["box"], { prefix: false })
  const { client } = await connect(door, "modern")
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("steps")
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["greet"])
  expect(await client.getPrompt({ name: "greet" })).toMatchObject({ messages: [{ content: { text: "greet {}" } }] })
})

test("who subscribes to a resource is told when it changes, by the address it subscribed to", async () => {
  const { door } = await front(["crate", "box"])
  const { client, told } = await connect(door, "legacy")
  const updates = () => told.filter(({ method }) => method === "notifications/resources/updated")
  await client.subscribeResource({ uri: "crate+note://a" })
  await until(() => updates().length > 0, "the change is told")
  expect(updates().map(({ params }) => params)).toEqual([{ uri: "crate+note://a" }])
  await client.unsubscribeResource({ uri: "crate+note://a" })
  const outsider = await connect(door, "legacy", { agentId: "out" })
  await expect(outsider.client.subscribeResource({ uri: "note://a" })).rejects.toMatchObject({ code: -32_602 })
})

const secret = { deny: "mcp:box:resources.read", args: { "/uri": "secret://*" }, because: "Secrets stay." }

test.each(eras)("a rule on addresses holds however one is written, for reading and for listening (%s)", async (era) => {
  const house = await open({ rules: [secret, ...allowed.rules], mcpServers: { box: toolbox(offered).command } })
  await house.mcp.ready()
  const { client } = await connect(doorOf(house), era)
  for (const uri of ["secret://x", "SECRET://x", " secret://x", "secret://x\n", "box+secret://x", "box+SECRET://x"]) {
    await expect(client.readResource({ uri }), uri).rejects.toThrow(/Secrets stay|address without spaces/)
    if (era === "legacy") await expect(client.subscribeResource({ uri }), uri).rejects.toThrow(/Secrets|spaces/)
  }
  const direct = (uri: string) => house.call({ agentId: "operator", tool: "mcp:box:resources.read", input: { uri } })
  expect(await direct("SECRET://x")).toMatchObject({ code: "invalid_arguments" })
  expect(await direct("secret://x")).toMatchObject({ code: "permission_denied" })
  expect(await client.readResource({ uri: "note://a" })).toMatchObject({ contents: [{ uri: "note://a" }] })
})

test("who listens to a resource is in the record", async () => {
  const { house, door } = await front()
  const { client } = await connect(door, "legacy")
  await client.subscribeResource({ uri: "note://a" })
  expect(await house.audit.list({ tool: "mcp:box:resources.subscribe" })).toMatchObject([{ status: "success" }])
})
