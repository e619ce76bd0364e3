import { expect, onTestFinished, test } from "vitest"
import { createClient, type AgentEvent } from "../../client/client.ts"
import { playedModel, type PlayedTurn } from "../../../agents/testing/played-model.ts"
import { textOf } from "../../../agents/society/testing/open-team.ts"
import { tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

const groups = ["org_management", "test"]
const config = {
  org: {
    people: [
      { id: "pat", scopes: ["read", "call", "approve", "manage"] },
      { id: "cal", scopes: ["call", "manage"] },
    ],
    roles: ["lead", "dev", "tester"].map((name) => ({ name, rolePrompt: `You are the ${name}.`, toolGroups: groups })),
    agents: [
      { id: "lea", role: "lead" },
      { id: "dan", role: "dev", parent: "lea" },
      { id: "tess", role: "tester", parent: "dan" },
    ],
  },
  rules: [{ allow: "send_message", because: "the test" }],
}

const tell = (to: string, payload: string): PlayedTurn => ({
  calls: [{ name: "send_message", input: { to, payload } }],
})

/** lea asks dan, dan asks tess, tess calls `send`, which asks a person. Each says a secret. */
const team = playedModel(({ messages }) => {
  const role = /You are the (\w+)\./.exec(textOf(messages[0]!))?.[1]
  const last = textOf(messages.at(-1)!)
  if (messages.at(-1)!.role === "tool") return { say: `The ${role} said a secret.` }
  if (last.startsWith("The answer of")) return { say: `The ${role} has read a secret.` }
  if (role === "lead") return tell("dan", "Keep this secret.")
  return role === "dev" ? tell("tess", "This is a secret too.") : { calls: [{ name: "send" }] }
})

async function serving() {
  const { app, served, token } = await serveAppForTest(config as never, {}, { models: { played: team } })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const signedIn = async (person: string) => {
    const session = await sessionHeaders(app, person)
    const withSession: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...Object(init?.headers), ...session } })
    return createClient({ baseUrl: served.url, fetch: withSession })
  }
  const agent = async (id: string) => createClient({ baseUrl: served.url, token: await token(id) })
  return { app, served, signedIn, agent }
}

/** Follows a conversation by its cursor. */
function follow(client: Awaited<ReturnType<typeof createClient>>, id: string) {
  const stop = new AbortController()
  const told: AgentEvent[] = []
  let cursor: string | undefined
  void (async () => {
    while (!stop.signal.aborted) {
      const { agents, cursor: next } = await client.chains.turns(id, {
        ...(cursor === undefined ? {} : { cursor, wait: 5 }),
        signal: stop.signal,
      })
      told.push(...agents)
      cursor = next
    }
  })().catch(() => {})
  onTestFinished(() => stop.abort())
  return told
}

const brief = ({ type, agentId, depth, tools, status }: AgentEvent) =>
  [depth, agentId, type, ...(tools ?? []), ...(status === undefined ? [] : [status])].join(" ")

test("the events of a conversation tell what the agents below it do, at what cost, and nothing that they say", async () => {
  const { app, signedIn } = await serving()
  app.society.start()
  const pat = await signedIn("pat")
  const { id } = await pat.chains.create({ agentId: "lea", message: "Let it be sent." })
  const told = follow(pat, id)
  await until(() => told.some(({ type }) => type === "waiting"), "tess waits")
  const { callId } = told.find(({ type }) => type === "waiting")!
  await app.approvals.answer(callId!, { kind: "approve" }, "pat")
  await until(() => told.some((event) => brief(event) === "1 dan answered completed"), "dan has answered")
  // Each agent's own, because they work at the same time; a call that waits may be told again.
  const of = (agentId: string, events = told) => [
    ...new Map(
      events.filter((event) => event.agentId === agentId).map((event) => [event.callId ?? event, brief(event)]),
    ).values(),
  ]
  expect(of("dan")).toEqual([
    "1 dan woken",
    "1 dan calling send_message",
    "1 dan delegated",
    "1 dan woken",
    "1 dan answered completed",
  ])
  const tess = ["2 tess woken", "2 tess calling send", "2 tess waiting send", "2 tess answered completed"]
  expect(of("tess")).toEqual(tess)
  expect(JSON.stringify(told)).not.toContain("secret")
  expect(told.at(-1)).toMatchObject({ spent: { calls: 1, inputTokens: 30, outputTokens: 15 } })
  const { agents } = await pat.chains.turns(id)
  expect(of("tess", agents)).toEqual(tess.filter((line) => !line.includes("waiting")))
  expect(JSON.stringify((await (await signedIn("cal")).chains.turns(id)).agents)).toBe("[]")
})

