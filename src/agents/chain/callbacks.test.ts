import { expect, test } from "vitest"
import { z } from "zod"
import { deferred, openTestApp, tool } from "../../testing/test-app.ts"
import { modelOf, playedModel } from "../testing/played-model.ts"
import { ModelError } from "../models/model-error.ts"
import type { ChainOptions } from "./open-chains.ts"

/** An app with a tool that works, and tools that fail in several ways. */
async function openApp(model: ReturnType<typeof playedModel>) {
  const app = await openTestApp({}, { models: { played: model } })
  app.registry.registerMany([
    tool({ name: "works", execute: () => "done" }),
    tool({
      name: "breaks",
      execute() {
        throw new Error("The disk is on fire.")
      },
    }),
    tool({ name: "lies", output: z.object({ sum: z.number() }), execute: () => ({ sum: "three" }) as never }),
    tool({ name: "asks", permission: { level: "sensitive" }, execute: () => "never" }),
  ])
  return app
}

const fails = (): never => {
  throw new Error("My own mistake.")
}

test.each<[string, Partial<ChainOptions>]>([
  ["onToolCallStart", { onToolCallStart: fails }],
  ["onToolCallComplete", { onToolCallComplete: fails }],
  ["onToolCallRefused", { onToolCallRefused: fails }],
  ["onLLMResponsePart", { onLLMResponsePart: fails }],
  ["onLLMResponseUpdate", { onLLMResponseUpdate: fails }],
  ["onLLMResponseComplete", { onLLMResponseComplete: fails }],
  ["an async onToolCallStart", { onToolCallStart: (async () => fails()) as () => void }],
])("a run goes on when %s throws, and onError is told", async (_name, callback) => {
  const calls = [{ name: "works" }, { name: "works" }, { name: "works", input: "{" }]
  const model = modelOf({ say: "I look.", calls }, { say: "Done." })
  const app = await openApp(model)
  const errors: unknown[] = []
  const onError: ChainOptions["onError"] = (error, phase) => errors.push([phase, (error as Error).message])
  const result = await app.chain("operator", { ...callback, onError }).run("Go.")
  expect(result).toMatchObject({ status: "completed", content: "Done." })
  expect(result.toolCallHistory).toMatchObject([
    { status: "success" },
    { status: "success" },
    { status: "not_executed" },
  ])
  expect(errors[0]).toEqual(["callback", "My own mistake."])
})

test("an onError that throws changes nothing", async () => {
  const app = await openApp(playedModel(() => fails()))
  expect(await app.chain("operator", { onError: fails }).run("Go.")).toMatchObject({ status: "error" })
})

test("messages that onBeforeSendToLLM could not look at are not sent", async () => {
  const model = modelOf({ say: "Hello." })
  const app = await openApp(model)
  expect(await app.chain("operator", { onBeforeSendToLLM: fails }).run("Go.")).toMatchObject({
    status: "error",
    error: "My own mistake.",
  })
  expect(model.requests).toEqual([])
})

test("onError is told of tools that failed unexpectedly, and not of what was refused or misspelled", async () => {
  const calls = ["works", "breaks", "lies", "asks", "nothing"].map((name) => ({ name }))
  const app = await openApp(modelOf({ calls }, { say: "Done." }))
  const errors: unknown[] = []
  await app
    .chain("operator", {
      approvals: { showToolExecutionApproval: async () => ({ approved: false }) },
      onError: (error, phase) => errors.push([phase, (error as { toolName?: string }).toolName]),
    })
    .run("Go.")
  expect(errors.toSorted()).toEqual([
    ["tool", "breaks"],
    ["tool", "lies"],
  ])
})

