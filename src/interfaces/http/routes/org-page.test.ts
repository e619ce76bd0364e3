import { expect, test } from "vitest"
import { z } from "zod"
import { tool, until } from "../../../testing/test-app.ts"
import { modelOf } from "../../../agents/testing/played-model.ts"
import type { AgentPanelJson, OrganisationTreeJson, RolePageJson, RolePreviewJson } from "./org-page-schemas.ts"
import { serving } from "./testing.ts"

/** A manager at the console of a served app, with a role and an agent of the store. */
async function managing(models = {}) {
  const scene = await serving(models)
  const { ask } = await scene.signIn("user", true)
  const { body: role } = await ask("POST", "/v1/roles", { name: "tester", toolGroups: ["test"] })
  await ask("POST", "/v1/agents", { id: "tess", role: "tester" })
  await ask("POST", "/v1/agents", { id: "tim", role: "tester", parentId: "tess" })
  const tree = async (since?: string) =>
    (await ask("GET", `/v1/organisation${since === undefined ? "" : `?since=${since}`}`)).body as OrganisationTreeJson
  return { ...scene, ask, role, tree }
}

test("the tree has every agent with what it does, and later only what changed", async () => {
  const { app, ask, tree } = await managing()
  const all = await tree()
  expect(all.whole).toBe(true)
  expect(all.agents.find(({ id }) => id === "tim")).toMatchObject({
    parentId: "tess", role: "tester", activity: "idle", questions: [], running: [], cost: 0, madeBy: "person",
  }) // prettier-ignore
  expect(await tree(all.revision)).toMatchObject({ whole: false, agents: [], gone: [], revision: all.revision })

  await app.call({ agentId: "tim", tool: "send", input: {} }, { waitMs: 0 })
  const waiting = await tree(all.revision)
  expect(waiting.agents).toMatchObject([{ id: "tim", activity: "waiting", questions: [{ tool: "send" }] }])
  await ask("POST", "/v1/freeze", { agentId: "tess", because: "Lunch." })
  const frozen = await tree(waiting.revision)
  expect(frozen.agents.map(({ id, activity }) => [id, activity])).toEqual([["tess", "frozen"], ["tim", "frozen"]]) // prettier-ignore
  expect(frozen.agents[1]!.frozen).toMatchObject({ agentId: "tess", by: "user", because: "Lunch." })
  await ask("DELETE", "/v1/agents/tim")
  expect(await tree(frozen.revision)).toMatchObject({ whole: false, agents: [], gone: ["tim"] })
  expect((await tree("other.1")).whole).toBe(true)
})

test("an agent's panel has its last hour, what its tools do and what people may do", async () => {
  const { app, ask, signIn } = await managing()
  await app.call({ agentId: "tess", tool: "look", input: {} })
  await app.rules.add({ deny: "leak", because: "No leaks." }, "user")
  const { body } = (await ask("GET", "/v1/agents/tess")) as { body: AgentPanelJson }
  expect(body.lastHour).toMatchObject({ calls: 1, failures: 0, recent: [{ tool: "look" }] })
  expect(body.lastHour.minutes.reduce((sum, count) => sum + count, 0)).toBe(1)
  const tools = body.groups.find(({ id }) => id === "test")!.tools
  expect(Object.fromEntries(tools.map(({ name, does }) => [name, does]))).toEqual({
    look: "runs",
    send: "asks",
    leak: "denied",
  })
  const listed = (await ask("GET", "/v1/tools?agentId=tess")).body.items.map(({ name }: { name: string }) => name)
  expect(body.counts.runs + body.counts.asks).toBe(listed.length)
  expect(body).toMatchObject({ below: ["tim"], may: { freeze: true, message: true, manage: true } })
  const { ask: asPat } = await signIn("pat", false)
  expect((await asPat("GET", "/v1/agents/tess")).body.may).toMatchObject({ freeze: true, manage: false })
  expect((await ask("GET", "/v1/agents/nobody")).status).toBe(404)
})

test("messages to an agent and from it are in its panel", async () => {
  const { app, ask } = await managing({ played: modelOf({ say: "Fine." }) })
  await ask("POST", "/v1/messages", { to: "tess", payload: "How are you?" })
  await app.org.sendMessage({ from: "tess", to: "user", payload: "Fine." })
  const { body } = await ask("GET", "/v1/agents/tess")
  expect(body.messages.map(({ from, to }: { from: string; to: string }) => `${from} ${to}`).sort()).toEqual([
    "tess user",
    "user tess",
  ])
})

test("what terminating an agent ends is said before", async () => {
  const { app, ask } = await managing()
  const waiting = await app.call({ agentId: "tim", tool: "send", input: {} }, { waitMs: 0 })
  expect((await ask("GET", "/v1/agents/tess/end")).body).toEqual({
    agents: ["tess", "tim"],
    calls: [{ callId: waiting.callId, agentId: "tim", tool: "send" }],
    conversations: [],
  })
  expect((await ask("DELETE", "/v1/agents/tess")).body.terminated).toEqual(["tess", "tim"])
  expect((await ask("GET", "/v1/agents/root/end")).body.refused).toContain("built in")
})

