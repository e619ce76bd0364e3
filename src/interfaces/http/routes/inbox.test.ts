import { join } from "node:path"
import { writeFileSync } from "node:fs"
import { expect, onTestFinished, test, vi } from "vitest"
import { tool, until } from "../../../testing/test-app.ts"
import type { Card } from "../../../approvals/card/schema.ts"
import { serving } from "./testing.ts"

const hourMs = 60 * 60_000

test("refused calls are told with why, what would change it, and a rule only where one would let them run", async () => {
  const { app, signIn, agent, workspace } = await serving()
  writeFileSync(join(workspace, "a.txt"), "one")
  const { ask } = await signIn("someone", true)
  const ada = await agent("ada")
  const write = { input: { path: "a.txt", content: "two" } }
  const frozen = await ask("POST", "/v1/freeze", { agentId: "ada" })
  expect(frozen.status).toBe(204)
  expect((await ada("POST", "/v1/tools/write_file/call", write)).body).toMatchObject({ code: "frozen" })
  const whileFrozen = (await ask("GET", "/v1/refused")).body
  expect(whileFrozen).toMatchObject({ total: 1, items: [{ code: "frozen", tool: "write_file", agentId: "ada" }] })
  expect(whileFrozen.items[0].change[0]).toContain("qm thaw")
  expect(whileFrozen.items[0]).not.toHaveProperty("draft")

  await ask("POST", "/v1/thaw", { agentId: "ada" })
  const draft = { allow: "write_file", agent: "ada", touching: ["write:a.txt"] }
  expect((await ask("GET", "/v1/refused")).body).toMatchObject({ items: [{ code: "frozen", draft }] })
  const added = await ask("POST", "/v1/rules", { rule: { ...draft, because: "Ada keeps it." } })
  expect(added.status).toBe(201)
  expect((await ada("POST", "/v1/tools/write_file/call", write)).body).toMatchObject({ status: "success" })
  const { body } = await ask("GET", "/v1/refused")
  expect(body.items[0].change).toEqual(["Nothing: the same call would run now."])

  await app.rules.add({ deny: "send", because: "Nobody sends." }, "someone")
  await ada("POST", "/v1/tools/send/call", { input: {} })
  const [denied] = (await ask("GET", "/v1/refused")).body.items
  expect(denied).toMatchObject({ tool: "send", change: [expect.stringContaining("qm rules remove")] })
  expect(denied).not.toHaveProperty("draft")
})

test("a call that was refused in plan mode has no draft while the mode lasts", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("someone", true)
  await ask("POST", "/v1/agents/ada/mode", { mode: "plan" })
  await app.call({ agentId: "ada", tool: "send", input: {}, sessionId: "s1" })
  const refused = async () => (await ask("GET", "/v1/refused")).body.items[0]
  expect(await refused()).toMatchObject({ code: "permission_denied" })
  expect(await refused()).not.toHaveProperty("draft")
  await ask("POST", "/v1/agents/ada/mode", { mode: "ask" })
  expect(await refused()).toMatchObject({ draft: { allow: "send", agent: "ada" } })
})

test("of many refused calls the newest twenty are told and all are counted, however many others ended since", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  await app.rules.add({ deny: "send", because: "Nobody sends." }, "someone")
  for (let times = 0; times < 22; times++) await app.call({ agentId: "ada", tool: "send", input: {} })
  await Promise.all(Array.from({ length: 1000 }, () => app.call({ agentId: "ada", tool: "look", input: {} })))
  const { body } = await ask("GET", "/v1/refused")
  expect([body.items.length, body.total]).toEqual([20, 22])
  expect((await ask("GET", `/v1/refused?since=${Date.now() + hourMs}`)).body).toEqual({ items: [], total: 0 })
})

