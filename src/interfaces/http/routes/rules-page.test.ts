import { expect, test } from "vitest"
import type { SimulationJson } from "./rules-page-schemas.ts"
import { serving } from "./testing.ts"

/** A manager at the console of a served app. */
async function managing() {
  const scene = await serving()
  const { ask } = await scene.signIn("user", true)
  return { ...scene, ask }
}

test("a rule is listed with who added it, how often it decided, and what is wrong with it", async () => {
  const { app, ask } = await managing()
  const { body: added } = await ask("POST", "/v1/rules", { rule: { deny: "look", because: "Nobody looks." } })
  await ask("POST", "/v1/rules", { rule: { deny: "look", agent: "ada", because: "Ada neither." } })
  await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  for (let times = 0; times < 3; times++) await app.call({ agentId: "ada", tool: "look", input: {} })
  const { body } = await ask("GET", "/v1/rules")
  const listed = body.items.find(({ id }: { id: string }) => id === added.id)
  expect(listed).toMatchObject({ verdict: "deny", addedBy: "user", stored: true, decided: 3, flaws: [] })
  expect(body.items.at(-1)).toMatchObject({ decided: 0, flaws: [{ kind: "shadowed" }] })
  expect(body).toMatchObject({ total: 3, flawed: 1 })
  expect((await ask("GET", "/v1/rules?flawed=true")).body.items).toHaveLength(1)
  expect((await ask("GET", "/v1/rules?search=ada%20neither")).body.items).toHaveLength(1)
})

test("a rule in shadow counts what it would have decided", async () => {
  const { app, ask } = await managing()
  await ask("POST", "/v1/rules", { rule: { deny: "look", shadow: true, because: "A try." } })
  await app.call({ agentId: "ada", tool: "look", input: {} })
  expect((await ask("GET", "/v1/rules?verdict=deny")).body.items).toMatchObject([{ shadow: true, decided: 1 }])
})

test("pages of rules follow each other, also when the rule at their border is removed", async () => {
  const { app, ask } = await managing()
  for (let number = 0; number < 6; number++)
    await app.rules.add({ allow: "look", args: { "/n": String(number) }, because: `Number ${number}.` }, "user")
  const first = (await ask("GET", "/v1/rules?limit=3&search=number")).body
  const whys = (page: { items: { because: string }[] }) => page.items.map(({ because }) => because)
  expect(whys(first)).toEqual(["Number 0.", "Number 1.", "Number 2."])
  await app.rules.remove(first.items[2].id, "user")
  const second = (await ask("GET", `/v1/rules?limit=3&search=number&cursor=${first.cursor}`)).body
  expect(whys(second)).toEqual(["Number 3.", "Number 4.", "Number 5."])
  expect(second.cursor).toBeUndefined()
  expect(await ask("GET", "/v1/rules?limit=3&cursor=x")).toMatchObject({ status: 400, body: { code: "bad_cursor" } })
})

test("one rule comes with its YAML and its tools", async () => {
  const { ask } = await managing()
  const rule = { ask: "group:test", agent: ["ada"], because: "Ada is asked." }
  const { body } = await ask("POST", "/v1/rules", { rule })
  expect(await ask("GET", `/v1/rules/${body.id}`)).toMatchObject({
    status: 200,
    body: { yaml: '- ask: group:test\n  agent:\n    - ada\n  because: Ada is asked.\n', tools: ["leak", "look", "send"] },
  }) // prettier-ignore
  expect((await ask("GET", "/v1/rules/root-organises")).body.yaml).toContain("- allow: group:org_management\n")
  expect((await ask("GET", "/v1/rules/none")).status).toBe(404)
})

test("a rule that changed in another tab is not written over: the answer has it as it is now", async () => {
  const { ask } = await managing()
  const { body: read } = await ask("POST", "/v1/rules", { rule: { deny: "look", because: "One." } })
  const change = (because: string, revision: string) =>
    ask("PUT", `/v1/rules/${read.id}`, { rule: { deny: "look", because }, revision })
  expect(await change("Two.", read.revision)).toMatchObject({ status: 200, body: { id: read.id, because: "Two." } })
  expect(await change("Three.", read.revision)).toMatchObject({
    status: 409,
    body: { code: "changed_meanwhile", current: { because: "Two." } },
  })
  expect(await ask("PUT", "/v1/rules/root-organises", { rule: {}, revision: "1" })).toMatchObject({
    status: 422,
    body: { code: "rule_of_configuration" },
  })
})

test("a draft is tried on examples without being stored", async () => {
  const { app, ask } = await managing()
  const rule = { deny: "look", args: { "/path": "secret/**" }, because: "Secrets stay." }
  const examples = ["secret/a", "notes/a"].map((path) => ({ agentId: "ada", tool: "look", input: { path } }))
  const { body } = await ask("POST", "/v1/rules/try", { rule, examples })
  expect(body).toMatchObject({
    valid: true,
    tools: ["look"],
    examples: [
      { before: { verdict: "allow" }, after: { verdict: "deny", reasons: [{ check: "rule" }] } },
      { before: { verdict: "allow" }, after: { verdict: "allow" } },
    ],
  })
  expect(app.rules.list()).toHaveLength(1)
  const wrong = await ask("POST", "/v1/rules/try", { rule: { deny: "look" }, examples: [] })
  expect(wrong.body).toMatchObject({ valid: false, flaws: [{ kind: "malformed" }], tools: [] })
})

test("a draft is tried on what was recorded, beside the rules in force", async () => {
  const { app, ask } = await managing()
  await app.rules.add({ deny: "leak", because: "No leaks." }, "user")
  await app.call({ agentId: "ada", tool: "look", input: { path: "a" } })
  await app.call({ agentId: "ada", tool: "leak", input: {} })
  const waiting = app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  const { callId } = await waiting
  await app.approvals.answer(callId, { kind: "reject" }, "pat")
  await app.resume(callId)
  await app.settle()
  const add = [{ allow: "send", because: "Sending is free." }, { ask: "look", because: "Looks are asked." }] // prettier-ignore
  const simulation = (await ask("POST", "/v1/rules/simulate", { add })).body as SimulationJson
  expect(simulation.changed.map(({ tool, before, after }) => `${tool} ${before} ${after}`)).toEqual([
    "send ask allow",
    "look allow ask",
  ])
  expect(simulation).toMatchObject({ looked: 3, total: 2, refusedWouldRun: 1, flaws: [] })
})

test("what a rule may name is offered", async () => {
  const { ask } = await managing()
  const { body } = await ask("GET", "/v1/rules/choices")
  expect(body.tools).toContainEqual({ value: "look", group: "test", effect: "read", parameters: [] })
  expect(body.groups).toContainEqual(expect.objectContaining({ value: "group:workspace" }))
  expect(body.agents).toContainEqual({ value: "ada", label: "worker" })
  expect(body).toMatchObject({ approverRoles: ["lead"], hosts: [], touchKinds: expect.arrayContaining(["write:"]) })
})

test("a person who may not manage reads rules and changes none", async () => {
  const { signIn } = await serving()
  const { ask } = await signIn("pat", false)
  expect((await ask("GET", "/v1/rules")).status).toBe(200)
  expect((await ask("POST", "/v1/rules/try", { rule: { deny: "look", because: "One." } })).status).toBe(200)
  expect((await ask("POST", "/v1/rules", { rule: { deny: "look", because: "One." } })).status).toBe(403)
  expect((await ask("PUT", "/v1/rules/x", { rule: {}, revision: "1" })).status).toBe(403)
})
