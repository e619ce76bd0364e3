import { expect, onTestFinished, test, vi } from "vitest"
import { dataFolder, deferred, tool, until } from "../../testing/test-app.ts"
import { openTeam, textOf, type Answer } from "./testing/open-team.ts"

const person = { by: "ada" }

async function ask(app: Awaited<ReturnType<typeof openTeam>>, to: string, payload: unknown, taskId?: string) {
  const { id } = await app.society.message({ to, payload, taskId, ...person })
  return app.society.answer(id)
}

test("a message wakes its agent, whose last text is the answer", async () => {
  const app = await openTeam(({ agentId }) => ({ say: `I am ${agentId}.` }))
  app.society.start()
  const answer = await ask(app, "dev", "Who are you?")
  expect(answer).toMatchObject({
    from: "dev",
    to: "user",
    kind: "answer",
    payload: "I am dev.",
    userId: "ada",
    hops: 1,
  })
  expect(await app.org.inbox("dev", { unreadOnly: true })).toEqual([])
  const [request] = app.model.requests
  expect(textOf(request!.messages[0]!)).toMatch(/^You write code\.\n\nYou are agent dev with the role dev\./)
  expect(textOf(request!.messages[1]!)).toMatch(
    /A message from the user "ada".*<message-.*>\nWho are you\?\n<\/message-/s,
  )
})

test("messages that were sent before anybody ran the society are not lost, and those later go on in one conversation", async () => {
  const app = await openTeam(({ messages }) => ({ say: `I have read ${messages.length} messages.` }))
  const { id } = await app.society.message({ to: "dev", payload: "One.", ...person })
  app.society.start()
  expect((await app.society.answer(id))?.payload).toBe("I have read 2 messages.")
  expect((await ask(app, "dev", "Two."))?.payload).toBe("I have read 4 messages.")
  expect((await app.conversations.list({ agentId: "dev" })).conversations).toMatchObject([
    { state: "idle", startedBy: "ada", settings: { society: true } },
  ])
})

