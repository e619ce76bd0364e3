import { expect, test } from "vitest"
import { z } from "zod"
import type { ApprovalUIAdapter } from "../../core/approval.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import * as aiSdk from "./ai-sdk.ts"
import * as anthropic from "./anthropic.ts"
import { makeCalls, type LoopApp, type LoopOptions } from "./governed-calls.ts"
import * as langchain from "./langchain.ts"
import * as openai from "./openai.ts"
import * as openaiAgents from "./openai-agents.ts"

/** An agent with four tools: one runs, one is asked for, one is denied, one has its result held. */
async function office(toolGroups = ["office"]) {
  const app = await openTestApp({
    org: { roles: [{ name: "clerk", toolGroups }], agents: [{ id: "clara", role: "clerk" }] },
    rules: [{ deny: "delete_all", because: "Nothing is deleted." }],
  })
  const ran: { name: string; input: unknown; signal: AbortSignal }[] = []
  const add = (name: string, effect: "none" | "communicate", holds = false) =>
    app.registry.register(
      defineTool({
        name,
        group: "office",
        description: `The tool ${name}.`,
        effect,
        input: z.object({ text: z.string().optional(), more: z.record(z.string(), z.number()).optional() }),
        permission: holds ? { requireResultApproval: "always" as const } : {},
        execute: (input, { signal }) => {
          ran.push({ name, input, signal })
          return { did: name, secret: "s3cret" }
        },
      }),
    )
  add("add", "none")
  add("send", "communicate")
  add("delete_all", "communicate")
  add("hold", "none", true)
  return { app, ran }
}

interface Given {
  app: LoopApp
  options?: LoopOptions
  name: string
  input?: unknown
  id?: string
  signal?: AbortSignal
}

/** LangChain's message, as far as it is used. */
class ToolMessage {
  constructor(readonly fields: { content: string; tool_call_id: string; name: string; status: "error" }) {}
}

const runOf = <Run, Fields extends object>(run: Run, fields: Fields) => ({ ...fields, run })
const textOf = (told: unknown) => onlyText(told instanceof ToolMessage ? told.fields.content : told)

function onlyText(told: unknown): string {
  expect(told).toBeTypeOf("string")
  return told as string
}

/** Anthropic's runner makes a result with `is_error` of what a tool throws. */
async function toldByRunner(tool: anthropic.AnthropicRunnableTool, input: unknown, signal?: AbortSignal) {
  try {
    return onlyText(await tool.run(tool.parse(input), { signal: signal ?? null }))
  } catch (error) {
    return (error as Error).message
  }
}

