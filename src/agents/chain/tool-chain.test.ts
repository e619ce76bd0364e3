import { expect, onTestFinished, test, vi } from "vitest"
import { z } from "zod"
import type { Config } from "../../config/schema.ts"
import type { Answer } from "../../core/approval.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import { modelOf, playedModel, type PlayedTurn } from "../testing/played-model.ts"
import type { ToolChainOptions } from "./chain-options.ts"
import { ToolChain } from "./tool-chain.ts"

/** An app with a tool that adds, one that asks a person, and a chain over a model that answers like this. */
async function openChain(model: ReturnType<typeof playedModel>, options: ToolChainOptions = {}) {
  const app = await openTestApp()
  const added: number[] = []
  app.registry.registerMany([
    defineTool({
      name: "add",
      group: "maths",
      description: "Add two numbers.",
      effect: "none",
      input: z.object({ a: z.number(), b: z.number() }),
      execute({ a, b }) {
        added.push(a + b)
        return { sum: a + b }
      },
    }),
    tool({ name: "send", effect: "communicate", execute: () => "sent" }),
    tool({ name: "big", effect: "read", execute: () => ({ rows: Array.from({ length: 500 }, (_, row) => row) }) }),
    defineTool({
      name: "length_of",
      group: "maths",
      description: "How long a list is.",
      effect: "none",
      input: z.object({ list: z.unknown() }),
      execute: ({ list }) => (list as { rows: unknown[] }).rows.length,
    }),
  ])
  const chain = new ToolChain(app, "operator", model, { tools: ["add", "send", "big", "length_of"], ...options })
  return { app, chain, added }
}

const add = (a: number, b: number): PlayedTurn => ({ calls: [{ name: "add", input: { a, b } }] })
const lastMessages = (model: ReturnType<typeof playedModel>) => model.requests.at(-1)!.messages

test("a model's calls are made, their results go back, and its answer is the content", async () => {
  const model = modelOf({ say: "Let me see.", ...add(2, 3) }, { say: "It is 5." })
  const { app, chain } = await openChain(model, { instructions: "Be brief." })
  const result = await chain.run("What is 2 + 3?")
  expect(result).toMatchObject({ status: "completed", content: "It is 5.", stats: { rounds: 2, calls: 1 } })
  expect(lastMessages(model)).toMatchObject([
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is 2 + 3?" },
    { role: "assistant", content: [{ type: "text" }, { type: "tool-call", name: "add", input: { a: 2, b: 3 } }] },
    { role: "tool", content: [{ name: "add", output: '{"sum":5}', isError: false }] },
  ])
  expect(result.toolCallHistory).toMatchObject([{ round: 1, toolName: "add", args: { a: 2, b: 3 }, status: "success" }])
  const [row] = await app.audit.list()
  expect(row).toMatchObject({ callId: result.toolCallHistory[0]!.callId, tool: "add" })
})

test("a call that is repeated with another reason is the same call", async () => {
  const why = (_intent: string): PlayedTurn => ({ calls: [{ name: "add", input: { a: 1, b: 1, _intent } }] })
  const model = modelOf(why("First."), why("Again."), why("Once more."), { say: "2" })
  const { chain } = await openChain(model)
  expect((await chain.run("1 + 1?")).toolCallHistory.at(-1)).toMatchObject({ status: "not_executed" })
})

test("a second message goes on in the same conversation, with limits of its own", async () => {
  const model = modelOf(add(1, 1), { say: "2" }, add(2, 2), { say: "4" })
  const { chain } = await openChain(model, { maxRounds: 1 })
  await chain.run("1 + 1?")
  const second = await chain.run("2 + 2?")
  expect(second).toMatchObject({ status: "completed", content: "4" })
  expect(lastMessages(model)).toHaveLength(6 + 1)
})