test("root delegates: it answers when those it asked have answered, with what they said", async () => {
  const root: Answer = ({ round, last }) => {
    if (last.startsWith("The answer of")) return { say: `Done: ${/\n(.*)\n<\/message/.exec(last)?.[1]}` }
    if (round === 0) return { calls: [{ name: "create_role", input: { name: "helper", rolePrompt: "You help." } }] }
    if (round === 1) return { calls: [spawn(/"id": ?"([^"]+)"/.exec(last)![1]!)] }
    return { say: "I gave it to somebody." }
  }
  const app = await openTeam((asked) => (asked.agentId === "root" ? root(asked) : { say: "Forty-two." }))
  app.society.start()
  const answer = await ask(app, "root", "What is the answer?")
  expect(answer?.payload).toBe("Done: Forty-two.")
  const helper = app.org.listAgents().find(({ parentId }) => parentId === "root")!
  const [mine, its] = await Promise.all(["root", helper.id].map((agentId) => app.conversations.list({ agentId })))
  expect(its!.conversations[0]).toMatchObject({ startedBy: "ada", root: mine!.conversations[0]!.id })
  const [brief] = await app.org.inbox(helper.id)
  expect(brief).toMatchObject({ from: "root", userId: "ada", hops: 1, conversationId: mine!.conversations[0]!.id })
  const request = app.model.requests.find(({ messages }) => textOf(messages[0]!).startsWith("You help."))!
  expect(textOf(request.messages[0]!)).toContain('"objective": "Find the answer."')
})

function spawn(roleId: string) {
  const taskBrief = {
    objective: "Find the answer.",
    constraints: [],
    inputs: "none",
    outputs: "a number",
    completion_criteria: "there is a number",
  }
  return { name: "spawn_agent_with_task", input: { roleId, taskBrief, initialMessage: "Begin." } }
}

const asksTess: Answer = ({ last }) =>
  last === "Ask tess." ? { calls: [{ name: "send_message", input: { to: "tess", payload: "Well?" } }] } : { say: last }

test("an agent that was made for a run says that it has ended, and is there for whoever resumes it", async () => {
  const held = deferred()
  const root: Answer = ({ round, last }) => {
    if (last.startsWith("The answer of")) return { say: "Done." }
    if (round === 0) return { calls: [{ name: "create_role", input: { name: "helper", rolePrompt: "You help." } }] }
    if (round === 1) return { calls: [spawn(/"id": ?"([^"]+)"/.exec(last)![1]!)] }
    return { say: "I gave it to somebody." }
  }
  const app = await openTeam(async (asked) => {
    if (asked.agentId === "root") return root(asked)
    if (asked.last.includes("Begin.")) await held.promise
    return { say: "Forty-two." }
  })
  app.society.start()
  const answered = ask(app, "root", "What is the answer?")
  const helper = () => app.org.listAgents().find(({ parentId }) => parentId === "root")
  const activity = async () => (await app.society.overview()).find(({ agentId }) => agentId === helper()?.id)
  await until(async () => (await activity())?.state === "working", "the helper works")
  expect(await activity()).not.toHaveProperty("runEnded")
  held.resolve()
  await answered
  await until(async () => (await activity())?.state === "idle", "the helper is idle")
  expect(await activity()).toMatchObject({ state: "idle", runEnded: true })
  expect(helper()?.status).toBe("active")
  // Configured agents are no helpers of a run.
  for (const { agentId, runEnded } of await app.society.overview())
    if (agentId !== helper()?.id) expect(runEnded, agentId).toBeUndefined()
})

test("a stored conversation that asked others goes on by itself, in any process, with the options it was begun with", async () => {
  const dir = await dataFolder()
  const options = { durable: true, userId: "ada", tools: ["send_message"], allowedPaths: ["docs"], maxRounds: 3 }
  const first = await openTeam(asksTess, { data: { dir } })
  const chain = first.chain("dev", options)
  expect(await chain.run("Ask tess.")).toMatchObject({ status: "completed" })
  const other = await openTeam(asksTess, { data: { dir } })
  const running = other.society.start()
  await until(
    async () => (await first.conversations.turns(chain.id)).filter(({ kind }) => kind === "end").length === 2,
    "it went on",
  )
  await running.idle()
  const offered = other.model.requests.find(({ messages }) => textOf(messages[0]!) === "You write code.")
  expect(offered?.tools?.map(({ name }) => name)).toEqual(["send_message"])
  expect(await first.conversations.get(chain.id)).toMatchObject({
    settings: { wakes: true, options: { tools: ["send_message"], allowedPaths: ["docs"], maxRounds: 3 } },
  })
  expect((await chain.resume()).content).toMatch(/^The answer of agent tess/)
  expect(first.model.requests).toHaveLength(2)
})

test("a conversation with wakes: false reads answers in its next run only", async () => {
  const app = await openTeam(asksTess)
  const chain = app.chain("dev", { durable: true, wakes: false })
  await chain.run("Ask tess.")
  await app.society.start().idle()
  expect((await app.conversations.turns(chain.id)).at(-1)?.kind).toBe("end")
  expect(await app.society.openMessages(chain.id)).toMatchObject({ unread: 1 })
  expect((await chain.resume()).content).toMatch(/^The answer of agent tess/)
})

test("two agents that ask each other both get their answer", async () => {
  const app = await openTeam(({ agentId, round, last }) => {
    if (agentId === "dev" && round === 0)
      return { calls: [{ name: "send_message", input: { to: "tess", payload: "Well?" } }] }
    if (agentId === "tess" && round === 0)
      return { calls: [{ name: "send_message", input: { to: "dev", payload: "Which one?" } }] }
    return { say: /Which one/.test(last) ? "The second." : /The second/.test(last) ? "It is green." : last.slice(-60) }
  })
  app.society.start()
  expect((await ask(app, "dev", "Is it green?"))?.payload).toContain("It is green.")
})

test("a message that comes while its agent works is read before the next request", async () => {
  const begun = deferred()
  const goOn = deferred()
  const app = await openTeam(async ({ round, messages }) => {
    if (round > 0) return { say: `${messages.filter(({ role }) => role === "user").length} messages` }
    begun.resolve()
    await goOn.promise
    return { calls: [{ name: "look" }] }
  })
  app.registry.register(tool({ name: "look", effect: "read", execute: () => "seen" }))
  app.society.start()
  const first = app.society.message({ to: "dev", payload: "One.", ...person })
  await begun.promise
  const second = await app.society.message({ to: "dev", payload: "Two.", ...person })
  goOn.resolve()
  for (const { id } of [await first, second]) expect((await app.society.answer(id))?.payload).toBe("2 messages")
})

test("a run that waits for a person gives its place to others, and goes on when the person has answered", async () => {
  const app = await openTeam(({ agentId, round }) =>
    agentId === "dev" && round === 0 ? { calls: [{ name: "send" }] } : { say: `${agentId} is done.` },
  )
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const running = app.society.start({ maxRuns: 1 })
  const { id } = await app.society.message({ to: "dev", payload: "Send it.", ...person })
  await running.idle()
  const overview = async (agentId: string) => (await app.society.overview()).find((each) => each.agentId === agentId)
  expect(await overview("dev")).toMatchObject({ state: "waiting", questions: [{ tool: "send", kind: "call" }] })
  expect((await ask(app, "tess", "And you?"))?.payload).toBe("tess is done.")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ agentId: "dev", userId: "ada" })
  expect(await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")).toMatchObject({
    code: "answer_agent",
    sentence: "Approved. dev goes on by itself while 'qm serve' runs; if it does not, start it within 7 days.",
  })
  expect((await app.society.answer(id))?.payload).toBe("dev is done.")
  expect(await overview("dev")).toMatchObject({ state: "idle", spent: { rounds: 2, calls: 1 } })
})