/** Makes one call as each library does, and returns what the model would be told. */
const loops: Record<string, (given: Given) => Promise<string>> = {
  async "ai-sdk"({ app, options, name, input = {}, signal }) {
    const tool = aiSdk.governedTools(app, "clara", options)[name]!
    return onlyText(await tool.execute(input, { abortSignal: signal }))
  },
  async openai({ app, options, name, input = {}, id = "c1", signal }) {
    const call = { id, type: "function", function: { name, arguments: JSON.stringify(input) } }
    const [message] = await openai.runToolCalls(app, "clara", { tool_calls: [call] }, { ...options, signal })
    expect(message).toMatchObject({ role: "tool", tool_call_id: id })
    return onlyText(message!.content)
  },
  async "openai responses"({ app, options, name, input = {}, id = "c1", signal }) {
    const output = [
      { type: "reasoning" },
      { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
    ]
    const [item] = await openai.runToolCalls(app, "clara", { output }, { ...options, signal })
    expect(item).toMatchObject({ type: "function_call_output", call_id: id })
    return onlyText(item!.output)
  },
  async anthropic({ app, options, name, input = {}, id = "c1", signal }) {
    const content = [{ type: "text" }, { type: "tool_use", id, name, input }]
    const [message] = await anthropic.runToolCalls(app, "clara", { content }, { ...options, signal })
    expect(message).toMatchObject({ role: "user", content: [{ type: "tool_result", tool_use_id: id }] })
    return onlyText(message!.content[0]!.content)
  },
  async "anthropic tool runner"({ app, options, name, input = {}, signal }) {
    const tool = anthropic.runnableTools(app, "clara", options).find((each) => each.name === name)!
    return toldByRunner(tool, input, signal)
  },
  async langchain({ app, options, name, input = {}, signal }) {
    const tools = langchain.governedTools(app, "clara", { ...options, tool: runOf, ToolMessage })
    return textOf(await tools.find((tool) => tool.name === name)!.run(input, { signal, toolCall: { id: "c1" } }))
  },
  async "openai-agents"({ app, options, name, input = {}, signal }) {
    const tool = openaiAgents.governedTools(app, "clara", options).find((each) => each.name === name)!
    expect([await tool.needsApproval(), await tool.isEnabled()]).toEqual([false, true])
    return onlyText(await tool.invoke({}, JSON.stringify(input), { signal }))
  },
}

const everyLoop = test.each(Object.entries(loops).map(([name, call]) => ({ name, call })))

const person: Pick<ApprovalUIAdapter, "showToolExecutionApproval" | "showToolResultApproval"> = {
  showToolExecutionApproval: async (_name, _description, args) =>
    (args as { text?: string }).text === "yes"
      ? { approved: true, by: "ann" }
      : { approved: false, rejectReason: "Not today.", by: "ann" },
  showToolResultApproval: async () => ({ approved: true, redact: ["/secret"], by: "ann" }),
}

everyLoop(
  "$name: a call runs, is refused, is approved, is rejected and is released, all as texts",
  async ({ call }) => {
    const { app, ran } = await office()
    const options = { approvals: person }
    expect(JSON.parse(await call({ app, options, name: "add" }))).toEqual({ did: "add", secret: "s3cret" })
    expect(await call({ app, options, name: "add", input: { text: 1 } })).toMatch(/^NOT EXECUTED\. .*text/s)
    expect(JSON.parse(await call({ app, options, name: "send", input: { text: "yes" } }))).toMatchObject({
      did: "send",
    })
    const rejected = await call({ app, options, name: "send", input: { text: "no" } })
    expect(rejected).toMatch(/^NOT EXECUTED\..*Not today\..*Do not retry/)
    expect(JSON.parse(await call({ app, options, name: "hold" }))).toEqual({ did: "hold", secret: "[redacted]" })
    expect(ran.map(({ name }) => name)).toEqual(["add", "send", "hold"])
    await app.settle()
    expect((await app.audit.list()).map(({ code }) => code ?? "success").sort()).toEqual([
      "approval_rejected",
      "invalid_arguments",
      "success",
      "success",
      "success",
    ])
  },
)

everyLoop("$name: session, user, task and the library's abort signal reach the call", async ({ call }) => {
  const { app } = await office()
  const options = { sessionId: "chat-7", userId: "ann", taskId: "t1" }
  const abort = new AbortController()
  const told = call({ app, options, name: "send", signal: abort.signal })
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ agentId: "clara", sessionId: "chat-7" })
  abort.abort()
  expect(await told).toMatch(/^NOT EXECUTED/)
  expect(await app.approvals.list()).toEqual([])
})

everyLoop("$name: by default a call waits for the person in the approval queue", async ({ call }) => {
  const { app } = await office()
  const told = call({ app, name: "send", input: { text: "hello" } })
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "edit", input: { text: "bye" } }, "ann")
  await until(async () => (await app.approvals.show(item!.callId))?.revision === 2, "the changed call waits")
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await told).toMatch(/^A person changed the input before it ran, to {"text":"bye"}\.\n{"did":"send"/)
})

everyLoop(
  "$name: after waitMs the model is told that it waits, and the same call gets the result",
  async ({ call }) => {
    const { app, ran } = await office()
    const options = { waitMs: 1, sessionId: "chat-1" }
    const given = { app, options, name: "send", input: { text: "hello" } }
    expect(await call(given)).toMatch(/^NOT EXECUTED YET\..*Call send again with the same arguments/)
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
    expect(JSON.parse(await call({ ...given, id: "c2" }))).toMatchObject({ did: "send" })
    expect(ran).toHaveLength(1)
  },
)

