import { expect, onTestFinished, test, vi } from "vitest"
import type { AppOptions } from "../../app/app-options.ts"
import { dataFolder, openTestApp, tool, until } from "../../testing/test-app.ts"
import { modelOf, type PlayedTurn } from "../testing/played-model.ts"

const turns: PlayedTurn[] = [
  { say: "I look, then I send.", calls: [{ name: "look" }, { name: "send" }, { name: "write" }] },
  { say: "Done." },
]

/** Apps on one data folder, each with the same tools and a model of its own, and what ran in all of them. */
async function openHosts() {
  const dir = await dataFolder()
  const ran: string[] = []
  const open = async (options: AppOptions = {}, ...answers: PlayedTurn[]) => {
    const rules = [{ allow: "write", because: "the test" }]
    const app = await openTestApp({ data: { dir }, rules }, { models: { played: modelOf(...answers) }, ...options })
    for (const [name, effect] of [
      ["look", "read"],
      ["send", "communicate"],
      ["write", "write"],
    ] as const)
      app.registry.register(tool({ name, effect, execute: () => void ran.push(name) }))
    return app
  }
  return { open, ran }
}

test("a conversation that waits is resumed by another process on the same history, and nothing runs twice", async () => {
  const { open, ran } = await openHosts()
  const first = await open({}, ...turns)
  const chain = first.chain("operator", { durable: true })
  const running = chain.run("Go.")
  await until(async () => (await first.approvals.list()).length === 1 && ran.includes("look"), "it waits")
  await first.close()
  expect(await running).toMatchObject({ status: "waiting" })
  expect(ran).toEqual(["look"])

  const second = await open({}, turns[1]!)
  expect(await second.conversations.get(chain.id)).toMatchObject({ state: "waiting", owner: "", agentId: "operator" })
  const [item] = await second.approvals.list()
  await second.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  const result = await second.chain("operator", { id: chain.id }).resume()
  expect(result).toMatchObject({ status: "completed", content: "Done.", stats: { rounds: 2, calls: 3 } })
  expect(result.toolCallHistory.map(({ toolName, status }) => [toolName, status])).toEqual([
    ["look", "success"],
    ["send", "success"],
    ["write", "success"],
  ])
  expect(ran.toSorted()).toEqual(["look", "send", "write"])
  expect(await second.conversations.get(chain.id)).toMatchObject({ state: "idle" })
})

test.each([
  ["in memory", false],
  ["stored", true],
])("equal calls of one answer are as many questions and runs (%s)", async (_, durable) => {
  const { open, ran } = await openHosts()
  const calls = [{ name: "send" }, { name: "send" }, { name: "write" }, { name: "write" }]
  const app = await open({}, { calls }, { say: "Done." })
  const running = app.chain("operator", { durable }).run("Go.")
  await until(async () => (await app.approvals.list()).length === 2, "two questions are asked")
  for (const { callId } of await app.approvals.list()) await app.approvals.answer(callId, { kind: "approve" }, "ann")
  expect(await running).toMatchObject({ status: "completed", stats: { calls: 4 } })
  expect(ran.toSorted()).toEqual(["send", "send", "write", "write"])
})

test("a conversation that ended goes on with the next message, in any process", async () => {
  const { open } = await openHosts()
  const first = await open({}, { say: "Hello." })
  const { id } = await first.chain("operator", { durable: true }).run("Hi.")
  await first.close()
  const second = await open({}, { say: "I remember." })
  const result = await second.chain("operator", { id }).run("What did I say?")
  expect(result.messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
    "Hi.",
    "What did I say?",
  ])
})

test("what two processes are told at the same moment is all read and answered", async () => {
  const { open } = await openHosts()
  const answers = Array.from({ length: 20 }, () => ({ say: "Yes." }))
  const apps = [await open({}, ...answers), await open({}, ...answers)]
  const { id } = await apps[0]!.chain("operator", { durable: true }).run("Hi.")
  const texts = ["one", "two", "three", "four", "five", "six"]
  await Promise.all(texts.map((text, at) => apps[at % 2]!.conversations.tell(id, text, { by: "ann", userId: "ann" })))
  await until(async () => {
    const turns = await apps[0]!.conversations.turns(id)
    const said = turns.filter(({ kind }) => kind === "user")
    return (
      said.length === 7 && turns.findLastIndex(({ kind }) => kind === "assistant") > turns.lastIndexOf(said.at(-1)!)
    )
  }, "all were answered")
  const said = (await apps[0]!.conversations.turns(id)).flatMap(({ kind, body }) =>
    kind === "user" ? [(body as { text: string }).text] : [],
  )
  expect(said.toSorted()).toEqual(["Hi.", ...texts].toSorted())
})