test("every call of an answer gets an answer, in their order, also the impossible ones", async () => {
  const model = modelOf(
    {
      calls: [
        { name: "add", input: { a: 1, b: 2 } },
        { name: "nothing", input: {} },
        { name: "add", input: { a: "x" } },
        { name: "add", input: '{"a": 1, "b"' },
        { name: "add", input: { a: 3, b: 4 } },
      ],
    },
    { say: "done" },
  )
  const { chain, added } = await openChain(model)
  const { toolCallHistory } = await chain.run("Go.")
  expect(toolCallHistory.map(({ status, code }) => code ?? status)).toEqual([
    "success",
    "unknown_tool",
    "invalid_arguments",
    "not_executed",
    "success",
  ])
  expect(added).toEqual([3, 7])
  expect(lastMessages(model).at(-1)).toMatchObject({ role: "tool", content: { length: 5 } })
})

test.each([
  ["rounds", { maxRounds: 2 }, 2, "2 answers with tool calls. 'agents.maxRounds' in"],
  ["calls", { maxCalls: 3 }, 3, "3 tool calls. 'agents.maxCalls' in"],
])("at the limit of %s calls are not made any more and the model sums up", async (_what, limits, made, named) => {
  let number = 0
  const model = playedModel(({ toolChoice }) => (toolChoice === "none" ? { say: "So far." } : add(number++, 1)))
  const { chain, added } = await openChain(model, limits)
  const result = await chain.run("Go on for ever.")
  expect(result).toMatchObject({ status: "limit", content: "So far." })
  expect(result.error).toContain(`The run reached its limit of ${named}`)
  expect(added).toHaveLength(made)
  expect(result.toolCallHistory.at(-1)).toMatchObject({ status: "not_executed" })
})

test("when the time of a run is over, calls are not made any more and the model sums up", async () => {
  onTestFinished(() => void vi.useRealTimers())
  const model = playedModel(({ toolChoice }) => {
    if (toolChoice === "none") return { say: "So far." }
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61 * 60_000 })
    return add(1, 2)
  })
  const { chain, added } = await openChain(model)
  const result = await chain.run("Take your time.")
  expect(result).toMatchObject({ status: "limit", content: "So far.", error: expect.stringContaining("'deadlineMs'") })
  expect(result.toolCallHistory).toMatchObject([{ toolName: "add", status: "not_executed" }])
  expect(added).toEqual([])
})

test.each<[string, PlayedTurn, ToolChainOptions, Answer]>([
  ["an approval", { calls: [{ name: "send" }] }, {}, { kind: "approve" }],
  ["the release of a result", add(1, 2), { checkToolResults: true }, { kind: "release" }],
  ["a larger budget", add(1, 2), { maxTokens: 10 }, { kind: "approve" }],
])("the time in which a run waits for %s does not count", async (_what, turn, options, answer) => {
  onTestFinished(() => void vi.useRealTimers())
  const { app, chain } = await openChain(modelOf(turn, { say: "Done." }), { ...options, deadlineMs: 60_000 })
  const waiting: string[] = []
  app.on("TOOL_CALL_WAITING", ({ callId }) => waiting.push(callId))
  const running = chain.run("Go.")
  await until(() => waiting.length === 1, "it waits")
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 })
  await app.approvals.answer(waiting[0]!, answer, "ann")
  expect(await running).toMatchObject({ status: "completed", content: "Done." })
})

test("a model that calls a thousand tools at once gets as many as allowed, and an answer for each", async () => {
  const calls = Array.from({ length: 1000 }, (_, a) => ({ name: "add", input: { a, b: 0 } }))
  const model = playedModel(({ toolChoice }) => (toolChoice === "none" ? { say: "Enough." } : { calls }))
  const { chain, added } = await openChain(model)
  const result = await chain.run("Go.")
  expect(result.status).toBe("limit")
  expect(added).toHaveLength(200)
  expect(result.toolCallHistory).toHaveLength(1000)
})

test("a model that calls tools although it may not any more still ends", async () => {
  const { chain } = await openChain(modelOf({ say: "More!", ...add(1, 1) }), { maxRounds: 1 })
  expect(await chain.run("Go.")).toMatchObject({ status: "limit", content: "More!" })
})

test("the same call with the same result a third time is not made", async () => {
  const model = modelOf(add(1, 1), add(1, 1), add(1, 1), { say: "It stays 2." })
  const { chain, added } = await openChain(model)
  expect(await chain.run("Go.")).toMatchObject({ status: "completed", content: "It stays 2." })
  expect(added).toEqual([2, 2])
})