everyLoop(
  "$name: a call whose result is held after waitMs does not run again: the same call gets it",
  async ({ call }) => {
    const { app, ran } = await office()
    const given = { app, options: { waitMs: 1, sessionId: "chat-1" }, name: "hold" }
    expect(await call(given)).toMatch(/again with the same arguments/)
    expect(await call({ ...given, id: "c2" })).toMatch(/again with the same arguments/)
    const [item, ...more] = await app.approvals.list()
    expect(more).toEqual([])
    await app.approvals.answer(item!.callId, { kind: "release" }, "ann")
    expect(JSON.parse(await call({ ...given, id: "c3" }))).toMatchObject({ did: "hold" })
    expect(ran).toHaveLength(1)
    await call({ ...given, id: "c4" })
    expect(ran).toHaveLength(2)
  },
)

test("the model is told why a held call whose row is gone has no result; it does not run again", async () => {
  const { app, ran } = await office()
  const without = { ...app, resume: () => Promise.reject(new Error("There is no such call.")) }
  const hold = () => makeCalls(without, "clara", [{ name: "hold", input: {} }], { waitMs: 1 })
  await hold()
  expect(await hold()).toMatchObject([{ isError: true, text: expect.stringContaining("There is no such call.") }])
  expect(ran).toHaveLength(1)
})

/** The names that each library gives the model. */
const namesOf: Record<string, (app: LoopApp, options: LoopOptions) => string[]> = {
  "ai-sdk": (app, options) => Object.keys(aiSdk.governedTools(app, "clara", options)),
  openai: (app, options) => openai.governedTools(app, "clara", options).map((tool) => tool.function.name),
  anthropic: (app, options) => anthropic.governedTools(app, "clara", options).map(({ name }) => name),
  "anthropic tool runner": (app, options) => anthropic.runnableTools(app, "clara", options).map(({ name }) => name),
  langchain: (app, options) =>
    langchain.governedTools(app, "clara", { ...options, tool: (_run, { name }) => name, ToolMessage }),
  "openai-agents": (app, options) => openaiAgents.governedTools(app, "clara", options).map(({ name }) => name),
}

test.each(Object.entries(namesOf))(
  "%s: the model sees what the agent may use, narrowed by groups and tools",
  async (_, names) => {
    const { app } = await office()
    expect(names(app, {})).toEqual(["add", "hold", "send"])
    expect(names(app, { tools: ["send"] })).toEqual(["send"])
    expect(names(app, { groups: ["data"] })).toEqual([])
    expect(names(app, { groups: ["office"] })).toEqual(["add", "hold", "send"])
  },
)

test("the AI SDK takes the schema as it is, and leaves the check of arguments to us", async () => {
  const { app } = await office()
  const { inputSchema } = aiSdk.governedTools(app, "clara")["add"]!
  const own = inputSchema as unknown as Record<symbol, unknown> & {
    jsonSchema: unknown
    validate(value: unknown): unknown
  }
  expect(own[Symbol.for("vercel.ai.schema")]).toBe(true)
  expect(own.jsonSchema).toMatchObject({ type: "object", properties: { more: { additionalProperties: {} } } })
  expect(own.validate({ text: 1 })).toEqual({ success: true, value: { text: 1 } })
  expect(inputSchema["~standard"].jsonSchema.input()).toEqual(own.jsonSchema)
})

test("empty arguments are an empty object, broken ones are told to the model", async () => {
  const { app, ran } = await office()
  const call = (id: string, text: string) => ({ id, function: { name: "add", arguments: text } })
  const messages = await openai.runToolCalls(app, "clara", {
    tool_calls: [call("c1", ""), call("c2", '{"text":"cu'), { id: "c3", custom: { name: "grep", input: "x" } }],
  })
  expect(messages.map(({ tool_call_id }) => tool_call_id)).toEqual(["c1", "c2", "c3"])
  expect(messages.map(({ content }) => content.startsWith("NOT EXECUTED"))).toEqual([false, true, true])
  expect(ran).toHaveLength(1)
})

test("an answer without calls has no messages to append", async () => {
  const { app } = await office()
  expect(await openai.runToolCalls(app, "clara", { tool_calls: null })).toEqual([])
  expect(await anthropic.runToolCalls(app, "clara", { content: [{ type: "text" }] })).toEqual([])
})

test("Anthropic is told which results are errors, in the order of the calls", async () => {
  const { app } = await office()
  const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: {} })
  const [message] = await anthropic.runToolCalls(app, "clara", { content: [use("a", "delete_all"), use("b", "add")] })
  expect(message!.content.map(({ tool_use_id, is_error }) => [tool_use_id, is_error])).toEqual([
    ["a", true],
    ["b", false],
  ])
})