test("of runs that begin at once on one conversation one works, and the others are refused", async () => {
  const { open } = await openHosts()
  const app = await open({}, { say: "Yes." })
  const said = ["One?", "Two?", "Three?"]
  const results = await Promise.allSettled(said.map((text) => app.chain("operator", { id: "talk" }).run(text)))
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"])
  const kinds = (await app.conversations.turns("talk")).map(({ kind }) => kind)
  expect(kinds).toEqual(["user", "assistant", "end"])
})

test("a run that begins while another one writes its end waits for it", async () => {
  const { open } = await openHosts()
  const app = await open({}, { say: "Yes." })
  const next: Promise<unknown>[] = []
  const { id } = app.chain("operator", { durable: true })
  app.on("RUN_ENDED", () => void (next.length < 3 && next.push(app.chain("operator", { id }).run("And then?"))))
  await app.chain("operator", { id }).run("First?")
  for (let place = 0; place < 3; place++) expect(await next[place]).toMatchObject({ status: "completed" })
})

test("a conversation that waits is resumed at the moment its run ends", async () => {
  const { open, ran } = await openHosts()
  const app = await open({}, ...turns)
  const chain = app.chain("operator", { durable: true, waitMs: 0 })
  let resumed: Promise<unknown> | undefined
  app.on("RUN_ENDED", () => void (resumed ??= app.chain("operator", { id: chain.id }).resume()))
  const { waiting } = await chain.run("Go.")
  for (const { callId } of waiting) await app.approvals.answer(callId, { kind: "approve" }, "ann").catch(() => {})
  expect(await resumed).toMatchObject({ status: "completed", content: "Done." })
  expect(ran.toSorted()).toEqual(["look", "send", "write"])
})

test("another process can read along, say something and stop the run", async () => {
  const { open } = await openHosts()
  const [worker, watcher] = [await open({}, ...turns), await open({}, ...turns)]
  const chain = worker.chain("operator", { durable: true })
  const running = chain.run("Go.")
  await until(async () => (await watcher.approvals.list()).length === 1, "it waits")
  expect((await watcher.conversations.turns(chain.id)).map(({ kind }) => kind)).toEqual(["user", "assistant"])
  await expect(watcher.chain("operator", { id: chain.id }).resume()).rejects.toThrow("Another process works on")
  expect(await watcher.conversations.say(chain.id, "Stop!", "ann")).toBe(true)
  expect(await watcher.conversations.stop(chain.id, "ann")).toBe(true)
  expect(await running).toMatchObject({ status: "aborted" })
  expect(await watcher.conversations.say("nothing", "Stop!", "ann")).toBe(false)
})

test("the audit log says when a conversation ran, with which model, and what it cost", async () => {
  const { open } = await openHosts()
  const app = await open({}, { say: "Hello." })
  const { id } = await app.chain("operator").run("Hi.")
  await app.settle()
  expect((await app.audit.show(id)).map((entry) => entry.kind === "note" && entry.text)).toEqual([
    expect.stringContaining("played"),
    expect.stringContaining("10 tokens in, 5 out"),
  ])
})

test("another process follows a conversation from any index, turn by turn", async () => {
  const { open } = await openHosts()
  const [worker, watcher] = [await open({}, ...turns), await open({}, ...turns)]
  const chain = worker.chain("operator", { durable: true })
  const running = chain.run("Go.")
  await until(async () => (await watcher.approvals.list()).length === 1, "it waits")
  const stop = new AbortController()
  const seen: string[] = []
  const following = (async () => {
    for await (const { index, kind } of watcher.conversations.follow(chain.id, { from: 1, signal: stop.signal })) {
      seen.push(`${index} ${kind}`)
      if (kind === "end") stop.abort()
    }
  })()
  const [item] = await watcher.approvals.list()
  await watcher.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  await Promise.all([running, following])
  expect(seen).toEqual(["1 assistant", "2 results", "3 assistant", "4 end"])
  for await (const turn of watcher.conversations.follow("nothing")) expect.unreachable(turn.kind)
})