test("a call that the model only describes is answered with a hint", async () => {
  const model = modelOf({ say: '<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>' }, { say: "Sorry." })
  const { chain, added } = await openChain(model)
  expect(await chain.run("Go.")).toMatchObject({ status: "completed", content: "Sorry." })
  expect(added).toEqual([])
  expect(lastMessages(model).at(-1)).toMatchObject({ role: "user" })
})

test.each([
  ["writes its calls as text for ever", '<tool_call>{"name":"add"}</tool_call>'],
  ["explains how calls are written", 'Models write <invoke name="add"> for a call.'],
])("a model that %s is given one hint in a run, and then its text is the answer", async (_what, say) => {
  const model = modelOf({ say })
  const { chain } = await openChain(model)
  expect(await chain.run("Go.")).toMatchObject({ status: "completed", content: say })
  expect(model.requests).toHaveLength(2)
  await chain.run("Again.")
  expect(model.requests).toHaveLength(4)
})

test("what is said while tools run is read after their results and before the next request", async () => {
  const model = modelOf({ calls: [{ name: "send" }] }, { say: "ok" })
  const { app, chain } = await openChain(model)
  const running = chain.run("Send it.")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  await chain.steer("yes")
  expect(await app.approvals.list()).toHaveLength(1)
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "reject", reason: "not now" }, "ann")
  expect(await running).toMatchObject({ status: "completed" })
  expect(lastMessages(model).slice(-3)).toMatchObject([
    { role: "tool", content: [{ isError: true }] },
    { role: "user", content: expect.stringContaining("send was refused") },
    { role: "user", content: "yes" },
  ])
})

test.each([true, false])(
  "what is said while the model gives its last answer is answered too (stored: %s)",
  async (durable) => {
    const said = deferred()
    const model = playedModel(async (_, round) => {
      if (round > 0) return { say: "Both." }
      await said.promise
      return { say: "The first." }
    })
    const app = await openTestApp({}, { models: { played: model } })
    const chain = app.chain("operator", { durable })
    const running = chain.run("Go.")
    await until(() => Promise.resolve(model.requests.length === 1), "the model answers")
    await chain.steer("And the second?")
    said.resolve()
    expect(await running).toMatchObject({ status: "completed", content: "Both." })
    expect(lastMessages(model).slice(-3)).toMatchObject([
      { role: "user", content: "Go." },
      { role: "assistant" },
      { role: "user", content: "And the second?" },
    ])
  },
)

test("a stop while the model answers ends the run with nothing dangling", async () => {
  const asked = deferred()
  const model = playedModel(() => {
    asked.resolve()
    return new Promise<PlayedTurn>(() => {})
  })
  const { chain } = await openChain(model)
  const running = chain.run("Go.")
  await asked.promise
  chain.stop()
  expect(await running).toMatchObject({ status: "aborted", toolCallHistory: [] })
})

test("a stop while a call waits for a person ends the call, and the conversation can go on", async () => {
  const model = modelOf({ calls: [{ name: "send" }] }, { say: "Hello again." })
  const { app, chain } = await openChain(model)
  const running = chain.run("Send it.")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  chain.stop()
  expect(await running).toMatchObject({ status: "aborted", toolCallHistory: [{ code: "aborted" }] })
  expect(await app.approvals.list()).toEqual([])
  expect(await chain.run("Are you there?")).toMatchObject({ status: "completed", content: "Hello again." })
})

test("an error of the model ends the run with its sentence", async () => {
  const errors: unknown[] = []
  const model = playedModel(() => {
    throw new Error("The model is out.")
  })
  const { chain } = await openChain(model, { onError: (_error, phase) => errors.push(phase) })
  expect(await chain.run("Go.")).toMatchObject({ status: "error", error: expect.stringContaining("The model is out.") })
  expect(errors).toEqual(["model"])
})