test("a person gives an agent another role, and its tools change with it", async () => {
  const { ask } = await managing()
  await ask("POST", "/v1/roles", { name: "reader", toolGroups: ["workspace"] })
  expect(await ask("PATCH", "/v1/agents/tim", { role: "reader" })).toMatchObject({ status: 200, body: { id: "tim" } })
  const { body } = await ask("GET", "/v1/agents/tim")
  expect(body.agent).toMatchObject({ role: "reader" })
  // Its parent has no files, so it has none either.
  expect(body.counts.runs + body.counts.asks).toBe(0)
  expect((await ask("PATCH", "/v1/agents/ada", { role: "reader" })).status).toBe(422)
  expect((await ask("PATCH", "/v1/agents/operator", { role: "reader" })).status).toBe(422)
  expect((await ask("PATCH", "/v1/agents/tim", { role: "none" })).status).toBe(422)
})

test("the preview of another role for an agent is what giving it brings, for it and those below it", async () => {
  const { ask, role } = await managing()
  await ask("POST", "/v1/roles", { name: "reader", toolGroups: ["workspace", "data"] })
  const preview = async (id: string, name: string) =>
    (await ask("GET", `/v1/agents/${id}/preview?role=${name}`)).body as RolePreviewJson
  const listed = async (id: string) =>
    (await ask("GET", `/v1/tools?agentId=${id}`)).body.items.map(({ name }: { name: string }) => name) as string[]
  const before = { tess: await listed("tess"), tim: await listed("tim") }
  const { agents } = await preview("tess", "reader")
  expect(await listed("tess")).toEqual(before.tess)
  expect((await ask("PATCH", "/v1/agents/tess", { role: "reader" })).status).toBe(200)
  for (const id of ["tess", "tim"] as const) {
    const after = await listed(id)
    const { gained = [], lost = [] } = agents.find((each) => each.id === id) ?? {}
    expect(gained.toSorted()).toEqual(after.filter((name) => !before[id].includes(name)).toSorted())
    expect(lost.toSorted()).toEqual(before[id].filter((name) => !after.includes(name)).toSorted())
  }
  expect(agents.map(({ id }) => id)).toContain("tess")
  expect((await preview("tess", role.id)).refused).toBeUndefined()
  expect((await preview("tess", "none")).refused).toMatchObject({ code: "unknown_role" })
  expect((await preview("operator", "reader")).refused).toMatchObject({ code: "cannot_change_system_agent" })
  expect((await ask("GET", "/v1/agents/nobody/preview?role=reader")).status).toBe(404)
})

test("the preview of a role is what saving it brings, for its agents and those below them", async () => {
  const { app, ask, role } = await managing()
  await app.rules.add({ deny: "write_file", because: "Nobody writes." }, "user")
  const change = { toolGroups: ["workspace", "test"] }
  const { body } = (await ask("POST", "/v1/roles/preview", { id: role.id, change })) as { body: RolePreviewJson }
  expect(body.agents.map(({ id }) => id)).toEqual(["tess", "tim"])
  const listed = async (id: string) =>
    (await ask("GET", `/v1/tools?agentId=${id}`)).body.items.map(({ name }: { name: string }) => name) as string[]
  const before = await listed("tim")
  expect((await ask("PATCH", `/v1/roles/${role.id}`, change)).status).toBe(200)
  const after = await listed("tim")
  const gained = after.filter((name) => !before.includes(name))
  expect(body.agents[1]!.gained.toSorted()).toEqual(gained.toSorted())
  expect(gained).not.toContain("write_file")
  expect(body.agents[1]!.lost).toEqual([])
  expect(body.limited).toEqual([])
  expect((await ask("POST", "/v1/roles/preview", { id: role.id, change: { toolGroups: ["none"] } })).body.refused).toMatchObject({ code: "invalid_tool_group_ids" }) // prettier-ignore
  const fresh = await ask("POST", "/v1/roles/preview", { change: { name: "new", toolGroups: ["test"] } })
  expect(fresh.body).toMatchObject({ agents: [], unchanged: [] })
  expect(fresh.body.groups.find(({ id }: { id: string }) => id === "test")).toMatchObject({ has: true })
  expect(app.org.findRole("new")).toBeUndefined()
})

