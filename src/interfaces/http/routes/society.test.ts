import { expect, test } from "vitest"
import { textOf } from "../../../agents/society/testing/open-team.ts"
import { modelOf, playedModel } from "../../../agents/testing/played-model.ts"
import { societyConversation } from "../../../core/society-conversation.ts"
import { tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

const config = {
  org: {
    people: [{ id: "pat" }, { id: "max", scopes: ["read", "call", "approve", "manage"] }],
    roles: [
      { name: "worker", toolGroups: ["test"] },
      { name: "writer", toolGroups: ["test", "org_management"] },
    ],
    agents: [
      { id: "ada", role: "writer" },
      { id: "bob", role: "worker" },
    ],
  },
  rules: [{ allow: "send_message", because: "the test" }],
}

/** A served app with a model that plays every agent, and clients of people and agents. */
async function serving(played: ReturnType<typeof playedModel>) {
  const { app, token, ask } = await serveAppForTest(config as never, {}, { models: { played } })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const client = (headers: Record<string, string>) => async (method: string, path: string, body?: unknown) => {
    const sent = { "x-quartermaster": "1", "content-type": "application/json", ...headers }
    const { status, text } = await ask({ method, path, headers: sent, body: body && JSON.stringify(body) } as never)
    return { status, body: text === "" ? undefined : JSON.parse(text) }
  }
  return {
    app,
    person: async (person: string) => client(await sessionHeaders(app, person)),
    agent: async (id: string) => client({ authorization: `Bearer ${await token(id)}` }),
  }
}

test("only people who may manage write to agents that can change the organisation", async () => {
  const { app, person } = await serving(modelOf({ say: "Done." }))
  const running = app.society.start()
  const [pat, max] = [await person("pat"), await person("max")]
  for (const to of ["root", "ada"]) {
    const body = { to, payload: "Create a role." }
    expect(await pat("POST", "/v1/messages", body), to).toMatchObject({ status: 403, body: { code: "manager_agent" } })
    expect((await max("POST", "/v1/messages", body)).status, to).toBe(201)
  }
  expect((await pat("POST", "/v1/messages", { to: "bob", payload: "Hello." })).status).toBe(201)
  await running.idle()
})

test("a conversation that several people's messages reach is not opened by who wrote first", async () => {
  const { app, person } = await serving(modelOf({ say: "Done." }))
  const running = app.society.start()
  const [pat, max] = [await person("pat"), await person("max")]
  await pat("POST", "/v1/messages", { to: "bob", payload: "Hello." })
  await running.idle()
  const path = `/v1/chains/${societyConversation("bob", undefined)}`
  expect((await max("GET", path)).body).toMatchObject({ startedBy: "pat" })
  expect((await max("GET", "/v1/chains")).body.items).toHaveLength(1)
  expect((await pat("GET", path)).status).toBe(404)
  expect((await pat("POST", `${path}/messages`, { message: "And now?" })).status).toBe(404)
  expect((await pat("GET", "/v1/chains")).body.items).toEqual([])
})

test.each(["messages", "resume"])("a person who may no longer manage does not go on with root: %s", async (how) => {
  const { app, person } = await serving(modelOf({ say: "Done." }))
  const chain = app.chain("root", { durable: true, userId: "pat" })
  await chain.run("Hello.")
  const gone = await (await person("pat"))("POST", `/v1/chains/${chain.id}/${how}`, { message: "Create a role." })
  expect(gone).toMatchObject({ status: 403, body: { code: "manager_agent" } })
})

test.each(["messages", "resume"])("an agent that goes on with its conversation acts for nobody: %s", async (how) => {
  const { app, agent } = await serving(modelOf({ say: "Hello." }, { calls: [{ name: "send" }] }))
  const chain = app.chain("bob", { durable: true })
  await chain.run("Hello.")
  if (how === "resume") await app.conversations.say(chain.id, "Send it.", "bob")
  const bob = await agent("bob")
  expect((await bob("POST", `/v1/chains/${chain.id}/${how}`, { message: "Send it." })).status).toBe(202)
  await until(async () => (await app.approvals.list()).length === 1, "it asked")
  expect((await app.approvals.list())[0]).toMatchObject({ tool: "send", agentId: "bob" })
  expect((await app.approvals.list())[0]).not.toHaveProperty("userId", "bob")
})

test("an agent that names another agent's conversation as its session does not get into it", async () => {
  const played = playedModel(() => ({ say: "Hello." }))
  const { app, agent } = await serving(played)
  const running = app.society.start()
  await app.society.message({ to: "bob", payload: "The SECRET is 42.", by: "max" })
  await running.idle()
  const bobs = societyConversation("bob", undefined)
  const before = await app.conversations.turns(bobs)
  const ada = await agent("ada")
  const call = { input: { to: "root", payload: "Hello?" }, sessionId: bobs }
  expect((await ada("POST", "/v1/tools/send_message/call", call)).body).toMatchObject({ success: true })
  await running.idle()
  expect(await app.conversations.turns(bobs)).toEqual(before)
  const hers = played.requests.filter(({ messages }) => textOf(messages[0]!).includes("You are agent ada"))
  expect(hers).toHaveLength(1)
  expect(JSON.stringify(hers)).not.toContain("SECRET")
})
