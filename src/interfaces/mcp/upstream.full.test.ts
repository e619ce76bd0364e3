import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { definition, toolbox, type ToolboxOffer } from "../../testing/mcp/toolbox.ts"
import { answeringClient, connectClient, openEndpoint, eras, textOf } from "./testing.ts"

const image = { type: "image", data: "aGk=", mimeType: "image/png" }
const offered: ToolboxOffer = {
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

/** An app with one server, or with two that offer the same. */
async function openGateway(names: readonly string[] = ["box"], options: { prefix?: boolean } = {}) {
  const boxes = names.map((name) => [name, { ...toolbox(offered).command, ...options }] as const)
  const app = await openTestApp({
    ...allowed,
    mcpServers: Object.fromEntries(boxes),
    org: {
      roles: [{ name: "outsider", toolGroups: ["data"] }],
      agents: [{ id: "out", role: "outsider" }],
    },
  })
  await app.mcp.ready()
  return { app, endpoint: openEndpoint(app) }
}

test.each(eras)("a server's tools are listed unchanged, and its results passed on whole (%s)", async (era) => {
  const { endpoint } = await openGateway()
  const { client } = await connectClient(endpoint, era)
  const { tools } = await client.listTools()
  const theirs = tools.filter(({ name }) => name.startsWith("box__"))
  expect(theirs.map(({ name }) => name)).toEqual(["ask", "fails", "list", "say", "steps"].map((name) => `box__${name}`))
  expect(theirs[3]).toEqual({ ...(offered.tools[0] as object), name: "box__say" })
  expect(await client.callTool({ name: "box__say", arguments: {} })).toMatchObject(offered.results?.["say"] as object)
  const failed = await client.callTool({ name: "box__fails", arguments: {} })
  expect(failed).toMatchObject({ isError: true, content: [{ type: "text", text: "no" }, image] })
  expect(await client.callTool({ name: "box__list", arguments: {} })).toMatchObject({
    structuredContent: era === "modern" ? [1, 2] : { result: [1, 2] },
    content: [{ type: "text", text: "[1,2]" }],
  })
  const received: unknown[] = []
  await client.callTool({ name: "box__steps", arguments: {} }, { onprogress: (progress) => received.push(progress) })
  expect(received).toEqual([1, 2].map((progress) => ({ progress, total: 2, message: `step ${progress}` })))
})

test.each(eras)(
  "a server's question reaches the person with the server's name and its form unchanged, and the answer the server (%s)",
  async (era) => {
    const { endpoint } = await openGateway()
    const forms: unknown[] = []
    const person = answeringClient((params) => {
      forms.push(params)
      return { action: "accept", content: { name: "Ann", age: 7 } }
    })
    const { client } = await connectClient(endpoint, era, { person: "ann" }, person)
    const result = await client.callTool({ name: "box__ask", arguments: {} })
    expect(JSON.parse(textOf(result))).toEqual({ action: "accept", content: { name: "Ann", age: 7 } })
    expect(forms).toMatchObject([
      {
        message:
          "Low risk: The MCP server box asks, in a call of operator; the answer goes to that server\nWho are you?",
        requestedSchema: { properties: { age: { type: "integer" } }, required: ["name"] },
      },
    ])
  },
)

test.each(eras)(
  "resources, templates, prompts and completions are passed through and recorded, for permitted agents (%s)",
  async (era) => {
    const { app, endpoint } = await openGateway()
    const { client } = await connectClient(endpoint, era)
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
    expect(await app.audit.list({ tool: "mcp:box:resources.read" })).toHaveLength(3)
    expect(await app.audit.list({ tool: "mcp:box:prompts.get" })).toHaveLength(1)

    const { client: outsider } = await connectClient(endpoint, era, { agentId: "out" })
    expect((await outsider.listResources()).resources).toEqual([])
    expect((await outsider.listPrompts()).prompts).toEqual([])
    await expect(outsider.readResource({ uri: "note://a" })).rejects.toMatchObject({ code: -32_602 })
    await expect(outsider.getPrompt({ name: "box__greet" })).rejects.toMatchObject({ code: -32_602 })
  },
)

test("if two servers have the same URI, the second one's gets the server's name as a prefix", async () => {
  const { endpoint } = await openGateway(["crate", "box"])
  const { client } = await connectClient(endpoint, "legacy")
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(["crate+note://a", "crate+note://b", "note://a", "note://b"])
  for (const uri of ["crate+note://a", "box+note://a", "note://a"]) {
    expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: "what is at note://a" }] })
  }
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["box__greet", "crate__greet"])
})