test.each([
  ["in memory", false],
  ["stored", true],
])(
  "a second run of a chain at the same time is refused, and the first is not disturbed (%s)",
  async (_where, durable) => {
    const asked = deferred()
    const go = deferred()
    const model = playedModel(async () => {
      asked.resolve()
      await go.promise
      return { say: "First." }
    })
    const app = await openApp(model)
    const chain = app.chain("operator", { durable })
    const first = chain.run("One.")
    await asked.promise
    await expect(chain.run("Two.")).rejects.toThrow("This chain is at work. Wait until its run has ended")
    go.resolve()
    expect(await first).toMatchObject({ status: "completed", content: "First." })
    expect(await chain.run("Three.")).toMatchObject({ status: "completed" })
    expect(model.requests.at(-1)!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
  },
)

test("a run that was refused leaves stop() to the one at work", async () => {
  const asked = deferred()
  const app = await openApp(
    playedModel(() => {
      asked.resolve()
      return new Promise(() => {})
    }),
  )
  const chain = app.chain("operator")
  const first = chain.run("One.")
  await asked.promise
  await expect(chain.run("Two.")).rejects.toThrow("is at work")
  chain.stop()
  expect(await first).toMatchObject({ status: "aborted" })
})

test("a call that is not made is reported once, with what the model is told", async () => {
  const app = await openApp(modelOf({ calls: [{ name: "works", input: "{" }, { name: "works" }] }, { say: "Done." }))
  const seen: unknown[] = []
  const { toolCallHistory } = await app
    .chain("operator", {
      onToolCallStart: (name) => seen.push(["start", name]),
      onToolCallRefused: (name, _args, sentence) => seen.push(["refused", name, sentence]),
    })
    .run("Go.")
  expect(seen).toEqual([
    ["start", "works"],
    ["refused", "works", toolCallHistory[0]!.text],
  ])
  expect(toolCallHistory[0]!.text).toMatch(/^NOT EXECUTED\. The arguments are not valid JSON/)
})

test("a model that fails for now is asked again, and onLLMRetry says when", async () => {
  const retries: unknown[] = []
  const model = playedModel((_request, round) => {
    if (round === 0) throw new ModelError("rate_limited", "Too many requests.", 5)
    return { say: "Hello." }
  })
  const app = await openApp(model)
  const onLLMRetry = (error: Error, waitMs: number) => retries.push([error.message, waitMs])
  expect(await app.chain("operator", { onLLMRetry }).run("Hi.")).toMatchObject({ content: "Hello." })
  expect(retries).toEqual([["Too many requests.", 5]])
})

test.each([
  ["is not among the arguments that a program sees", true, "look", {}],
  ["is an argument where it is not asked for", false, "look", { _intent: "Because." }],
  ["is an argument of a tool that has such a parameter itself", true, "own", { _intent: "Because." }],
])("the reason that a model gives %s", async (_, askIntent, name, args) => {
  const app = await openTestApp({ tools: { askIntent } })
  app.registry.registerMany([
    tool({ name: "look", input: z.looseObject({}) as never, execute: () => "seen" }),
    tool({ name: "own", input: z.object({ _intent: z.string() }) as never, execute: () => "seen" }),
  ])
  const seen: unknown[] = []
  const model = modelOf({ calls: [{ name, input: { _intent: "Because." } }] }, { say: "Done." })
  const chain = app.chain("operator", { model, onToolCallStart: (_name, given) => seen.push(given) })
  const { toolCallHistory } = await chain.run("Look.")
  expect([seen, toolCallHistory.map((made) => made.args)]).toEqual([[args], [args]])
})

test("nor is it among those of a call that is refused", async () => {
  const app = await openTestApp({ tools: { askIntent: true } })
  app.registry.register(tool({ name: "look", execute: () => "seen" }))
  const seen: unknown[] = []
  const look = { name: "look", input: { _intent: "Because." } }
  const model = modelOf({ calls: [look, look] }, { say: "Done." })
  const onToolCallRefused = (_name: string, given: unknown) => seen.push(given)
  await app.chain("operator", { model, maxCalls: 1, onToolCallRefused }).run("Look.")
  expect(seen).toEqual([{}])
})