test.each([true, false])("a run whose model failed asks it again when it is resumed (stored: %s)", async (durable) => {
  let isOut = true
  const model = playedModel(({ messages }) => {
    if (messages.length > 1 && isOut) throw new Error("The model is out.")
    return messages.length > 1 ? { say: "It is 3." } : add(1, 2)
  })
  const { app, added } = await openChain(model)
  const chain = new ToolChain(app, "operator", model)
  const stored = durable ? app.chain("operator", { model, durable }) : chain
  const failed = { status: "error", error: expect.stringContaining("The model is out.") as string }
  expect(await stored.run("1 + 2?")).toMatchObject(failed)
  expect(await stored.resume()).toMatchObject(failed)
  isOut = false
  expect(await stored.resume()).toMatchObject({ status: "completed", content: "It is 3.", error: undefined })
  expect(added).toEqual([3])
  expect(await stored.resume()).toMatchObject({ status: "completed", content: "It is 3." })
})

test("a run that ended at its budget says so again when it is resumed", async () => {
  const model = modelOf(add(1, 2), { say: "Done." })
  const { app, chain } = await openChain(model, { maxTokens: 1 })
  const running = chain.run("1 + 2?")
  await until(async () => (await app.approvals.list()).length === 1, "it asks for more")
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "reject" }, "ann")
  const { error } = await running
  expect(error).toContain("is used up")
  expect(await chain.resume()).toMatchObject({ status: "limit", error })
})

test("the approval UI of a chain is asked, with S1's arguments, and its answers count", async () => {
  const model = modelOf({ calls: [{ name: "send" }] }, add(1, 2), { say: "ok" })
  const asked: unknown[] = []
  const { chain } = await openChain(model, {
    checkToolResults: true,
    approvals: {
      showToolExecutionApproval(toolName, _description, args, level) {
        asked.push([toolName, args, level])
        return Promise.resolve({ approved: false, rejectReason: "Not today." })
      },
      showToolResultApproval(toolName, args, result) {
        asked.push([toolName, args, result.result])
        return Promise.resolve({ approved: true })
      },
    },
  })
  const { toolCallHistory } = await chain.run("Send it, then add.")
  expect(asked).toEqual([
    ["send", {}, "moderate"],
    ["add", { a: 1, b: 2 }, { sum: 3 }],
  ])
  expect(toolCallHistory.map(({ text }) => text)).toEqual([expect.stringContaining("Not today."), '{"sum":3}'])
})

test.each([
  [true, ["write"]],
  [false, []],
])("with independent: %s a call with effects beside one that waits has run: %j", async (independent, ran) => {
  const model = modelOf({ calls: [{ name: "send" }, { name: "write" }] })
  const { app, chain } = await openChain(model, { tools: ["send", "write"], independent, waitMs: 0 })
  const made: string[] = []
  const permission = { level: "public" } as const
  app.registry.register(tool({ name: "write", effect: "write", permission, execute: () => void made.push("write") }))
  expect(await chain.run("Go.")).toMatchObject({ status: "waiting" })
  expect(made).toEqual(ran)
})

test("the model is told of an input that a person changed", async () => {
  const model = modelOf({ calls: [{ name: "send", input: { to: "bob" } }] }, { say: "ok" })
  const { app, chain } = await openChain(model)
  app.registry.register(
    defineTool({
      name: "send",
      version: "2.0.0",
      group: "mail",
      description: "Send.",
      effect: "communicate",
      input: z.object({ to: z.string() }),
      execute: ({ to }) => `sent to ${to}`,
    }),
  )
  const running = chain.run("Send it.")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [{ callId } = { callId: "" }] = await app.approvals.list()
  await app.approvals.answer(callId, { kind: "edit", input: { to: "ann" } }, "ada")
  await until(async () => (await app.approvals.list())[0]?.revision === 2, "the edited call waits")
  await app.approvals.answer(callId, { kind: "approve" }, "ada")
  await running
  expect(lastMessages(model).at(-1)).toMatchObject({
    content: [{ output: expect.stringMatching(/changed the input.*"ann".*sent to ann/s) }],
  })
})

test("a result can be passed on by its number", async () => {
  const model = modelOf(
    { calls: [{ name: "big" }] },
    { calls: [{ name: "length_of", input: { list: { $ref: "r1" } } }] },
    { calls: [{ name: "length_of", input: { list: { $ref: "r9" } } }] },
    { say: "500" },
  )
  const { chain } = await openChain(model)
  const { toolCallHistory } = await chain.run("How many?")
  expect(model.requests[1]!.messages.at(-1)).toMatchObject({ content: [{ output: expect.stringContaining('"r1"') }] })
  expect(toolCallHistory.map(({ text }) => text).slice(1)).toEqual(["500", expect.stringContaining("no result r9")])
})

