import { expect, test } from "vitest"
import { dataFolder, openTestApp, tool, until } from "../../testing/test-app.ts"
import type { ModelPart } from "../models/port.ts"
import { playedModel, type PlayedTurn } from "../testing/played-model.ts"
import type { Config } from "../../config/schema.ts"

const price = { input: 10_000, output: 0 }

/** An app whose model uses 100 tokens, which cost 1, for each answer, and calls `count` so often. */
async function openApp(calls: number, config: Config = {}) {
  const answer = (round: number): PlayedTurn =>
    round < calls ? { calls: [{ name: "count", input: { round } }] } : { say: "Done." }
  const model = playedModel((_request, round) => ({ usage: { inputTokens: 100, outputTokens: 0 }, ...answer(round) }), {
    price,
  })
  const app = await openTestApp(config, { models: { played: model } })
  app.registry.register(tool({ name: "count", execute: () => 1 }))
  return { app, model, chain: app.chain.bind(app, "operator") }
}

const tools = ["count"]

test.each([
  ["tokens", { maxTokens: 250 }],
  ["money", { maxCost: 2.5 }],
  ["calls", { maxTreeCalls: 3 }],
  ["agent's tokens", { perAgent: { maxTokens: 250 } }],
  ["agent's money", { perAgent: { maxCost: 2.5 } }],
  ["agent's calls", { perAgent: { maxCalls: 3 } }],
])(
  "a conversation that has used up its %s waits for a person, and goes on with as much again",
  async (_what, limit) => {
    const { app, model, chain } = await openApp(3)
    const running = chain({ tools, ...limit, durable: true }).run("Go.")
    await until(async () => (await app.approvals.list()).length === 1, "it asks")
    expect(model.requests).toHaveLength(3)
    const [item] = await app.approvals.list()
    expect(item).toMatchObject({ tool: "agents:budget", agentId: "operator", remember: [] })
    expect(item!.preview).toMatch(/budget is used up: \$?\d.* more if you approve/)
    await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
    expect(await running).toMatchObject({ status: "completed", content: "Done." })
  },
)

test("where people check every result, they are asked once for a larger budget, and not again about their own answer", async () => {
  const { app, chain } = await openApp(3)
  let isOver = false
  const running = chain({ tools, maxTokens: 250, checkToolResults: true, durable: true })
    .run("Go.")
    .finally(() => (isOver = true))
  const asked: string[] = []
  await until(async () => {
    for (const { callId, tool, kind } of await app.approvals.list()) {
      if (tool === "agents:budget") asked.push(kind)
      await app.approvals.answer(callId, { kind: kind === "result" ? "release" : "approve" }, "ann")
    }
    return isOver
  }, "the run is over")
  expect(await running).toMatchObject({ status: "completed" })
  expect(asked).toEqual(["call"])
})

test("whoever approves may change how much more there is", async () => {
  const { app, chain } = await openApp(9)
  const running = chain({ tools, maxTokens: 100 }).run("Go.")
  await until(async () => (await app.approvals.list()).length === 1, "it asks")
  const [item] = await app.approvals.list()
  const input = { ...(item!.input as object), moreTokens: 200 }
  await app.approvals.answer(item!.callId, { kind: "edit", input }, "ann")
  await until(async () => (await app.approvals.show(item!.callId))?.editedBy === "ann", "the edit is checked")
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  await until(async () => (await app.approvals.list()).some(({ callId }) => callId !== item!.callId), "it asks again")
  const [second] = await app.approvals.list()
  expect(second!.input).toMatchObject({ maxTokens: 300, moreTokens: 100 })
  await app.approvals.answer(second!.callId, { kind: "reject" }, "ann")
  expect(await running).toMatchObject({ status: "limit", error: expect.stringContaining("300 tokens") })
})

test("after a no the run ends without another answer, and the next message asks again", async () => {
  const { app, model, chain } = await openApp(9, { agents: { maxTokens: 100 } })
  const talk = chain({ tools, durable: true })
  const refuseNext = async () => {
    await until(async () => (await app.approvals.list()).length === 1, "it asks")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "reject", reason: "Enough." }, "ann")
  }
  const [first] = await Promise.all([talk.run("Go."), refuseNext()])
  expect(first).toMatchObject({ status: "limit", toolCallHistory: [{ toolName: "count" }] })
  expect(model.requests).toHaveLength(1)
  const [second] = await Promise.all([talk.run("And now?"), refuseNext()])
  expect(second).toMatchObject({ status: "limit" })
  expect(model.requests).toHaveLength(1)
})

test("the question waits over a restart and is asked once", async () => {
  const dir = await dataFolder()
  const first = await openApp(3, { data: { dir } })
  const talk = first.chain({ tools, maxTokens: 100, durable: true, waitMs: 0 })
  expect(await talk.run("Go.")).toMatchObject({ status: "waiting" })
  await first.app.close()
  const second = await openApp(0, { data: { dir } })
  expect(await second.chain({ tools, maxTokens: 100, id: talk.id, waitMs: 0 }).resume()).toMatchObject({
    status: "waiting",
  })
  const items = await second.app.approvals.list()
  expect(items).toHaveLength(1)
  await second.app.approvals.answer(items[0]!.callId, { kind: "approve" }, "ann")
  const resumed = await second.chain({ tools, maxTokens: 100, id: talk.id }).resume()
  expect(resumed).toMatchObject({ status: "completed", content: "Done." })
})