test("a run goes on by the event of its answer, without a look at the clock", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const app = await openTeam(({ round }) => (round < 2 ? { calls: [{ name: "send" }] } : { say: "Sent twice." }))
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  app.society.start()
  const { id } = await app.society.message({ to: "dev", payload: "Send it.", ...person })
  for (let sent = 0; sent < 2; sent++) {
    const state = async () => (await app.conversations.list({ agentId: "dev" })).conversations[0]
    await until(async () => (await state())?.state === "waiting" && (await state())?.owner === "", "it waits")
    const [item] = await app.approvals.list()
    const { length = 0 } = (await state()) ?? {}
    await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
    // It may already wait for the next answer.
    await until(async () => ((await state())?.length ?? 0) > length, "it goes on")
  }
  expect((await app.society.answer(id))?.payload).toBe("Sent twice.")
})

test("a frozen agent stands still and goes on when it is thawed", async () => {
  const begun = deferred()
  let tries = 0
  const app = await openTeam(({ round }) => (round < 1 ? { calls: [{ name: "look" }] } : { say: `After ${round}.` }))
  app.registry.register(
    tool({
      name: "look",
      effect: "read",
      execute: (_input, { signal }) =>
        tries++ > 0
          ? "seen"
          : new Promise((_resolve, reject) => {
              signal.addEventListener("abort", () => reject(new Error("stopped")))
              begun.resolve()
            }),
    }),
  )
  const running = app.society.start()
  const { id } = await app.society.message({ to: "dev", payload: "Look.", ...person })
  await begun.promise
  await app.freeze({ agentId: "dev", by: "ann" })
  await running.idle()
  const [conversation] = (await app.conversations.list({ agentId: "dev" })).conversations
  expect(conversation).toMatchObject({ state: "active", owner: "" })
  const [other] = await Promise.all([app.society.message({ to: "dev", payload: "And?", ...person }), running.idle()])
  expect(app.model.requests).toHaveLength(1)
  await app.thaw({ agentId: "dev", by: "ann" })
  for (const message of [id, other.id]) expect((await app.society.answer(message))?.payload).toBe("After 1.")
})