/** Makes the calls of one answer as each library does, and returns what the model would be told. */
const answers: Record<string, (given: Omit<Given, "name" | "input">, texts: string[]) => Promise<string[]>> = {
  async openai({ app, options }, texts) {
    const tool_calls = texts.map((text, place) => ({
      id: `c${place}`,
      function: { name: "send", arguments: JSON.stringify({ text }) },
    }))
    return (await openai.runToolCalls(app, "clara", { tool_calls }, options)).map(({ content }) => onlyText(content))
  },
  async anthropic({ app, options }, texts) {
    const content = texts.map((text, place) => ({ type: "tool_use", id: `c${place}`, name: "send", input: { text } }))
    const [message] = await anthropic.runToolCalls(app, "clara", { content }, options)
    return message!.content.map((block) => onlyText(block.content))
  },
  "anthropic tool runner"({ app, options }, texts) {
    const [send] = anthropic.runnableTools(app, "clara", { ...options, tools: ["send"] })
    return Promise.all(texts.map((text) => toldByRunner(send!, { text })))
  },
  "ai-sdk"({ app, options }, texts) {
    const { send } = aiSdk.governedTools(app, "clara", options)
    return Promise.all(texts.map(async (text) => onlyText(await send!.execute({ text }, {}))))
  },
  langchain({ app, options }, texts) {
    const [send] = langchain.governedTools(app, "clara", { ...options, tools: ["send"], tool: runOf, ToolMessage })
    return Promise.all(texts.map(async (text) => textOf(await send!.run({ text }, {}))))
  },
  "openai-agents"({ app, options }, texts) {
    const [send] = openaiAgents.governedTools(app, "clara", { ...options, tools: ["send"] })
    return Promise.all(texts.map(async (text) => onlyText(await send!.invoke({}, JSON.stringify({ text })))))
  },
}

test.each(Object.entries(answers))(
  "%s: calls of one answer with effects wait until all its questions are answered",
  async (_, makeAll) => {
    const { app, ran } = await office()
    const asked = deferred<{ approved: boolean; by: string }>()
    const approvals = { showToolExecutionApproval: () => asked.promise }
    await app.rules.add({ allow: "send", args: { "/text": "free" }, because: "It is harmless." }, "ann")
    const told = makeAll({ app, options: { approvals } }, ["ask", "free"])
    await until(async () => (await app.approvals.list()).length === 1, "the first call waits")
    expect(ran).toEqual([])
    asked.resolve({ approved: false, by: "ann" })
    expect((await told).map((text) => text.startsWith("NOT EXECUTED"))).toEqual([true, false])
  },
)

test.each([
  [["office", "artifact"], /Read on with get_artifact {"ref":"artifact:[^"]+","offset":30000,"limit":17760}\.\]$/],
  [["office"], /You have no tool that reads the rest: ask for a part of it\.\]$/],
])("a model with the groups %j is told how it reads the rest of a long result", async (groups, expected) => {
  const { app } = await office(["office", "artifact"])
  app.registry.register(tool({ name: "long", group: "office", execute: () => "é".repeat(100_000) }))
  expect(await loops["ai-sdk"]!({ app, options: { groups }, name: "long" })).toMatch(expected)
})

test.each([{}, { tool: runOf }])("LangChain's own tool and ToolMessage must be given", async (given) => {
  const { app } = await office()
  const options = given as Parameters<typeof langchain.governedTools>[2]
  expect(() => langchain.governedTools(app, "clara", options)).toThrow(/ToolMessage.*npm install langchain/)
})