test("conversations that another one began share its budget, and people are asked once for all of them", async () => {
  const { app, model, chain } = await openApp(0)
  const top = chain({ tools, maxTokens: 350, durable: true })
  await top.run("Begin.")
  const children = [1, 2].map(() => chain({ tools, maxTokens: 350, parent: top.id }))
  await Promise.all(children.map((child) => child.run("Help.")))
  expect(await app.approvals.list()).toEqual([])
  const grandchild = chain({ tools, maxTokens: 350, parent: children[0]!.id })
  await grandchild.run("Help too.")
  expect(model.requests).toHaveLength(4)
  const running = [...children, grandchild].map((each) => each.run("More."))
  await until(async () => (await app.approvals.list()).length > 0, "it asks")
  const items = await app.approvals.list()
  expect(items).toHaveLength(1)
  await app.approvals.answer(items[0]!.callId, { kind: "approve" }, "ann")
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ status: "completed" })
})

test("a role without any group is asked for its budget too", async () => {
  const org = { roles: [{ name: "thinker", toolGroups: [] }], agents: [{ id: "tim", role: "thinker" }] }
  const { app } = await openApp(0, { org, tools: { enabled: [] } })
  const talk = app.chain("tim", { maxTokens: 50, durable: true, waitMs: 0 })
  await talk.run("Think.")
  expect(await talk.run("Think again.")).toMatchObject({ status: "waiting" })
  expect(await app.approvals.list()).toMatchObject([{ tool: "agents:budget", agentId: "tim" }])
  expect(app.mcpTools("tim")).toEqual([])
})

test("an agent's own budget counts its own conversation, and its answer gives more there only", async () => {
  const { app, model, chain } = await openApp(0)
  const perAgent = { maxTokens: 150 }
  const top = chain({ tools, perAgent, durable: true })
  await top.run("Begin.")
  const child = chain({ tools, perAgent, parent: top.id })
  for (const text of ["Help.", "More."]) await child.run(text)
  expect(await app.approvals.list()).toEqual([])
  const running = child.run("And more.")
  await until(async () => (await app.approvals.list()).length === 1, "it asks")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({
    input: { conversation: child.id, agent: "operator", maxTokens: 150, moreTokens: 150 },
    preview: expect.stringContaining(
      "Agent operator's own budget is used up: 150 tokens (150 tokens more if you approve).",
    ),
  })
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await running).toMatchObject({ status: "completed" })
  await top.run("More.")
  expect(model.requests).toHaveLength(5)
  const refused = top.run("And more.")
  await until(async () => (await app.approvals.list()).length === 1, "it asks for the other one")
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "reject" }, "ann")
  expect(await refused).toMatchObject({
    status: "limit",
    error: "The budget of agent operator is used up (agents.perAgent: 150 tokens), and nobody gave it more.",
  })
})

test.each([
  ["agents.maxTokens", { maxTokens: 100 }],
  ["agents.maxCost", { maxCost: 1 }],
  ["agents.maxTreeCalls", { maxTreeCalls: 1 }],
  ["agents.perAgent.maxTokens", { perAgent: { maxTokens: 100 } }],
  ["agents.perAgent.maxCost", { perAgent: { maxCost: 1 } }],
  ["agents.perAgent.maxCalls", { perAgent: { maxCalls: 1 } }],
])(
  "%s of the configuration holds for agents that a message woke, and what they used is in the overview",
  async (_key, agents) => {
    const { app } = await openApp(3, { agents })
    const running = app.society.start()
    await app.society.message({ to: "operator", payload: "Go.", by: "ada" })
    await running.idle()
    expect(await app.approvals.list()).toMatchObject([{ tool: "agents:budget", agentId: "operator", userId: "ada" }])
    const used = (await app.society.overview()).find(({ agentId }) => agentId === "operator")
    expect(used).toMatchObject({
      state: "waiting",
      spent: { rounds: 1, calls: 1, inputTokens: 100, outputTokens: 0, cost: 1 },
    })
  },
)

test("what a person gives counts from what is used, also after one request that was larger than the budget", async () => {
  const { app, chain } = await openApp(1)
  const running = chain({ tools, maxTokens: 30 }).run("Go.")
  await until(async () => (await app.approvals.list()).length === 1, "it asks")
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "ann")
  expect(await running).toMatchObject({ status: "completed", content: "Done." })
})

test("an answer that was stopped counts too", async () => {
  const { app, model } = await openApp(0)
  const talking = {
    ...model,
    async *stream(): AsyncIterable<ModelPart> {
      yield { type: "text", block: "1", text: "The first of very many facts is that" }
      await new Promise(() => {})
    },
  }
  const chain = app.chain("operator", { model: talking, onLLMResponsePart: () => chain.stop() })
  const { status, stats } = await chain.run("Tell me everything.")
  expect(status).toBe("aborted")
  expect([stats.inputTokens > 0, stats.outputTokens > 0, stats.cost > 0]).toEqual([true, true, true])
})