test("a server without a prefix keeps its own names", async () => {
  const { endpoint } = await openGateway(["box"], { prefix: false })
  const { client } = await connectClient(endpoint, "modern")
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("steps")
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["greet"])
  expect(await client.getPrompt({ name: "greet" })).toMatchObject({ messages: [{ content: { text: "greet {}" } }] })
})

test("a subscriber is notified of a change with the URI it subscribed to", async () => {
  const { endpoint } = await openGateway(["crate", "box"])
  const { client, notifications } = await connectClient(endpoint, "legacy")
  const updates = () => notifications.filter(({ method }) => method === "notifications/resources/updated")
  await client.subscribeResource({ uri: "crate+note://a" })
  await until(() => updates().length > 0, "the change is announced")
  expect(updates().map(({ params }) => params)).toEqual([{ uri: "crate+note://a" }])
  await client.unsubscribeResource({ uri: "crate+note://a" })
  const outsider = await connectClient(endpoint, "legacy", { agentId: "out" })
  await expect(outsider.client.subscribeResource({ uri: "note://a" })).rejects.toMatchObject({ code: -32_602 })
})

const secret = { deny: "mcp:box:resources.read", args: { "/uri": "secret://*" }, because: "Secrets stay." }

test.each(eras)("a rule on URIs applies to all spellings, for reading and for subscribing (%s)", async (era) => {
  const app = await openTestApp({ rules: [secret, ...allowed.rules], mcpServers: { box: toolbox(offered).command } })
  await app.mcp.ready()
  const { client } = await connectClient(openEndpoint(app), era)
  for (const uri of ["secret://x", "SECRET://x", " secret://x", "secret://x\n", "box+secret://x", "box+SECRET://x"]) {
    await expect(client.readResource({ uri }), uri).rejects.toThrow(/Secrets stay|address without spaces/)
    if (era === "legacy") await expect(client.subscribeResource({ uri }), uri).rejects.toThrow(/Secrets|spaces/)
  }
  const direct = (uri: string) => app.call({ agentId: "operator", tool: "mcp:box:resources.read", input: { uri } })
  expect(await direct("SECRET://x")).toMatchObject({ code: "invalid_arguments" })
  expect(await direct("secret://x")).toMatchObject({ code: "permission_denied" })
  expect(await client.readResource({ uri: "note://a" })).toMatchObject({ contents: [{ uri: "note://a" }] })
})

test("subscribing to a resource is recorded", async () => {
  const { app, endpoint } = await openGateway()
  const { client } = await connectClient(endpoint, "legacy")
  await client.subscribeResource({ uri: "note://a" })
  expect(await app.audit.list({ tool: "mcp:box:resources.subscribe" })).toMatchObject([{ status: "success" }])
})

const hangs = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"] }

test.each(eras)("tools are listed from the pins at once while their server connects (%s)", async (era) => {
  const first = await openTestApp({ mcpServers: { box: toolbox(offered).command } })
  await first.mcp.ready()
  await first.close()
  const app = await openTestApp({ mcpServers: { box: hangs }, data: { dir: first.dir } })
  const order: string[] = []
  void app.mcp.ready(3000).then(() => order.push("waited"))
  const { client } = await connectClient(openEndpoint(app), era)
  const { tools } = await client.listTools()
  order.push("listed")
  expect(order).toEqual(["listed"])
  expect(tools.map(({ name }) => name)).toContain("box__say")
})

test.each(eras)("a server that is slow at its first connection is announced when it has come (%s)", async (era) => {
  const box = toolbox(offered)
  const gate = join(temporaryFolder(), "gate")
  const opens = `while [ ! -e '${gate}' ]; do sleep 0.05; done; exec "$@"`
  const slow = { command: "/bin/sh", args: ["-c", opens, "sh", box.command.command, ...box.command.args] }
  const app = await openTestApp({ mcpServers: { box: slow } })
  let changes = 0
  const { client } = await connectClient(
    openEndpoint(app),
    era,
    {},
    { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => void changes++ } } },
  )
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  const before = await names()
  expect(before).toContain("read_file")
  expect(before).not.toContain("box__say")
  writeFileSync(gate, "")
  await until(() => changes > 0, "the change is announced")
  expect(await names()).toContain("box__say")
})