test("the digest counts what ran, what waited for people whatever they said, what was refused and what expired", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  const sent = () => app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  const since = Date.now()
  await app.call({ agentId: "ada", tool: "look", input: {} })
  for (const answer of [{ kind: "approve" }, { kind: "reject" }] as const) {
    const { callId } = await sent()
    await app.approvals.answer(callId, answer, "pat")
    await app.resume(callId)
  }
  await sent()
  await app.call({ agentId: "ada", tool: "run_command", input: { command: "ls" } })
  const { body } = await ask("GET", `/v1/digest?since=${since}`)
  expect(body).toMatchObject({ since, ran: 2, waited: 3, refused: 1, expired: 0 })
  expect((await ask("GET", `/v1/digest?since=${Date.now() + hourMs}`)).body).toMatchObject({ ran: 0, waited: 0 })
})

test("what people approve again and again is suggested as a rule, and the simulation says what it changes", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  app.registry.register(
    tool({ name: "post", effect: "write", touches: () => [{ kind: "write", what: "out.txt" }], execute: () => 1 }),
  )
  const suggestions = async () => (await ask("GET", "/v1/rules/suggestions")).body.items
  for (let times = 0; times < 5; times++) {
    expect(await suggestions()).toEqual([])
    const { callId } = await app.call({ agentId: "ada", tool: "post", input: {} }, { waitMs: 0 })
    await app.approvals.answer(callId, { kind: "approve" }, "pat")
    await app.resume(callId)
  }
  const [suggestion] = await suggestions()
  expect(suggestion).toMatchObject({
    rule: { allow: "post", agent: "ada", touching: ["write:out.txt"] },
    approvals: 5,
    people: ["pat"],
  })
  const simulated = await ask("POST", "/v1/rules/simulate", { rules: [suggestion.rule] })
  expect(simulated).toMatchObject({ status: 200, body: { looked: 5, changed: { length: 5 } } })
  expect(simulated.body.changed[0]).toMatchObject({ tool: "post", before: "ask", after: "allow" })
})

test("a remembered answer is listed, undone by whoever gave it or may manage, and by nobody else", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  await app.org.createPerson({ id: "sue" }, { kind: "person", id: "someone" })
  const { callId } = await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  const answer = { kind: "approve", remember: "tool-session" }
  const answered = await ask("POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer })
  const { grantId } = answered.body
  const grants = async () => (await ask("GET", "/v1/grants")).body.items
  expect(await grants()).toMatchObject([{ id: grantId, agentId: "ada", by: "pat" }])
  const sue = (await signIn("sue", false)).ask
  expect(await sue("DELETE", `/v1/grants/${grantId}`)).toMatchObject({ status: 403, body: { code: "not_your_grant" } })
  expect((await ask("DELETE", `/v1/grants/${grantId}`)).status).toBe(204)
  expect(await grants()).toEqual([])
})