test("whoever wrote to an agent that is terminated gets a sentence, for what it works on and for what it has not read", async () => {
  const begun = deferred()
  const app = await openTeam(({ signal }) => {
    begun.resolve()
    return new Promise((_resolve, reject) => signal!.addEventListener("abort", () => reject(new Error("stopped"))))
  })
  const { id: agentId } = await app.org.createAgent({ id: "temp", role: "dev" }, { kind: "person", id: "ann" })
  app.society.start()
  const first = await app.society.message({ to: agentId, payload: "Work.", ...person })
  const later = await app.org.sendMessage({ from: "tess", to: agentId, payload: "Later.", delayMs: 100_000 })
  await begun.promise
  await app.org.terminateAgent(agentId, { kind: "person", id: "ann" })
  expect((await app.society.answer(first.id))?.payload).toBe("Agent temp was stopped before it had finished.")
  expect((await app.society.answer(later.id))?.payload).toBe("Agent temp has ended, so it does not answer.")
  await until(async () => {
    const [conversation] = (await app.conversations.list({ agentId })).conversations
    return conversation?.state === "ended"
  }, "the conversation has ended")
})

test("terminating an agent stops those below it where they work, and whoever waits for one of them is told", async () => {
  const begun = new Set<string>()
  const app = await openTeam(({ agentId, signal, round, last }) => {
    if (agentId === "dev" || last.startsWith("The answer of")) return { say: last }
    if (agentId === "boss" && round === 0)
      return { calls: ["kid", "pal"].map((to) => ({ name: "send_message", input: { to, payload: "Work." } })) }
    if (agentId === "boss") return { say: "They work." }
    begun.add(agentId)
    return new Promise((_resolve, reject) => signal!.addEventListener("abort", () => reject(new Error("stopped"))))
  })
  const ann = { kind: "person", id: "ann" } as const
  await app.org.createAgent({ id: "boss", role: "dev" }, ann)
  for (const id of ["kid", "pal"]) await app.org.createAgent({ id, role: "dev", parentId: "boss" }, ann)
  app.society.start()
  const { id } = await app.society.message({ to: "boss", payload: "Work.", ...person })
  const other = await app.org.sendMessage({ from: "dev", to: "kid", payload: "And this." })
  await until(() => begun.size === 2, "both work")
  await until(async () => (await stateOf("boss")) === "idle", "their parent waits for them")
  const boss = (await app.society.overview()).find(({ agentId }) => agentId === "boss")
  expect(boss).toMatchObject({ state: "delegated", waitsFor: ["kid", "pal"], spent: { rounds: 2, calls: 2 } })
  expect((await app.org.terminateAgent("boss", ann)).toSorted()).toEqual(["boss", "kid", "pal"])
  expect((await app.society.answer(id))?.payload).toBe("Agent boss has ended, so it does not answer.")
  expect((await app.society.answer(other.id))?.payload).toMatch(/^Agent kid (was stopped|has ended)/)
  for (const agentId of ["boss", "kid", "pal"])
    await until(async () => (await stateOf(agentId)) === "ended", `the conversation of ${agentId} has ended`)

  async function stateOf(agentId: string) {
    return (await app.conversations.list({ agentId })).conversations[0]?.state
  }
})

test("an agent whose model is gone says so", async () => {
  const app = await openTeam(() => ({ say: "Hello." }), {
    org: { roles: [{ name: "lost", llmServiceId: "gone" }], agents: [{ id: "lost", role: "lost" }] },
  })
  app.society.start()
  expect((await ask(app, "lost", "Are you there?"))?.payload).toMatch(/^Agent lost could not finish: .*'gone'/)
})

test("without any model nobody is woken, and messages wait", async () => {
  const app = await openTeam(() => ({ say: "Hello." }), {}, { models: {} })
  await app.society.start().idle()
  await app.society.message({ to: "dev", payload: "Hello?", ...person })
  expect(await app.org.inbox("dev", { unreadOnly: true })).toHaveLength(1)
  const [dev] = (await app.society.overview()).filter(({ agentId }) => agentId === "dev")
  expect(dev).toMatchObject({ state: "no_model", unread: 1 })
})

test("a society is started once in a process, and again after it was stopped", async () => {
  const app = await openTeam(() => ({ say: "Hello." }))
  const running = app.society.start()
  expect(() => app.society.start()).toThrow("The society runs already")
  await running.stop()
  const { id } = await app.society.message({ to: "dev", payload: "Hello?", ...person })
  const [dev] = (await app.society.overview()).filter(({ agentId }) => agentId === "dev")
  expect(dev).toMatchObject({ state: "unread", unread: 1 })
  app.society.start()
  expect((await app.society.answer(id))?.payload).toBe("Hello.")
})
