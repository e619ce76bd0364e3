import { expect, test } from "vitest"
import { z } from "zod"
import type { Config } from "../../config/schema.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { openTestApp, until } from "../../testing/test-app.ts"

const noteTool = (level: "public" | "moderate" = "public") =>
  defineTool({
    name: "note",
    group: "test",
    description: "Keep a note.",
    effect: "write",
    permission: { level },
    input: z.strictObject({ text: z.string(), token: z.string().meta({ secret: true }).optional() }),
    execute: ({ text }) => ({ kept: text }),
  })

const own = defineTool({
  name: "own",
  group: "test",
  description: "Has a parameter of that name.",
  effect: "none",
  input: z.strictObject({ _intent: z.string() }),
  execute: ({ _intent }) => _intent,
})

const asking: Config = { tools: { askIntent: true } }
const agentId = "operator"

async function open(config: Config, level?: "moderate") {
  const app = await openTestApp(config)
  app.registry.registerMany([noteTool(level), own])
  const entries = async (callId: string) => (await app.settle(), app.audit.show(callId))
  return { app, entries }
}

test("with askIntent every definition asks for it, except where the tool uses the name; hashes stay", async () => {
  const { app } = await open(asking)
  const { app: plain } = await open({})
  const { properties } = app.toolsFor(agentId, { format: "flat", tools: ["note"] })[0]!.parameters
  expect(properties).toMatchObject({ _intent: { type: "string", maxLength: 200 } })
  const asks = (schema: object) => JSON.stringify(schema).includes("in one sentence for the person")
  const listed = app.mcpTools(agentId)
  expect(listed.filter(({ inputSchema }) => !asks(inputSchema)).map(({ name }) => name)).toEqual(["own"])
  expect(plain.mcpTools(agentId).filter(({ inputSchema }) => asks(inputSchema))).toEqual([])
  const hashes = (one: typeof app) =>
    one.visibleTools(agentId).map(({ name, definitionHash }) => [name, definitionHash])
  expect(hashes(app)).toEqual(hashes(plain))
  const policy = async (one: typeof app) => (await one.why({ agentId, tool: "note" })).policy
  expect(await policy(app)).toBe(await policy(plain))
})

test("the sentence is taken out of the input, shortened, masked and written to the audit log", async () => {
  const { app, entries } = await open(asking)
  const token = "zebra-4711-giraffe"
  const _intent = ` To\nremember ${token} and password=hunter22 ${"x".repeat(300)}`
  const result = await app.call({ agentId, tool: "note", input: { text: "hi", token, _intent } })
  expect(result).toMatchObject({ success: true, result: { kept: "hi" } })
  const [start] = await entries(result.callId)
  const { intent, input } = start as { intent: string; input: string }
  expect(intent).toMatch(/^To remember \*+ and password=\*+ x+$/)
  expect(intent).toHaveLength(200)
  expect(input).not.toContain("_intent")
})

test.each<[string, Config, string, Record<string, unknown>, object]>([
  ["a tool's own parameter", asking, "own", { _intent: "mine" }, { success: true, result: "mine" }],
  ["anything but a text", asking, "note", { text: "a", _intent: { deep: true } }, { success: true }],
  ["without askIntent", {}, "note", { text: "a", _intent: "why" }, { code: "invalid_arguments" }],
])("%s is no intent", async (_, config, tool, input, expected) => {
  const { app, entries } = await open(config)
  const result = await app.call({ agentId, tool, input })
  expect(result).toMatchObject(expected)
  const [first] = await entries(result.callId)
  expect(first).not.toHaveProperty("intent")
})

test("a host gives an intent without askIntent too, also for a call that is refused", async () => {
  const { app, entries } = await open({ rules: [{ deny: "note", args: { "/text": "a" }, because: "Not this." }] })
  const result = await app.call({ agentId, tool: "note", input: { text: "a" }, intent: "Because I want to." })
  expect(await entries(result.callId)).toMatchObject([{ kind: "end", ran: false, intent: "Because I want to." }])
})

test("approvers see the intent of the first call, and a call with other words joins it", async () => {
  const { app } = await open(asking, "moderate")
  const say = (_intent: string) => app.call({ agentId, tool: "note", input: { text: "a", _intent } })
  const first = say("It is needed.")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [waiting] = await app.approvals.list()
  expect(waiting).toMatchObject({ intent: "It is needed.", input: { text: "a" } })
  const second = say("Please!")
  await app.approvals.answer(waiting!.callId, { kind: "approve" }, "ann")
  expect((await second).callId).toBe((await first).callId)
  expect(await app.approvals.list()).toEqual([])
})