test("an answer says which grant it made, also where one person gives two in the same millisecond", async () => {
  const clock = vi.spyOn(Date, "now")
  onTestFinished(() => clock.mockRestore())
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  const calls = [
    await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 }),
    await app.call({ agentId: "bob", tool: "send", input: {} }, { waitMs: 0 }),
  ]
  clock.mockReturnValue(Date.now())
  const answer = { kind: "approve", remember: "tool-session" }
  const given = await Promise.all(
    calls.map(({ callId }) => ask("POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer })),
  )
  const grants = new Map((await app.approvals.grants()).map((grant) => [grant.id, grant]))
  expect(new Set([...grants.values()].map(({ createdAt }) => createdAt)).size).toBe(1)
  expect(given.map(({ body }) => grants.get(body.grantId)?.agentId)).toEqual(["ada", "bob"])
  const { callId } = await app.call({ agentId: "ada", tool: "send", input: { n: 1 }, sessionId: "s2" }, { waitMs: 0 })
  const once = await ask("POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "approve" } })
  expect(once.body).not.toHaveProperty("grantId")
})

test("a card that offers a rule does not say that nothing wider is offered; one that offers none does", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("someone", true)
  const hintFor = async (tool: string, input: object) => {
    const { callId } = await app.call({ agentId: "ada", tool, input }, { waitMs: 0 })
    const { rule, rememberNothing } = (await ask("GET", `/v1/approvals/${callId}`)).body as Card
    await ask("POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "reject" } })
    return [rule !== undefined, rememberNothing?.code, rememberNothing?.text]
  }
  const offered = "A yes is not remembered, because write_file is sensitive. A rule can allow calls like this one."
  expect(await hintFor("write_file", { path: "a.txt", content: "one" })).toEqual([true, "remember_by_rule", offered])
  const wished = { path: "package.json", content: "{}" }
  expect(await hintFor("write_file", wished)).toEqual([false, "remember_sensitive", expect.stringContaining("Nothing wider is offered")]) // prettier-ignore
})

test("a yes with a rule needs manage, tells the model the note, and lets the next call run", async () => {
  const { app, signIn } = await serving()
  const pat = await signIn("pat", false)
  const { ask } = await signIn("someone", true)
  const write = (content: string) =>
    app.call({ agentId: "ada", tool: "write_file", input: { path: "a.txt", content } }, { waitMs: 0 })
  const { callId } = await write("one")
  const [card] = (await ask("GET", "/v1/approvals")).body.items as Card[]
  expect(card!.rule).toMatchObject({ allow: "write_file", agent: "ada", touching: ["write:a.txt"] })
  const answer = { kind: "approve-with-rule", expiresAt: Date.now() + hourMs, note: "Only this file." }
  const body = { revision: card!.revision, answer }
  expect((await pat.ask("POST", `/v1/approvals/${callId}/answer`, body)).status).toBe(403)
  expect(await ask("POST", `/v1/approvals/${callId}/answer`, body)).toMatchObject({ status: 200, body: { done: true } })
  expect(await app.resume(callId)).toMatchObject({ success: true, approvalNote: "Only this file." })
  expect(await write("two")).toMatchObject({ success: true })
})

test("whoever made a call that others must approve gets a card without an answer", async () => {
  const { app, signIn } = await serving()
  const pat = await signIn("pat", false)
  await app.org.createPerson({ id: "sue", roles: ["lead"] }, { kind: "person", id: "someone" })
  await app.rules.add({ ask: "send", approvers: { role: "lead" }, because: "A lead looks." }, "someone")
  const { body } = await pat.ask("POST", "/v1/tools/send/call", { agentId: "ada", input: {}, wait: 0 })
  const cardFor = async (ask: typeof pat.ask) => (await ask("GET", `/v1/approvals/${body.callId}`)).body as Card
  expect((await cardFor(pat.ask)).mayAnswer).toBe(false)
  const answer = { revision: 1, answer: { kind: "approve" } }
  expect((await pat.ask("POST", `/v1/approvals/${body.callId}/answer`, answer)).status).toBe(422)
  const sue = await signIn("sue", false)
  expect((await cardFor(sue.ask)).mayAnswer).toBe(true)
  expect((await sue.ask("POST", `/v1/approvals/${body.callId}/answer`, answer)).status).toBe(200)
  const nobody = await signIn("someone", true)
  const next = await pat.ask("POST", "/v1/tools/send/call", { agentId: "ada", input: {}, wait: 0, sessionId: "next" })
  expect((await nobody.ask("GET", `/v1/approvals/${next.body.callId}`)).body).toMatchObject({ mayAnswer: false })
})

test("somebody who only reads sees how far an approved call is, and does not run it", async () => {
  const { app, signIn } = await serving({}, [{ id: "ray", scopes: ["read"] }])
  let runs = 0
  app.registry.register(tool({ name: "count", effect: "write", execute: () => ++runs }))
  const ray = await signIn("ray", false)
  const pat = await signIn("pat", false)
  const { callId } = await app.call({ agentId: "ada", tool: "count", input: {} }, { waitMs: 0 })
  expect(await ray.ask("GET", `/v1/calls/${callId}`)).toMatchObject({ status: 202, body: { state: "waiting" } })
  await app.approvals.answer(callId, { kind: "approve" }, "pat")
  expect(await ray.ask("GET", `/v1/calls/${callId}`)).toMatchObject({ status: 202, body: { state: "ready" } })
  expect(runs).toBe(0)
  expect(await pat.ask("GET", `/v1/calls/${callId}?wait=5`)).toMatchObject({ status: 200, body: { result: 1 } })
  expect(await ray.ask("GET", `/v1/calls/${callId}`)).toMatchObject({ status: 200, body: { result: 1 } })
  expect(runs).toBe(1)
})

test("an answer that comes too late says who was first by name, and what they did", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("someone", true)
  const { callId } = await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  await app.approvals.answer(callId, { kind: "approve" }, "pat")
  const first = { code: "answered", by: "pat", name: "Pat", did: "approved" }
  const late = await ask("POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "reject" } })
  expect(late).toMatchObject({ status: 409, body: first })
  expect(await ask("GET", `/v1/approvals/${callId}`)).toMatchObject({ status: 410, body: first })
})

test("where an item stands is told without an error, while it waits and after it ended", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  const submit = async () => (await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })).callId
  const standing = async (callId: string) => {
    const { status, body } = await ask("GET", `/v1/approvals/${callId}/standing`)
    return { status, body: body as unknown }
  }
  const approved = await submit()
  expect(await standing(approved)).toMatchObject({
    status: 200,
    body: { state: "waiting", card: { callId: approved } },
  })
  await app.approvals.answer(approved, { kind: "approve" }, "pat")
  const yes = { state: "answered", by: "pat", name: "Pat", did: "approved" }
  expect(await standing(approved)).toEqual({ status: 200, body: yes })

  const stopping = new AbortController()
  const stopped = app.call({ agentId: "ada", tool: "write_file", input: { path: "a", content: "" }, signal: stopping.signal }) // prettier-ignore
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const [item] = await app.approvals.list()
  stopping.abort()
  await stopped
  expect(await standing(item!.callId)).toEqual({ status: 200, body: { state: "ended" } })
  expect(await standing("nope")).toEqual({ status: 200, body: { state: "unknown" } })
})