test.each([
  ["a person without read", "cal", []],
  ["the agent above both", "lea", ["dan", "tess"]],
  ["the agent in between, of its own conversation", "dan", ["tess"]],
])("what the agents do is told only to whoever may read it: %s", async (_who, id, expected) => {
  const { app, signedIn, agent } = await serving()
  app.society.start()
  const client = id === "cal" ? await signedIn("cal") : await agent(id)
  const agentId = id === "dan" ? "dan" : "lea"
  const begun = await client.chains.create({ agentId, message: "Let it be sent." })
  await until(async () => (await app.approvals.list()).length > 0, "tess waits")
  expect((await app.conversations.agentEvents(begun.id)).events.at(-1)).toMatchObject({ agentId: "tess" })
  const { agents } = await client.chains.turns(begun.id)
  expect([...new Set(agents.map((event) => event.agentId))]).toEqual(expected)
})

test("people read what agents write to each other without the frame that their models read", async () => {
  const { app, served, signedIn } = await serving()
  app.society.start()
  const pat = await signedIn("pat")
  const { id } = await pat.chains.create({ agentId: "lea", message: "Let it be sent." })
  await until(async () => (await app.approvals.list()).length === 1, "tess waits")
  const { conversations } = await app.conversations.list({})
  expect(conversations.map(({ title }) => title).toSorted()).toEqual([
    "Keep this secret.",
    "Let it be sent.",
    "This is a secret too.",
  ])
  expect(conversations.find((each) => each.id === id)).toMatchObject({ shown: "waiting" })
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "pat")
  await until(async () => (await pat.chains.get(id)).content === "The lead has read a secret.", "lea has answered")
  const response = await fetch(`${served.url}/v1/chains/${id}/view`, { headers: await sessionHeaders(app, "pat") })
  const { items } = (await response.json()) as { items: { from?: string; text?: string }[] }
  expect(items.flatMap(({ from, text }) => (from === "agent" ? text : []))).toEqual(["The dev has read a secret."])
})

test("an agent that works for two conversations is told of in each with what it does for that one", async () => {
  const { app, signedIn } = await serving()
  app.society.start()
  const pat = await signedIn("pat")
  const ids = [
    (await pat.chains.create({ agentId: "dan", message: "Let it be sent." })).id,
    (await pat.chains.create({ agentId: "lea", message: "Let it be sent." })).id,
  ]
  await until(async () => {
    for (const { callId } of await app.approvals.list()) await app.approvals.answer(callId, { kind: "approve" }, "pat")
    const last = await Promise.all(ids.map(async (id) => (await pat.chains.turns(id)).agents.at(-1)?.type))
    return last.every((type) => type === "answered")
  }, "both have their answers")
  const [first, second] = await Promise.all(ids.map(async (id) => (await pat.chains.turns(id)).agents))
  expect(new Set(first!.map(({ agentId, depth }) => `${depth} ${agentId}`))).toEqual(new Set(["1 tess"]))
  expect(new Set(second!.map(({ agentId, depth }) => `${depth} ${agentId}`))).toEqual(new Set(["1 dan", "2 tess"]))
})

test("a conversation begun over HTTP goes on by itself when the agents that it asked have answered", async () => {
  const { app, signedIn } = await serving()
  app.society.start()
  const pat = await signedIn("pat")
  const { id } = await pat.chains.create({ agentId: "lea", message: "Let it be sent.", tools: ["send_message"] })
  await until(async () => (await app.approvals.list()).length > 0, "tess waits")
  expect(await pat.chains.get(id)).toMatchObject({ state: "idle", content: "The lead said a secret.", awaits: ["dan"] })
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "pat")
  const { cursor } = await pat.chains.turns(id)
  const { items } = await pat.chains.turns(id, { cursor, wait: 30 })
  expect(items[0]).toMatchObject({ kind: "user", body: { by: "dan", message: { from: "dan", kind: "answer" } } })
  await until(async () => (await pat.chains.get(id)).content === "The lead has read a secret.", "lea has read it")
  await until(async () => (await pat.chains.get(id)).state === "idle", "lea has ended")
  expect((await pat.chains.get(id)).awaits).toEqual([])
  const offered = team.requests.filter(({ messages }) => textOf(messages[0]!).includes("the lead")).at(-1)?.tools
  expect(offered?.map(({ name }) => name)).toEqual(["send_message"])
})
