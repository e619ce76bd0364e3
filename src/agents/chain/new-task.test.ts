import { expect, test } from "vitest"
import { dataFolder, openTestApp, tool } from "../../testing/test-app.ts"
import { modelOf, type PlayedTurn } from "../testing/played-model.ts"
import { expectWellFormed } from "../testing/well-formed.ts"
import { ToolChain } from "./tool-chain.ts"

const names = ["look", "send", "write"]
const allAtOnce: PlayedTurn = { calls: names.map((name) => ({ name })) }
const notMade = "NOT EXECUTED. The person gave a new task."

/** An app whose model calls a tool that reads, one that asks and one that writes, then says that X is done. */
async function open(dir?: string) {
  const ran: string[] = []
  const model = modelOf(...(dir === undefined ? [allAtOnce] : []), { say: "X is done." })
  const rules = [{ allow: "write", because: "the test" }]
  const folder = dir ?? (await dataFolder())
  const app = await openTestApp({ data: { dir: folder }, rules }, { models: { played: model } })
  for (const [name, effect] of [
    ["look", "read"],
    ["send", "communicate"],
    ["write", "write"],
  ] as const)
    app.registry.register(
      tool({
        name,
        effect,
        execute() {
          ran.push(name)
          return `${name} ran`
        },
      }),
    )
  return { app, model, ran, folder }
}

test.each([
  ["stored", { durable: true }],
  ["in memory", { durable: false }],
])("a new task takes the place of calls that wait (%s); what has run keeps its result", async (_where, durable) => {
  const { app, model, ran } = await open()
  const chain = app.chain("operator", { ...durable, tools: names, waitMs: 0 })
  expect(await chain.run("Send it.")).toMatchObject({ status: "waiting" })
  const result = await chain.run("Do X instead.")
  expect(result).toMatchObject({ status: "completed", content: "X is done.", stats: { rounds: 2 } })
  const { messages } = model.requests.at(-1)!
  expectWellFormed(messages)
  expect(messages.at(-1)).toEqual({ role: "user", content: "Do X instead." })
  expect(result.toolCallHistory.map(({ text }) => text)).toEqual(["look ran", notMade, notMade])
  expect(await app.approvals.list()).toEqual([])
  expect(ran).toEqual(["look"])
})

test("a new task in another process takes their place too, also of a call that was approved meanwhile", async () => {
  const first = await open()
  const { id } = await first.app.chain("operator", { durable: true, tools: names, waitMs: 0 }).run("Send it.")
  await first.app.close()
  const second = await open(first.folder)
  const [item] = await second.app.approvals.list()
  await second.app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  const result = await second.app.chain("operator", { id }).run("Do X instead.")
  expect(result.toolCallHistory.map(({ text }) => text)).toEqual(["look ran", notMade, notMade])
  expectWellFormed(second.model.requests.at(-1)!.messages)
  expect([...first.ran, ...second.ran]).toEqual(["look"])
})

test("a result that was released meanwhile is kept, and one that is still held is not shown", async () => {
  const { app, model } = await open()
  const options = { durable: true, tools: names, waitMs: 0, checkToolResults: true, independent: true }
  const chain = app.chain("operator", options)
  await chain.run("Send it.")
  const item = (await app.approvals.list()).find(({ tool }) => tool === "look")!
  await app.approvals.answer(item.callId, { kind: "release" }, "ann")
  const { toolCallHistory } = await chain.run("Do X instead.")
  expect(toolCallHistory.map(({ text }) => text)).toEqual([
    "look ran",
    notMade,
    "Error: The person gave a new task. The tool had run; its result was not released.",
  ])
  expectWellFormed(model.requests.at(-1)!.messages)
})

test("a stored run that is stopped while it waits keeps the results of what has run", async () => {
  const { app } = await open()
  const { id } = await app.chain("operator", { durable: true, tools: names, waitMs: 0 }).run("Send it.")
  await app.conversations.stop(id, "ann")
  const result = await app.chain("operator", { id }).resume()
  const stopped = "NOT EXECUTED. The run was stopped."
  expect(result).toMatchObject({ status: "aborted" })
  expect(result.toolCallHistory.map(({ text }) => text)).toEqual(["look ran", stopped, stopped])
  expect(await app.approvals.list()).toEqual([])
})

test("a chain in memory that is resumed makes no call twice", async () => {
  const { app, ran } = await open()
  const chain = app.chain("operator", { tools: names, waitMs: 0, independent: true })
  expect(await chain.run("Send it.")).toMatchObject({ status: "waiting" })
  expect(ran.toSorted()).toEqual(["look", "write"])
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  const { toolCallHistory } = await chain.resume()
  expect(toolCallHistory.map(({ text }) => text)).toEqual(["look ran", "send ran", "write ran"])
  expect(ran.toSorted()).toEqual(["look", "send", "write"])
})

test("a chain made by hand that gets a new task ends what waits, too", async () => {
  const { app, model } = await open()
  const chain = new ToolChain(app, "operator", model, { tools: names, waitMs: 0 })
  expect(await chain.run("Send it.")).toMatchObject({ status: "waiting" })
  expect(await chain.run("Do X instead.")).toMatchObject({ status: "completed", content: "X is done." })
  expect(await app.approvals.list()).toEqual([])
})

test("in memory, a call that was refused while another waits is not asked again, and what only waited is not reported", async () => {
  const { app } = await open()
  app.registry.register(tool({ name: "post", effect: "communicate", execute: () => "posted" }))
  const model = modelOf({ calls: ["send", "post", "write"].map((name) => ({ name })) }, { say: "Done." })
  const completed: unknown[] = []
  const options = { model, waitMs: 50 }
  const chain = app.chain("operator", { ...options, onToolCallComplete: ({ code }) => completed.push(code) })
  expect(await chain.run("Send both.")).toMatchObject({ status: "waiting" })
  expect(completed).toEqual([])
  const [one, other] = await app.approvals.list()
  await app.approvals.answer(one!.callId, { kind: "reject" }, "ann")
  expect(await chain.resume()).toMatchObject({ status: "waiting" })
  expect((await app.approvals.list()).map(({ callId }) => callId)).toEqual([other!.callId])
  await app.approvals.answer(other!.callId, { kind: "approve" }, "ann")
  expect(await chain.resume()).toMatchObject({ status: "completed" })
  expect(completed).toEqual(["approval_rejected", undefined, undefined])
})

test.each(["send send send", "send look post post send"])(
  "equal calls of one answer end once people have answered, without time to wait: %s",
  async (calls) => {
    const { app } = await open()
    app.registry.register(tool({ name: "post", effect: "communicate", execute: () => "posted" }))
    const model = modelOf({ calls: calls.split(" ").map((name) => ({ name })) }, { say: "Done." })
    const chain = app.chain("operator", { model, waitMs: 0 })
    let result = await chain.run("Go.")
    for (let round = 0; result.status === "waiting" && round < 10; round++) {
      for (const { callId } of await app.approvals.list())
        await app.approvals.answer(callId, { kind: "approve" }, "ann")
      result = await chain.resume()
    }
    expect(result).toMatchObject({ status: "completed", content: "Done." })
    expect(await app.approvals.list()).toEqual([])
  },
)