test("what two people approved was answered by both, and one of them alone has not answered it", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  await app.rules.add({ ask: "write_file", approvers: { count: 2 }, because: "Two look at it." }, "someone")
  await app.org.createPerson({ id: "sue", name: "Sue Ito" }, { kind: "person", id: "someone" })
  const stopping = new AbortController()
  const calls = ["a.txt", "b.txt"].map((path) =>
    app.call({ agentId: "ada", tool: "write_file", input: { path, content: "x" }, signal: stopping.signal }),
  )
  await until(async () => (await app.approvals.list()).length === 2, "both wait")
  const [one, two] = await app.approvals.list()
  for (const { callId } of [one!, two!]) await app.approvals.answer(callId, { kind: "approve" }, "pat")
  await app.approvals.answer(one!.callId, { kind: "approve" }, "sue")
  await Promise.race(calls)
  stopping.abort()
  await Promise.all(calls)
  const standing = async (callId: string) => (await ask("GET", `/v1/approvals/${callId}/standing`)).body as unknown
  const both = { state: "answered", by: "pat, sue", name: "Pat, Sue Ito", did: "approved" }
  expect(await standing(one!.callId)).toEqual(both)
  expect(await standing(two!.callId)).toEqual({ state: "ended" })
})

test("a host that a call has reached is no new one on the next card", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("someone", true)
  app.registry.register(
    tool({
      name: "reach",
      effect: "network",
      touches: () => [{ kind: "host", what: "https://api.example" }],
      execute: () => 1,
    }),
  )
  const reach = async () => app.call({ agentId: "ada", tool: "reach", input: {} }, { waitMs: 0 })
  const first = await reach()
  await app.approvals.answer(first.callId, { kind: "approve" }, "pat")
  await app.resume(first.callId)
  await app.settle()
  await reach()
  await until(async () => (await app.approvals.list()).length === 1, "the second waits")
  const [card] = (await ask("GET", "/v1/approvals")).body.items as Card[]
  expect(card!.touches).toEqual([{ kind: "host", what: "api.example", reachedBefore: true }])
  expect(card!.risk.tags.map(({ code }) => code)).not.toContain("risk_new_host")
})