test("a person sees the value that was passed on, and what did not run cannot be passed on", async () => {
  const model = modelOf(
    { calls: [{ name: "big" }] },
    { calls: [{ name: "mail", input: { text: { $ref: "r1" } } }] },
    { calls: [{ name: "mail", input: { text: { $ref: "r2" } } }] },
    { say: "ok" },
  )
  const { app, chain } = await openChain(model, { tools: ["big", "mail"], reflect: false })
  app.registry.register(
    defineTool({
      name: "mail",
      group: "mail",
      description: "Mail.",
      effect: "communicate",
      input: z.object({ text: z.unknown() }),
      execute: () => "mailed",
    }),
  )
  const running = chain.run("Mail it.")
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [item] = await app.approvals.list()
  expect(item!.input).toMatchObject({ text: { rows: expect.arrayContaining([0, 499]) as number[] } })
  await app.approvals.answer(item!.callId, { kind: "reject", reason: "No." }, "ada")
  const { toolCallHistory } = await running
  expect(toolCallHistory.at(-1)).toMatchObject({
    callId: undefined,
    text: expect.stringMatching(/r2 cannot be passed/),
  })
})

test("callbacks see messages, text, calls and answers, and messages can be replaced", async () => {
  const seen: string[] = []
  const model = modelOf({ say: "Hm.", ...add(1, 2) }, { say: "3" })
  const { chain } = await openChain(model, {
    onBeforeSendToLLM(messages) {
      seen.push(`send ${messages.length}`)
      return [...messages, { role: "user", content: "(extra)" }]
    },
    onLLMResponsePart: ({ type }) => seen.push(`part ${type}`),
    onLLMResponseUpdate: (text) => seen.push(`text ${text}`),
    onLLMResponseComplete: ({ calls }) => seen.push(`answer with ${calls.length} calls`),
    onToolCallStart: (name) => seen.push(`start ${name}`),
    onToolCallComplete: ({ toolName, status }) => seen.push(`end ${toolName} ${status}`),
  })
  await chain.run("1 + 2?")
  expect(seen).toEqual([
    "send 1",
    "part text",
    "text Hm.",
    "part tool-call",
    "part usage",
    "part finish",
    "answer with 1 calls",
    "start add",
    "end add success",
    "send 3",
    "part text",
    "text 3",
    "part usage",
    "part finish",
    "answer with 0 calls",
  ])
  expect(lastMessages(model).at(-1)).toEqual({ role: "user", content: "(extra)" })
})

test("the calls of one answer run at the same time", async () => {
  const { app, chain } = await openChain(
    modelOf({ calls: ["first", "second"].map((name) => ({ name, input: {} })) }, { say: "Both." }),
    { tools: ["first", "second"] },
  )
  const other = deferred()
  // The first ends only once the second has begun: one after the other they would never end.
  app.registry.register(tool({ name: "first", execute: () => other.promise.then(() => 1) }))
  app.registry.register(tool({ name: "second", execute: () => (other.resolve(), 2) }))
  const { status, toolCallHistory } = await chain.run("Go.")
  expect(status).toBe("completed")
  expect(toolCallHistory).toMatchObject([
    { toolName: "first", status: "success" },
    { toolName: "second", status: "success" },
  ])
})

test("a tool's wish to have its result released counts without checkToolResults and against it, and only a setting lifts it", async () => {
  const permission = { requireResultApproval: "always" } as const
  const secret = tool({ name: "secret", effect: "read", permission, execute: () => "s3cret" })
  const asked = async (config: Config, options: ToolChainOptions) => {
    const app = await openTestApp(config)
    app.registry.register(secret)
    const model = modelOf({ calls: [{ name: "secret", input: {} }] }, { say: "Done." })
    const chain = new ToolChain(app, "operator", model, { tools: ["secret"], waitMs: 0, ...options })
    const { status } = await chain.run("Go.")
    const [item] = await app.approvals.list()
    return { status, held: item?.kind === "result" }
  }
  for (const options of [{}, { checkToolResults: false }, { checkToolResults: true }])
    expect(await asked({}, options)).toEqual({ status: "waiting", held: true })
  const lifted = { tools: { permissions: { secret: { requireResultApproval: "never" } } } } as const
  expect(await asked(lifted, {})).toEqual({ status: "completed", held: false })
  expect(await asked(lifted, { checkToolResults: true })).toEqual({ status: "waiting", held: true })
})