test("LangChain's messages of refused, failed and waiting calls have the status error", async () => {
  const { app } = await office()
  app.registry.register(tool({ name: "fail", group: "office", execute: () => Promise.reject(new Error("It broke.")) }))
  const tools = langchain.governedTools(app, "clara", { waitMs: 1, tool: runOf, ToolMessage })
  const call = (name: string, input: unknown, toolCall?: { id: string }) =>
    tools.find((each) => each.name === name)!.run(input, { toolCall })
  const error = (name: string, content: RegExp) => ({
    fields: { content: expect.stringMatching(content), tool_call_id: "c1", name, status: "error" },
  })
  const made = { id: "c1" }
  expect(await call("add", { text: 1 }, made)).toEqual(error("add", /^NOT EXECUTED\./))
  expect(await call("fail", {}, made)).toEqual(error("fail", /It broke\./))
  expect(await call("send", {}, made)).toEqual(error("send", /^NOT EXECUTED YET\./))
  expect(await call("add", {}, made)).toMatch(/^{"did":"add"/)
  expect(await call("add", { text: 1 })).toMatch(/^NOT EXECUTED\./)
})

const url = "data:image/png;base64,QUJD"

/** Each library's form for a model of the result of `look`, which has an image. */
const looks: Record<
  string,
  { look(app: LoopApp, images?: boolean): Promise<unknown>; seen: unknown; isDefault?: true }
> = {
  "ai-sdk": {
    async look(app, images) {
      const { look } = aiSdk.governedTools(app, "clara", { images })
      return look!.toModelOutput({ output: await look!.execute({}, {}) })
    },
    seen: {
      type: "content",
      value: [{ type: "text" }, { type: "file", mediaType: "image/png", data: { type: "data", data: "QUJD" } }],
    },
  },
  openai: {
    look: (app, images) => openai.runToolCalls(app, "clara", { tool_calls: [lookCall] }, { images }),
    seen: [{ role: "tool" }, { role: "user", content: [{ type: "text" }, { type: "image_url", image_url: { url } }] }],
  },
  "openai responses": {
    look: (app, images) =>
      openai.runToolCalls(
        app,
        "clara",
        { output: [{ type: "function_call", call_id: "c1", name: "look", arguments: "" }] },
        { images },
      ),
    seen: [{ output: [{ type: "input_text" }, { type: "input_image", image_url: url }] }],
  },
  anthropic: {
    async look(app, images) {
      const content = [{ type: "tool_use", id: "c1", name: "look", input: {} }]
      const [message] = await anthropic.runToolCalls(app, "clara", { content }, { images })
      return message!.content[0]!.content
    },
    seen: [{ type: "text" }, { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } }],
    isDefault: true,
  },
  "anthropic tool runner": {
    look: (app, images) => anthropic.runnableTools(app, "clara", { images, tools: ["look"] })[0]!.run({}),
    seen: [{ type: "text" }, { type: "image", source: { type: "base64", media_type: "image/png", data: "QUJD" } }],
    isDefault: true,
  },
  langchain: {
    look: (app, images) =>
      langchain.governedTools(app, "clara", { images, tools: ["look"], tool: runOf, ToolMessage })[0]!.run({}, {}),
    seen: [{ type: "text" }, { type: "image_url", image_url: { url } }],
  },
  "openai-agents": {
    look: (app, images) => openaiAgents.governedTools(app, "clara", { images, tools: ["look"] })[0]!.invoke({}, "{}"),
    seen: [{ type: "text" }, { type: "image", image: { data: "QUJD", mediaType: "image/png" } }],
  },
}
const lookCall = { id: "c1", function: { name: "look", arguments: "{}" } }

test("Anthropic's runner has an error for refused, failed and waiting calls, and a result for the others", async () => {
  const { app } = await office()
  app.registry.register(tool({ name: "fail", group: "office", execute: () => Promise.reject(new Error("It broke.")) }))
  const tools = anthropic.runnableTools(app, "clara", { waitMs: 1 })
  const run = (name: string, input: unknown = {}) => tools.find((each) => each.name === name)!.run(input)
  await expect(run("add", { text: 1 })).rejects.toThrow(/^NOT EXECUTED\./)
  await expect(run("fail")).rejects.toThrow(/It broke\./)
  await expect(run("send")).rejects.toThrow(/^NOT EXECUTED YET\./)
  expect(await run("add")).toMatch(/^{"did":"add"/)
})

test.each(Object.entries(looks))(
  "%s: a model that sees gets the image of a result, others only its text",
  async (_, { look, seen, isDefault }) => {
    const { app } = await office()
    const image = { mimeType: "image/png", data: "QUJD" }
    app.registry.register(tool({ name: "look", group: "office", execute: () => ({ page: 1, image }) }))
    expect(await look(app, true)).toMatchObject(seen as object)
    expect(JSON.stringify(await look(app, false))).not.toContain("QUJD")
    expect(JSON.stringify(await look(app)).includes("QUJD")).toBe(isDefault === true)
  },
)