test("the preview says which groups an agent cannot gain, because the agent above it has not got them", async () => {
  const { ask } = await managing()
  const { body: role } = await ask("POST", "/v1/roles", { name: "helper", toolGroups: ["test"] })
  await ask("POST", "/v1/agents", { id: "kim", role: "helper", parentId: "tess" })
  await ask("POST", "/v1/freeze", { agentId: "kim" })
  const { body } = await ask("POST", "/v1/roles/preview", { id: role.id, change: { toolGroups: ["test", "data"] } })
  expect(body).toMatchObject({ agents: [], unchanged: ["kim"], limited: [{ id: "kim", by: "tess", groups: ["data"] }] })
})

test("a frozen agent's tools are those that it has when it is thawed", async () => {
  const { ask } = await managing()
  const { body: before } = await ask("GET", "/v1/agents/tess")
  await ask("POST", "/v1/freeze", { agentId: "tess" })
  const { body: frozen } = await ask("GET", "/v1/agents/tess")
  expect(frozen).toMatchObject({ counts: before.counts, groups: before.groups })
  expect(before.counts.runs).toBeGreaterThan(0)
})

test("a role's page says who has it and what deleting it means", async () => {
  const { app, ask, role } = await managing()
  await app.rules.add({ ask: "look", role: "tester", because: "Testers ask." }, "user")
  const { body } = (await ask("GET", `/v1/roles/${role.id}`)) as { body: RolePageJson }
  expect(body).toMatchObject({
    role: { name: "tester", agents: 2, madeBy: "person" },
    editable: true,
    agents: [{ id: "tess" }, { id: "tim" }],
    deleting: { agents: ["tess", "tim"], rules: [expect.stringMatching(/^rule /)] },
  })
  expect((await ask("GET", "/v1/roles/root")).body).toMatchObject({ editable: false, locked: expect.any(String) })
  const { body: worker } = await ask("GET", "/v1/roles/worker")
  expect(worker).toMatchObject({ editable: false, role: { agents: 2 } })
})

test("nobody can be locked out of the organisation: the roles root and operator always manage it, and say why they stay", async () => {
  const { ask } = await managing()
  for (const id of ["root", "operator"]) {
    const { body } = await ask("GET", `/v1/roles/${id}`)
    expect(body).toMatchObject({
      editable: false,
      locked: expect.stringContaining("so that somebody can always manage the organisation"),
    })
    expect(await ask("PATCH", `/v1/roles/${id}`, { toolGroups: [] })).toMatchObject({
      status: 422,
      body: { code: "cannot_modify_system_role" },
    })
    expect(await ask("POST", "/v1/roles/preview", { id, change: { toolGroups: [] } })).toMatchObject({
      body: { refused: { code: "cannot_modify_system_role" } },
    })
    expect((await ask("DELETE", `/v1/roles/${id}`)).status).toBe(422)
  }
})

test("a role that changed in another tab is not written over, nor deleted", async () => {
  const { ask, role } = await managing()
  const { revision } = (await ask("GET", `/v1/roles/${role.id}`)).body
  const save = (rolePrompt: string) => ask("PATCH", `/v1/roles/${role.id}`, { rolePrompt, revision })
  expect((await save("One.")).status).toBe(200)
  expect(await save("Two.")).toMatchObject({
    status: 409,
    body: { code: "changed_meanwhile", current: { role: { rolePrompt: "One." } } },
  })
  expect((await ask("DELETE", `/v1/roles/${role.id}?revision=${revision}`)).status).toBe(409)
  const { revision: current } = (await ask("GET", `/v1/roles/${role.id}`)).body
  expect((await ask("DELETE", `/v1/roles/${role.id}?revision=${current}`)).status).toBe(200)
})

test("a copy of a role begins with its fields", async () => {
  const { ask, role } = await managing()
  const copy = await ask("POST", "/v1/roles", { name: "tester 2", copyOf: role.id, rolePrompt: "Test." })
  expect(copy).toMatchObject({ status: 201, body: { name: "tester 2", toolGroups: ["test"], rolePrompt: "Test." } })
  expect((await ask("POST", "/v1/roles", { name: "tester", copyOf: role.id })).status).toBe(409)
  expect((await ask("POST", "/v1/roles", { name: "x", copyOf: "none" })).status).toBe(404)
})

test("an agent that calls a tool works, and the tree says on what", async () => {
  const { app, tree } = await managing()
  let finish = () => {}
  const finished = new Promise<void>((resolve) => (finish = resolve))
  app.registry.register(
    tool({
      name: "brew",
      effect: "read",
      input: z.object({ what: z.string() }) as never,
      execute: () => finished.then(() => "done"),
    }),
  )
  const call = app.call({ agentId: "tess", tool: "brew", input: { what: "tea" } })
  await until(() => app.running().length > 0, "it runs")
  expect((await tree()).agents.find(({ id }) => id === "tess")).toMatchObject({
    activity: "working",
    running: [{ tool: "brew", summary: "tea" }],
  })
  finish()
  await call
  expect((await tree()).agents.find(({ id }) => id === "tess")).toMatchObject({ activity: "idle", running: [] })
})