test("checkToolResults holds every result until a person releases it", async () => {
  const { app, chain } = await openChain(modelOf(add(1, 2), { say: "hidden" }), { checkToolResults: true })
  const running = chain.run("1 + 2?")
  await until(async () => (await app.approvals.list()).length === 1, "the result is held")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ kind: "result", tool: "add" })
  await app.approvals.answer(item!.callId, { kind: "withhold" }, "ann")
  const { toolCallHistory } = await running
  expect(toolCallHistory).toMatchObject([{ code: "result_withheld", text: expect.not.stringContaining("3") }])
})

test("a chain that may not wait returns with what waits, and goes on when it is resumed", async () => {
  const model = modelOf({ calls: [{ name: "send" }] }, { say: "Sent." })
  const { app, chain } = await openChain(model, { waitMs: 20 })
  const first = await chain.run("Send it.")
  expect(first).toMatchObject({ status: "waiting", waiting: [{ state: "waiting" }] })
  await app.approvals.answer(first.waiting[0]!.callId, { kind: "approve" }, "ann")
  expect(await chain.resume()).toMatchObject({ status: "completed", content: "Sent." })
})

test("calls that a tool makes are calls of the run: the steps of pipelines over the limit are refused", async () => {
  const steps = [1, 2, 3, 4].map((a) => ({ id: `s${a}`, tool: "add", input: { a, b: 1 } }))
  const inner = { id: "inner", tool: "run_pipeline", input: { steps } }
  const model = modelOf({ calls: [{ name: "run_pipeline", input: { steps: [inner] } }] }, add(9, 9), {
    say: "Two are left.",
  })
  const { app, chain, added } = await openChain(model, { tools: ["add", "run_pipeline"], maxCalls: 4, reflect: false })
  const result = await chain.run("Add.")
  expect(result).toMatchObject({ status: "limit", content: "Two are left.", stats: { calls: 4 } })
  expect(added).toHaveLength(2)
  expect(result.toolCallHistory[0]!.text).toContain("as many calls as it may")
  expect(result.toolCallHistory[1]).toMatchObject({ toolName: "add", status: "not_executed" })
  const codes = (await app.audit.list({ tool: "add" })).map(({ code, status }) => code ?? status)
  expect(codes.toSorted()).toEqual(["permission_denied", "permission_denied", "success", "success"])
})

const picture = { mimeType: "image/png", data: "QUJD".repeat(5000) }

test("a model that sees images is shown the newest two; one that does not gets their texts", async () => {
  const look = (place: number): PlayedTurn => ({ calls: [{ name: "look", input: {}, id: `look-${place}` }] })
  for (const seesImages of [true, false]) {
    const model = playedModel((_request, round) => (round < 3 ? look(round) : { say: "Seen." }), { seesImages })
    const { app, chain } = await openChain(model, { tools: ["look"], reflect: false })
    let shots = 0
    app.registry.register(tool({ name: "look", effect: "read", execute: () => ({ shot: ++shots, image: picture }) }))
    await chain.run("What do you see?")
    const results = lastMessages(model).flatMap(({ role, content }) => (role === "tool" ? content : []))
    const images = results.map((part) => "image" in part && part.image)
    expect(images).toEqual(seesImages ? [false, picture, picture] : [false, false, false])
    expect(JSON.stringify(results.map((part) => "output" in part && part.output))).not.toContain(picture.data)
  }
})