test("a conversation is erased when nobody has used it for agents.keepDays", async () => {
  const { open } = await openHosts()
  const first = await open({}, { calls: [{ name: "look" }] }, { say: "Hello." })
  const { id } = await first.chain("operator", { durable: true }).run("Hi.")
  for (const [days, isThere] of [
    [29, true],
    [31, false],
  ] as const) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * 24 * 60 * 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    const later = await open()
    await later.sweep()
    expect((await later.conversations.turns(id)).length > 0).toBe(isThere)
    expect((await later.conversations.get(id)) !== undefined).toBe(isThere)
    vi.useRealTimers()
  }
})

test("a conversation waits over a restart and days for its approval, and expires after agents.deadline", async () => {
  for (const [days, status] of [
    [2, "success"],
    [8, "execution_rejected"],
  ] as const) {
    const { open, ran } = await openHosts()
    const first = await open({}, ...turns)
    const chain = first.chain("operator", { durable: true, waitMs: 0 })
    expect(await chain.run("Go.")).toMatchObject({ status: "waiting" })
    await first.close()
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * 24 * 60 * 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    const later = await open({}, turns[1]!)
    await later.sweep()
    for (const { callId } of await later.approvals.list())
      await later.approvals.answer(callId, { kind: "approve" }, "ann")
    const result = await later.chain("operator", { id: chain.id }).resume()
    expect(result).toMatchObject({ status: "completed", content: "Done." })
    expect(result.toolCallHistory.find(({ toolName }) => toolName === "send")?.status).toBe(status)
    expect(ran.filter((name) => name === "send")).toHaveLength(days === 2 ? 1 : 0)
    vi.useRealTimers()
  }
})

test("a conversation of one agent does not go on as another", async () => {
  const { open } = await openHosts()
  const app = await open({}, { say: "Hello." })
  const chain = app.chain("operator", { durable: true })
  await chain.run("Hello.")
  const other = app.chain("root", { id: chain.id })
  await expect(other.run("And now?")).rejects.toThrow("is one of agent operator, not of root")
})

test.each([0, 1])(
  "two approved calls of one answer run when it is resumed, also with %i ms to wait",
  async (waitMs) => {
    const { open, ran } = await openHosts()
    const twice: PlayedTurn = { calls: [{ name: "send" }, { name: "send", input: {} }, { name: "look" }] }
    const app = await open({}, twice, { say: "Done." })
    const chain = app.chain("operator", { durable: true, waitMs })
    expect(await chain.run("Go.")).toMatchObject({ status: "waiting" })
    await until(async () => (await app.approvals.list()).length === 2, "both wait")
    const [one, other] = await app.approvals.list()
    await app.approvals.answer(one!.callId, { kind: "approve" }, "ann")
    expect(await chain.resume()).toMatchObject({ status: "waiting", waiting: expect.any(Array) as unknown[] })
    await app.approvals.answer(other!.callId, { kind: "approve" }, "ann")
    expect(await chain.resume()).toMatchObject({ status: "completed", content: "Done." })
    expect(ran.toSorted()).toEqual(["look", "send", "send"])
  },
)

test("a second run on a conversation that is at work is refused at once, in the same process too", async () => {
  const { open } = await openHosts()
  const app = await open({}, ...turns)
  const chain = app.chain("operator", { durable: true })
  const running = chain.run("Go.")
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  await expect(app.chain("operator", { id: chain.id }).run("And this?")).rejects.toThrow("works on conversation")
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "ann")
  expect(await running).toMatchObject({ status: "completed", content: "Done." })
})

test("a conversation goes on with its own model where no default is set", async () => {
  const { open } = await openHosts()
  const models = { one: modelOf({ say: "One." }), two: { ...modelOf({ say: "Two." }), name: "two" } }
  const app = await open({ models })
  const { id } = await app.chain("operator", { model: "two", durable: true }).run("Hi.")
  expect(await app.chain("operator", { id }).run("Again.")).toMatchObject({ content: "Two." })
  await expect(app.chain("operator", { id: "new" }).run("Hi.")).rejects.toThrow("default model")
})

test("a conversation that does not exist is not resumed, and an agent that does not exist begins none", async () => {
  const { open } = await openHosts()
  const app = await open({}, { say: "Hello." })
  await expect(app.chain("operator", { id: "typo" }).resume()).rejects.toThrow("There is no stored conversation typo.")
  expect(() => app.chain("nobody")).toThrow("There is no agent 'nobody'.")
  await expect(app.chain("nobody", { id: "new" }).run("Hi.")).rejects.toThrow("There is no agent 'nobody'.")
  expect((await app.conversations.list()).conversations).toEqual([])
})
