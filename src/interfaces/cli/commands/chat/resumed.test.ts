import { expect, test } from "vitest"
import { modelOf, playedModel } from "../../../../agents/testing/played-model.ts"
import type { ToolChain } from "../../../../agents/chain/tool-chain.ts"
import { plainStyle } from "../../../../lib/terminal-style.ts"
import { openTestApp, tool, until } from "../../../../testing/test-app.ts"
import type { CliContext } from "../../common/context.ts"
import { conversationOf } from "./choose-conversation.ts"
import { resumedRows } from "./resumed.ts"

const rowsOf = async (app: Awaited<ReturnType<typeof openTestApp>>, { id }: ToolChain, columns = 80) =>
  resumedRows(app, (await app.conversations.get(id))!, plainStyle, columns)

test("a resumed conversation shows what was said last, also while the agent worked, and what happened since", async () => {
  const model = modelOf({ say: "Before." }, { say: "I look.", calls: [{ name: "look" }] }, { say: "I see." })
  const app = await openTestApp({}, { models: { model } })
  const chain = app.chain("operator", { durable: true })
  app.registry.register(tool({ name: "look", effect: "read", execute: () => chain.steer("And hurry.") }))
  await chain.run("Hello.")
  await chain.run("Look.\nWell.")
  expect(await rowsOf(app, chain)).toEqual([
    expect.stringMatching(/^Conversation \S+, used 1 second ago\.$/),
    "",
    "› Look.",
    "  Well.",
    "",
    "I look.",
    "",
    "› And hurry.",
    "",
    expect.stringMatching(/^● look … \d+ ms, \d+ characters$/),
    "I see.",
  ])
})

test("a resumed conversation says which call was cancelled, and that the run was stopped", async () => {
  const app = await openTestApp({}, { models: { model: modelOf({ say: "I send.", calls: [{ name: "send" }] }) } })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => 1 }))
  const chain = app.chain("operator", { durable: true })
  const run = chain.run("Send it.")
  await until(async () => (await app.approvals.list()).length > 0, "it waits")
  chain.stop()
  await run
  expect((await rowsOf(app, chain)).slice(4)).toEqual([
    "I send.",
    "⊘ send: The call was cancelled before it ran.",
    "",
    "It was stopped.",
  ])
})

test("a resumed conversation shows why the model failed, and how to ask it again", async () => {
  const failing = playedModel(() => {
    throw new Error("no key")
  })
  const app = await openTestApp({}, { models: { model: failing } })
  const chain = app.chain("operator", { durable: true })
  await chain.run("Hello.")
  expect((await rowsOf(app, chain)).slice(-2)).toEqual([
    expect.stringContaining("no key"),
    "/retry asks the model again.",
  ])
})

test("without an id, the conversation is the person's own, whichever agent it was with", async () => {
  const app = await openTestApp({}, { models: { model: playedModel(() => ({ say: "Hi." })) } })
  const own = app.chain("root", { durable: true, userId: "ada" })
  await own.run("Hello.")
  await app.chain("operator", { durable: true, userId: "bob" }).run("Hello.")
  const found = (flags: object) =>
    conversationOf({ flags } as CliContext, app, { resume: true, by: "ada", leaving: new AbortController().signal })
  expect(await found({})).toMatchObject({ id: own.id, agentId: "root" })
  await expect(found({ agent: "operator" })).rejects.toThrow("You have no conversation with agent operator yet.")
})
