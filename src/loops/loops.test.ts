import { expect, test } from "vitest"
import { z } from "zod"
import type { ApprovalUIAdapter } from "../model/approval.ts"
import { defineTool } from "../schema/define-tool.ts"
import { deferred, openTestApp, until } from "../testing/test-app.ts"
import * as aiSdk from "./ai-sdk.ts"
import * as anthropic from "./anthropic.ts"
import type { LoopApp, LoopOptions } from "./governed-calls.ts"
import * as langchain from "./langchain.ts"
import * as openai from "./openai.ts"
import * as openaiAgents from "./openai-agents.ts"

/** An agent with four tools: one runs, one is asked for, one is denied, one has its result held. */
async function office() {
  const app = await openTestApp({
    org: { roles: [{ name: "clerk", toolGroups: ["office"] }], agents: [{ id: "clara", role: "clerk" }] },
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

/** Makes one call as each library does, and returns what the model would be told. */
const loops: Record<string, (given: Given) => Promise<string>> = {
  async "ai-sdk"({ app, options, name, input = {}, id = "c1", signal }) {
    const tool = aiSdk.governedTools(app, "clara", options)[name]!
    return tool.execute(input, { toolCallId: id, abortSignal: signal })
  },
  async openai({ app, options, name, input = {}, id = "c1", signal }) {
    const call = { id, type: "function", function: { name, arguments: JSON.stringify(input) } }
    const [message] = await openai.runToolCalls(app, "clara", { tool_calls: [call] }, { ...options, signal })
    expect(message).toMatchObject({ role: "tool", tool_call_id: id })
    return message!.content
  },
  async "openai responses"({ app, options, name, input = {}, id = "c1", signal }) {
    const output = [
      { type: "reasoning" },
      { type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
    ]
    const [item] = await openai.runToolCalls(app, "clara", { output }, { ...options, signal })
    expect(item).toMatchObject({ type: "function_call_output", call_id: id })
    return item!.output
  },
  async anthropic({ app, options, name, input = {}, id = "c1", signal }) {
    const content = [{ type: "text" }, { type: "tool_use", id, name, input }]
    const [message] = await anthropic.runToolCalls(app, "clara", { content }, { ...options, signal })
    expect(message).toMatchObject({ role: "user", content: [{ type: "tool_result", tool_use_id: id }] })
    return message!.content[0]!.content
  },
  async langchain({ app, options, name, input = {}, id = "c1", signal }) {
    const tools = langchain.governedTools(app, "clara", { ...options, tool: (run, fields) => ({ ...fields, run }) })
    return tools.find((tool) => tool.name === name)!.run(input, { toolCall: { id }, signal })
  },
  async "openai-agents"({ app, options, name, input = {}, id = "c1", signal }) {
    const tool = openaiAgents.governedTools(app, "clara", options).find((each) => each.name === name)!
    expect([await tool.needsApproval(), await tool.isEnabled()]).toEqual([false, true])
    return tool.invoke({}, JSON.stringify(input), { toolCall: { callId: id }, signal })
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

everyLoop("$name: with runOnce a repeated step runs nothing twice", async ({ call }) => {
  const { app, ran } = await office()
  const options = { runOnce: true, sessionId: "chat-1" }
  const first = await call({ app, options, name: "add", id: "c1" })
  expect(await call({ app, options, name: "add", id: "c1" })).toBe(first)
  await call({ app, options, name: "add", id: "c2" })
  expect(ran).toHaveLength(2)
  await expect(call({ app, options: { runOnce: true }, name: "add" })).rejects.toThrow(/needs a sessionId/)
  await expect(call({ app, options: { ...options, waitMs: 1 }, name: "add" })).rejects.toThrow(/do not go together/)
})

/** The names that each library gives the model. */
const namesOf: Record<string, (app: LoopApp, options: LoopOptions) => string[]> = {
  "ai-sdk": (app, options) => Object.keys(aiSdk.governedTools(app, "clara", options)),
  openai: (app, options) => openai.governedTools(app, "clara", options).map((tool) => tool.function.name),
  anthropic: (app, options) => anthropic.governedTools(app, "clara", options).map(({ name }) => name),
  langchain: (app, options) => langchain.governedTools(app, "clara", { ...options, tool: (_run, { name }) => name }),
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

test("calls of one answer with effects wait until all its questions are answered", async () => {
  const { app, ran } = await office()
  const asked = deferred<{ approved: boolean; by: string }>()
  const approvals = { showToolExecutionApproval: () => asked.promise }
  await app.rules.add({ allow: "send", args: { "/text": "free" }, because: "It is harmless." }, "ann")
  const call = (id: string, text: string) => ({ id, function: { name: "send", arguments: JSON.stringify({ text }) } })
  const told = openai.runToolCalls(app, "clara", { tool_calls: [call("c1", "ask"), call("c2", "free")] }, { approvals })
  await until(async () => (await app.approvals.list()).length === 1, "the first call waits")
  expect(ran).toEqual([])
  asked.resolve({ approved: false, by: "ann" })
  expect((await told).map(({ content }) => content.startsWith("NOT EXECUTED"))).toEqual([true, false])
})

test("LangChain's own tool must be given", async () => {
  const { app } = await office()
  const withoutTool = {} as Parameters<typeof langchain.governedTools>[2]
  expect(() => langchain.governedTools(app, "clara", withoutTool)).toThrow(/npm install langchain/)
})