test("an image in an MCP result is shown too, and the texts come as texts", async () => {
  const model = playedModel((_request, round) => (round === 0 ? { calls: [{ name: "shot" }] } : { say: "Seen." }), {
    seesImages: true,
  })
  const { app, chain } = await openChain(model, { tools: ["shot"] })
  const content = [
    { type: "text", text: "Page one,\ntwo lines" },
    { type: "image", ...picture },
  ]
  app.registry.register(tool({ name: "shot", effect: "read", execute: () => ({ content }) }))
  await chain.run("Look.")
  expect(lastMessages(model).at(-1)).toMatchObject({
    content: [{ output: "Page one,\ntwo lines\n[image: image/png]", image: picture }],
  })
})

test("a result that a person withheld shows the model no image", async () => {
  const model = playedModel((_request, round) => (round === 0 ? { calls: [{ name: "shot" }] } : { say: "No." }), {
    seesImages: true,
  })
  const { app, chain } = await openChain(model, {
    tools: ["shot"],
    checkToolResults: true,
    approvals: { showToolResultApproval: async () => ({ approved: false, reason: "Private." }) },
  })
  app.registry.register(tool({ name: "shot", effect: "read", execute: () => ({ image: picture }) }))
  await chain.run("Look.")
  expect(JSON.stringify(model.requests.at(-1))).not.toContain(picture.data)
})

test("what a model has said when it is stopped stays in the conversation, and its calls are not made", async () => {
  const stopped = deferred()
  const model = playedModel(({ messages }) =>
    messages.length > 1 ? { say: "Yes." } : new Promise<PlayedTurn>(() => {}),
  )
  const { stream } = model
  const talking = {
    ...model,
    async *stream(...args: Parameters<typeof stream>): ReturnType<typeof stream> {
      if (args[0].messages.length === 1) {
        yield { type: "text" as const, block: "1", text: "The first of three facts is" }
        yield { type: "tool-call" as const, id: "1", name: "send", input: "{}" }
        stopped.resolve()
      }
      yield* stream(...args)
    },
  }
  const { app, added } = await openChain(model)
  const chain = new ToolChain(app, "operator", talking)
  const running = chain.run("Three facts?")
  await stopped.promise
  chain.stop()
  expect(await running).toMatchObject({
    status: "aborted",
    content: "The first of three facts is",
    toolCallHistory: [],
  })
  expect(await chain.run("Is that all?")).toMatchObject({ content: "Yes." })
  expect(lastMessages(model)).toMatchObject([
    { role: "user", content: "Three facts?" },
    { role: "assistant", content: [{ type: "text", text: "The first of three facts is" }] },
    { role: "user", content: "Is that all?" },
  ])
  expect([added, await app.approvals.list()]).toEqual([[], []])
})

test.each([
  ["length", "maxOutputTokens"],
  ["content-filter", "content filter"],
] as const)(
  "an answer that the provider cut off (%s) before its first word is an error, and can be asked for again",
  async (finish, why) => {
    const { chain } = await openChain(modelOf({ finish }, { say: "Here it is." }))
    const error = expect.stringContaining(why) as string
    expect(await chain.run("Go.")).toMatchObject({ status: "error", error, finishReason: finish })
    expect(await chain.resume()).toMatchObject({ status: "completed", content: "Here it is.", finishReason: "stop" })
  },
)

test("a text that the provider cut off is an answer that says so", async () => {
  const { chain } = await openChain(modelOf({ say: "The three facts are", finish: "length" }))
  expect(await chain.run("Go.")).toMatchObject({ status: "completed", finishReason: "length" })
})

test("calls that cannot be made do not use up the limit of calls", async () => {
  const malformed: PlayedTurn = { calls: [{ name: "add", input: "{" }] }
  const { chain, added } = await openChain(modelOf(malformed, add(1, 2), { say: "3" }), { maxCalls: 1 })
  expect(await chain.run("1 + 2?")).toMatchObject({ status: "completed", content: "3" })
  expect(added).toEqual([3])
})

test("a stop that comes after the end stops nothing: what is said then is read", async () => {
  const model = modelOf({ say: "Hello." }, { say: "I am here." })
  const { app } = await openChain(model)
  const chain = app.chain("operator", { model, durable: true })
  await chain.run("Hi.")
  await app.conversations.stop(chain.id, "ann")
  await chain.steer("Are you there?")
  expect(await chain.resume()).toMatchObject({ status: "completed", content: "I am here." })
})
