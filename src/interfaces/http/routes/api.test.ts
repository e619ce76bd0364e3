import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { tool, until } from "../../../testing/test-app.ts"
import { modelOf } from "../../../agents/testing/played-model.ts"
import type { ToolContext } from "../../../core/tool.ts"
import type { Card } from "../../../approvals/card/schema.ts"
import { follow, serving } from "./testing.ts"

test("an agent calls a tool with its token, and gets a ticket for what waits", async () => {
  const { app, agent } = await serving()
  const ada = await agent("ada")
  expect(await ada("POST", "/v1/tools/look/call", { input: {} })).toMatchObject({
    status: 200,
    body: { status: "success", result: "seen" },
  })
  const waiting = await ada("POST", "/v1/tools/send/call", { input: {}, wait: 0 })
  expect(waiting).toMatchObject({ status: 202, body: { state: "waiting" } })
  const { callId } = waiting.body
  expect(waiting.headers.get("location")).toBe(`/v1/calls/${callId}`)
  await app.approvals.answer(callId, { kind: "approve" }, "pat")
  expect(await ada("GET", `/v1/calls/${callId}?wait=5`)).toMatchObject({ status: 200, body: { result: "sent" } })
  const bob = await agent("bob")
  expect((await bob("GET", `/v1/calls/${callId}`)).status).toBe(404)
})

test("an idempotency key makes a call once", async () => {
  const { app, agent } = await serving()
  let runs = 0
  app.registry.register(tool({ name: "count", effect: "write", execute: () => ++runs }))
  await app.rules.add({ allow: "count", because: "the test" }, "pat")
  const ada = await agent("ada")
  const body = { input: {}, key: "one" }
  const results = [await ada("POST", "/v1/tools/count/call", body), await ada("POST", "/v1/tools/count/call", body)]
  expect(results.map((each) => each.body.result)).toEqual([1, 1])
})

test("the header Idempotency-Key makes a call once, and another key another call", async () => {
  const { app, served, token } = await serving()
  let runs = 0
  app.registry.register(tool({ name: "count", effect: "write", execute: () => ++runs }))
  await app.rules.add({ allow: "count", because: "the test" }, "pat")
  const headers = {
    authorization: `Bearer ${await token("ada")}`,
    "content-type": "application/json",
    "idempotency-key": "one",
  }
  const call = async (more = {}) => {
    const sent = { method: "POST", headers: { ...headers, ...more }, body: '{"input":{}}' }
    const response = await fetch(`${served.url}/v1/tools/count/call`, sent)
    return ((await response.json()) as { result: number }).result
  }
  expect([await call(), await call(), await call({ "idempotency-key": "two" })]).toEqual([1, 1, 2])
})

test("an artifact is sent as it was stored to the agent that has it, never as a page", async () => {
  const { app, served, token } = await serving()
  app.registry.register(
    tool({
      name: "draw",
      effect: "read",
      execute: async (_input: never, { artifacts }: ToolContext) => ({
        text: await artifacts.put({ type: "note", content: "<b>Hello</b> ü", mimeType: "text/html", meta: null }),
        bytes: await artifacts.put({ type: "image", content: new Uint8Array([0, 255, 7]), meta: null }),
      }),
    }),
  )
  const { result } = (await app.call({ agentId: "ada", tool: "draw", input: {} })) as { result: Record<string, string> }
  const get = async (who: string, ref: string) =>
    fetch(`${served.url}/v1/artifacts/${ref}`, { headers: { authorization: `Bearer ${await token(who)}` } })
  const text = await get("ada", result["text"]!)
  expect(await text.text()).toBe("<b>Hello</b> ü")
  expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8")
  expect(text.headers.get("content-disposition")).toBe("attachment")
  const bytes = await get("ada", result["bytes"]!)
  expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 7])
  expect(bytes.headers.get("content-type")).toBe("application/octet-stream")
  expect((await get("bob", result["text"]!)).status).toBe(404)
})

test("a link signs one person in, once, with a cookie that scripts cannot read", async () => {
  const { signIn, client } = await serving()
  const { ask, setCookie, link } = await signIn("pat", false)
  expect(setCookie).toMatch(/qm_session=[\w-]{43}; .*HttpOnly.*SameSite=Strict/)
  expect(await ask("GET", "/v1/me")).toMatchObject({
    status: 200,
    body: { kind: "person", id: "pat", name: "Pat", roles: ["lead"], scopes: ["read", "call", "approve"] },
  })
  expect(await client({})("POST", "/v1/session", { link })).toMatchObject({ status: 401, body: { code: "bad_link" } })
  expect((await ask("DELETE", "/v1/session")).status).toBe(204)
  expect((await ask("GET", "/v1/me")).status).toBe(401)
})

test("every group comes with its tools, and every role with its groups, so that a page can show both and save a change", async () => {
  const { signIn } = await serving()
  const { ask } = await signIn("pat", true)
  const { body: groups } = await ask("GET", "/v1/groups")
  const artifact = groups.items.find(({ id }: { id: string }) => id === "artifact")
  expect(artifact).toMatchObject({ toolCount: 2, tools: ["put_artifact", "get_artifact"], isReserved: true })
  const { body: role } = await ask("POST", "/v1/roles", { name: "writer", toolGroups: ["workspace"] })
  await ask("PATCH", `/v1/roles/${role.id}`, { toolGroups: ["workspace", "artifact"] })
  const { body: roles } = await ask("GET", "/v1/roles")
  const shown = roles.items.find(({ name }: { name: string }) => name === "writer")
  expect(shown).toMatchObject({ toolGroups: ["workspace", "artifact"] })
})

test("a person's token signs in as that person, and the session ends with the token", async () => {
  const { app, served, client } = await serving()
  const by = { kind: "person", id: "someone" } as const
  const { token } = await app.org.createPerson({ id: "sue", name: "Sue" }, by)
  const signIn = async (given: string) => {
    const headers = { "content-type": "application/json", "x-quartermaster": "1" }
    const body = JSON.stringify({ token: given })
    const response = await fetch(`${served.url}/v1/session`, { method: "POST", headers, body })
    const { secret, code } = (await response.json()) as { secret?: string; code?: string }
    const setCookie = response.headers.get("set-cookie") ?? ""
    const [cookie = ""] = setCookie.split(";")
    return { status: response.status, code, setCookie, cookie, secret: secret ?? "" }
  }
  const begun = await signIn(token)
  expect(begun.setCookie).toMatch(/qm_session=[\w-]{43}; .*HttpOnly.*SameSite=Strict/)
  const { cookie, secret } = begun
  const me = client({ cookie, "x-quartermaster-session": secret })
  expect(await me("GET", "/v1/me")).toMatchObject({ body: { id: "sue", scopes: ["read", "call", "approve"] } })
  expect((await client({ cookie })("GET", "/v1/me")).status).toBe(401)
  const { token: renewed } = await app.org.renewPersonToken("sue", {}, by)
  expect((await me("GET", "/v1/me")).status).toBe(401)
  expect((await signIn(renewed)).status).toBe(200)
  const { token: agents } = await app.tokens.create({ agentId: "ada", name: "x" }, "someone")
  for (const wrong of [token, agents, "", "qmp_", secret])
    expect(await signIn(wrong)).toMatchObject({ status: 401, code: "bad_person_token", setCookie: "" })
})

test("a session ends with its person", async () => {
  const { app, signIn } = await serving()
  await app.org.createPerson({ id: "sue" }, { kind: "person", id: "pat" })
  const { ask } = await signIn("sue", false)
  expect((await ask("GET", "/v1/me")).status).toBe(200)
  await app.org.deletePerson("sue", { kind: "person", id: "pat" })
  expect((await ask("GET", "/v1/me")).status).toBe(401)
})

test.each([
  ["nobody", "GET", "/v1/approvals", 401],
  ["agent", "GET", "/v1/approvals", 403],
  ["agent", "POST", "/v1/freeze", 403],
  ["agent", "GET", "/v1/tools", 200],
  ["person", "GET", "/v1/approvals", 200],
  ["person", "POST", "/v1/roles", 403],
  ["person", "GET", "/v1/tokens", 403],
  ["user", "GET", "/v1/tokens", 200],
  ["user", "POST", "/v1/roles", 201],
] as const)("%s: %s %s is answered with %i", async (who, method, path, status) => {
  const { client, agent, signIn } = await serving()
  const ask =
    who === "nobody"
      ? client({})
      : who === "agent"
        ? await agent("ada")
        : (await signIn(who === "user" ? "someone" : "pat", who === "user")).ask
  const body = method === "POST" ? (path === "/v1/roles" ? { name: "fresh" } : {}) : undefined
  expect((await ask(method, path, body)).status).toBe(status)
})

test.each(["/v1/me", "/v1/approvals", "/v1/events", "/v1/audit/export?format=csv", "/metrics"])(
  "a cookie without the secret of the page reads nothing at %s",
  async (path) => {
    const { signIn, served } = await serving()
    const [pat, max] = [(await signIn("pat", false)).session, (await signIn("me", true)).session]
    const { cookie } = pat
    const incomplete: Record<string, string>[] = [
      { cookie },
      { cookie, "x-quartermaster-session": "" },
      { cookie, "x-quartermaster-session": cookie.split("=")[1]! },
      { cookie, "x-quartermaster-session": max["x-quartermaster-session"] },
      { "x-quartermaster-session": pat["x-quartermaster-session"] },
    ]
    for (const headers of incomplete) expect((await fetch(`${served.url}${path}`, { headers })).status).toBe(401)
    const answer = await fetch(`${served.url}${path}`, { headers: pat })
    await answer.body?.cancel()
    expect(answer.status).toBe(200)
  },
)

test("what another site could send with a session is refused", async () => {
  const { signIn, served } = await serving()
  const { session } = await signIn("pat", false)
  const sent = (headers: Record<string, string>) =>
    fetch(`${served.url}/v1/freeze`, { method: "POST", headers, body: "{}" })
  expect((await sent({ cookie: session.cookie, "x-quartermaster": "1" })).status).toBe(401)
  expect((await sent({ ...session, "content-type": "text/plain" })).status).toBe(415)
  expect((await sent({ ...session, origin: "https://evil.example" })).status).toBe(403)
})

test("the cookie alone does not sign anybody out", async () => {
  const { signIn, client } = await serving()
  const { ask, session } = await signIn("pat", false)
  expect((await client({ cookie: session.cookie })("DELETE", "/v1/session")).status).toBe(204)
  expect((await ask("GET", "/v1/me")).status).toBe(200)
})

test("a card has everything that an approver is shown, and an answer counts for its revision only", async () => {
  const { app, workspace, signIn, agent } = await serving()
  const { ask } = await signIn("pat", false)
  const ada = await agent("ada")
  const input = { path: "notes.md", content: "one\ntwo\n" }
  writeFileSync(join(workspace, "notes.md"), "")
  const running = ada("POST", "/v1/tools/write_file/call", { input, intent: "I keep notes." })
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const { body } = await ask("GET", "/v1/approvals")
  const [card] = body.items as Card[]
  expect(card).toMatchObject({
    kind: "call",
    agent: { id: "ada", role: "worker" },
    tool: "write_file",
    risk: { band: "medium", destructive: false, tags: [{ code: "risk_writes" }] },
    title: { code: "title_change", params: { path: "notes.md" }, text: "Change notes.md" },
    intent: "I keep notes.",
    preview: { kind: "diff", files: [{ path: "notes.md", added: 2, removed: 0 }] },
    touches: [{ kind: "write", what: "notes.md", files: 1, bytes: 0 }],
    files: 1,
    bytes: 8,
    mayAnswer: true,
    remember: [],
    rememberNothing: { code: "remember_by_rule" },
    revision: 1,
  })
  expect(card!.inputSchema).toHaveProperty("properties.path")
  const answer = (revision: number) =>
    ask("POST", `/v1/approvals/${card!.callId}/answer`, { revision, answer: { kind: "reject", reason: "No notes." } })
  expect(await answer(7)).toMatchObject({ status: 409, body: { code: "changed" } })
  expect(await answer(1)).toMatchObject({ status: 200, body: { done: true } })
  expect(await running).toMatchObject({ status: 200, body: { code: "approval_rejected" } })
  const late = { code: "answered", by: "pat" }
  expect(await answer(1)).toMatchObject({ status: 409, body: late })
  expect(await ask("GET", `/v1/approvals/${card!.callId}`)).toMatchObject({ status: 410, body: late })
})

test("a held result is released without the values that a person redacts", async () => {
  const { app, signIn, agent } = await serving()
  const { ask } = await signIn("pat", false)
  const ada = await agent("ada")
  const running = ada("POST", "/v1/tools/leak/call", { input: {} })
  await until(async () => (await app.approvals.list()).length === 1, "it is held")
  const [card] = (await ask("GET", "/v1/approvals")).body.items as Card[]
  expect(card).toMatchObject({ kind: "result", risk: { band: "medium" }, result: { value: { key: "s3cret", n: 1 } } })
  const answer = { kind: "release", redact: ["/key"] }
  await ask("POST", `/v1/approvals/${card!.callId}/answer`, { revision: card!.revision, answer })
  const { body } = await running
  expect(body.result).toMatchObject({ n: 1 })
  expect(JSON.stringify(body)).not.toContain("s3cret")
})

test("people may not call as an agent that can change the organisation, unless they may manage", async () => {
  const { signIn } = await serving()
  const call = { agentId: "root", input: {}, wait: 0 }
  expect((await (await signIn("pat", false)).ask("POST", "/v1/tools/find_role_by_name/call", call)).status).toBe(403)
  expect((await (await signIn("me", true)).ask("POST", "/v1/tools/find_role_by_name/call", call)).status).toBe(200)
})

test("the event stream tells what is stored, and goes on after a cursor", async () => {
  const { app, served, signIn, agent } = await serving()
  const { session } = await signIn("pat", false)
  const stream = (lastEventId?: string) =>
    follow(served.url, { ...session, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) })
  const first = await stream()
  const ada = await agent("ada")
  const { body } = await ada("POST", "/v1/tools/send/call", { input: {}, wait: 0 })
  await until(() => first.text.includes(body.callId), "the call is told")
  expect(first.text).toMatch(/event: call\ndata: .*"state":"waiting"/)
  const ids = [...first.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!)
  first.stop()
  await app.approvals.answer(body.callId, { kind: "reject" }, "pat")
  const second = await stream(ids.at(-1))
  await until(() => second.text.includes(body.callId), "what was missed is told")
  expect((await stream("nonsense")).text).toBeDefined()
  const third = await stream("nonsense")
  await until(() => third.text.includes("event: resync"), "it starts anew")
})

test("an event stream ends with the session that opened it", async () => {
  const { app, served, signIn } = await serving()
  const { session } = await signIn("pat", false)
  const { body } = await fetch(`${served.url}/v1/events`, { headers: session })
  const reader = body!.getReader()
  await reader.read()
  const deleted = { method: "DELETE", headers: { ...session, "x-quartermaster": "1" } }
  expect((await fetch(`${served.url}/v1/session`, deleted)).status).toBe(204)
  await app.call({ agentId: "ada", tool: "send", input: {} }, { waitMs: 0 })
  let told = ""
  for (let part = await reader.read(); !part.done; part = await reader.read())
    told += Buffer.from(part.value).toString()
  expect(told).not.toContain("event: call")
})

test("a conversation is begun, followed, and seen only by whoever began it", async () => {
  const { signIn, agent } = await serving({ played: modelOf({ calls: [{ name: "look" }] }, { say: "Done." }) })
  const { ask } = await signIn("pat", false)
  const begun = await ask("POST", "/v1/chains", { agentId: "ada", message: "Look." })
  expect(begun).toMatchObject({ status: 201, body: { agentId: "ada", startedBy: "pat" } })
  const { id } = begun.body
  const kinds: string[] = []
  while (!kinds.includes("end")) {
    const { body } = await ask("GET", `/v1/chains/${id}/events?from=${kinds.length}&wait=5`)
    kinds.push(...body.items.map(({ kind }: { kind: string }) => kind))
  }
  expect(kinds).toEqual(["user", "assistant", "results", "assistant", "end"])
  expect((await (await agent("bob"))("GET", `/v1/chains/${id}`)).status).toBe(404)
  expect((await (await signIn("me", true)).ask("GET", `/v1/chains/${id}`)).status).toBe(200)
})

test.each([
  ["an agent", 50],
  ["a person", 52],
])(
  "%s begins a conversation with its own limits: an agent cannot exceed those of the configuration",
  async (who, rounds) => {
    const { app, signIn, agent } = await serving({ played: modelOf({ calls: [{ name: "look" }] }) })
    const ask = who === "an agent" ? await agent("ada") : (await signIn("pat", false)).ask
    const limits = { maxRounds: 52, maxCalls: 300 }
    const { body } = await ask("POST", "/v1/chains", { agentId: "ada", message: "Look.", ...limits })
    const ended = async () => (await app.conversations.get(body.id))?.state === "idle"
    await until(ended, "it has reached a limit")
    const turns = await app.conversations.turns(body.id)
    // The answer over the limit is not carried out, and the last one has no calls.
    expect(turns.filter(({ kind }) => kind === "assistant")).toHaveLength(rounds + 2)
  },
)

test("the stack of a tool that broke goes to nobody over HTTP", async () => {
  const { app, signIn, agent } = await serving()
  const execute = () => {
    throw new TypeError("No list.")
  }
  app.registry.register(tool({ name: "breaks", execute }))
  const { callId } = await app.call({ agentId: "operator", tool: "breaks", input: {} })
  const { ask } = await signIn("me", true)
  const shown = await ask("GET", `/v1/audit/${callId}`)
  expect(shown).toMatchObject({ status: 200, body: { items: [{ kind: "start" }, { kind: "end", error: "No list." }] } })
  const called = await (await agent("ada"))("POST", "/v1/tools/breaks/call", { input: {} })
  expect(JSON.stringify([shown, called])).not.toContain("api.test.ts")
})

test("an agent's token begins conversations with the model of its role only; a person chooses", async () => {
  const plain = { plain: modelOf({ say: "Plain." }) }
  const { signIn, agent } = await serving({ ...plain, dear: modelOf({ say: "Dear." }) })
  const ada = await agent("ada")
  const begin = { agentId: "ada", message: "Hello?" }
  expect(await ada("POST", "/v1/chains", { ...begin, model: "dear" })).toMatchObject({
    status: 403,
    body: { code: "other_model" },
  })
  const { ask } = await signIn("pat", false)
  expect((await ask("POST", "/v1/chains", { ...begin, model: "dear" })).status).toBe(201)
  const withDefault = await (await serving(plain)).agent("ada")
  expect((await withDefault("POST", "/v1/chains", { ...begin, model: "plain" })).status).toBe(201)
})

test("a person's message wakes its agent, and the answer comes to user; agents cannot write as one", async () => {
  const { app, signIn, agent } = await serving({ played: modelOf({ say: "Hello, Pat." }) })
  app.society.start()
  const { ask } = await signIn("pat", false)
  const sent = await ask("POST", "/v1/messages", { to: "ada", payload: "Hello?", from: "root", userId: "eve" })
  expect(sent).toMatchObject({ status: 201, body: { from: "user", userId: "pat", to: "ada" } })
  await app.society.answer(sent.body.id)
  const { body } = await ask("GET", "/v1/agents/user/messages")
  expect(body.items).toMatchObject([{ kind: "answer", about: sent.body.id, payload: "Hello, Pat." }])
  const listed = (await ask("GET", "/v1/agents")).body.items
  expect(listed.find(({ id }: { id: string }) => id === "ada")).toMatchObject({ status: "active", activity: "idle" })
  const ada = await agent("ada")
  expect((await ada("POST", "/v1/messages", { to: "bob", payload: "Hello?" })).status).toBe(403)
  expect((await ada("GET", "/v1/agents/user/messages")).status).toBe(404)
})

test("a token that is not known is said to be unknown, and none to be missing", async () => {
  const { client } = await serving()
  const unknown = await client({ authorization: "Bearer qma_nobody" })("GET", "/v1/me")
  expect(unknown).toMatchObject({
    status: 401,
    body: { detail: expect.stringMatching(/^The token is unknown, expired/) },
  })
  const missing = await client({})("GET", "/v1/me")
  expect(missing).toMatchObject({
    status: 401,
    body: { detail: expect.stringMatching(/^Send 'Authorization: Bearer/) },
  })
})

test("a key of the body that is mistyped is named with the one that was meant", async () => {
  const { agent } = await serving()
  const sent = await (await agent("ada"))("POST", "/v1/tools/echo/call", { inpt: {} })
  const detail = "The body has no key 'inpt'. Did you mean 'input'?"
  expect(sent).toMatchObject({ status: 400, body: { code: "invalid_request", detail } })
})

test("where no model is configured, a person's message is refused and not stored", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("pat", false)
  const sent = await ask("POST", "/v1/messages", { to: "ada", payload: "Hello?" })
  expect(sent).toMatchObject({
    status: 422,
    body: { code: "no_model", detail: expect.stringMatching(/^No model is configured/) },
  })
  expect(await app.org.inbox("ada")).toEqual([])
})

test("every endpoint that the documentation names is one of the document", async () => {
  const { signIn } = await serving()
  const { body } = await (await signIn("pat", false)).ask("GET", "/openapi.json")
  const known = new Set(
    Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "{}")}`),
    ),
  )
  const docs = new URL("../../../../docs/", import.meta.url)
  const named = readdirSync(docs)
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => {
      const text = readFileSync(new URL(name, docs), "utf8")
      return [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/{}-]+)/g)].map(
        ([, method, path = ""]) => `${method} ${path.replace(/\/$/, "").replaceAll(/\{\w+\}/g, "{}")}`,
      )
    })
  expect(named.length).toBeGreaterThan(10)
  const isKnown = (one: string) => known.has(one) || known.has(one.replace(/\/tools\/[\w-]+\/call/, "/tools/{}/call"))
  expect(named.filter((one) => !isKnown(one))).toEqual([])
})

test("the document describes every endpoint, and metrics count calls", async () => {
  const { signIn, agent, served } = await serving()
  await (
    await agent("ada")
  )("POST", "/v1/tools/look/call", { input: {} })
  const { ask, session } = await signIn("pat", false)
  const { body } = await ask("GET", "/openapi.json")
  expect(body.openapi).toBe("3.1.0")
  expect(Object.keys(body.paths).length).toBeGreaterThan(40)
  const response = await fetch(`${served.url}/metrics`, { headers: session })
  expect(response.headers.get("content-type")).toContain("text/plain")
  expect(await response.text()).toMatch(/quartermaster_calls_total\{ending="success"\} \d/)
})

test.each([
  ["no JSON", "{", 400, "invalid_json"],
  ["a wrong type", '{"revision":"x","answer":{"kind":"approve"}}', 400, "invalid_request"],
  ["an unknown answer", '{"revision":1,"answer":{"kind":"maybe"}}', 400, "invalid_request"],
  ["nothing", "", 400, "invalid_request"],
])("%s as an answer is a problem with a sentence", async (_what, text, status, code) => {
  const { signIn, served } = await serving()
  const { session } = await signIn("pat", false)
  const headers = { ...session, "x-quartermaster": "1", "content-type": "application/json" }
  const response = await fetch(`${served.url}/v1/approvals/x/answer`, { method: "POST", headers, body: text })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ status, code, detail: expect.stringMatching(/\.?$/) })
})

test("a client that stops listening does not take its call back", async () => {
  const { app, served, signIn } = await serving()
  const { ask, session } = await signIn("me", true)
  const { body } = await ask("POST", "/v1/tools/send/call", { agentId: "ada", input: {}, wait: 0 })
  const path = `/v1/calls/${body.callId}`
  const leaving = new AbortController()
  const left = fetch(`${served.url}${path}?wait=60`, { headers: session, signal: leaving.signal }).catch(() => "left")
  await new Promise((resolve) => setTimeout(resolve, 200))
  leaving.abort()
  expect(await left).toBe("left")
  expect(await ask("GET", path)).toMatchObject({ status: 202, body: { state: "waiting" } })
  await app.approvals.answer(body.callId, { kind: "approve" }, "pat")
  expect(await ask("GET", `${path}?wait=5`)).toMatchObject({ status: 200, body: { result: "sent" } })
})

test("a call whose result is not kept is found in the audit log", async () => {
  const { signIn } = await serving()
  const { ask } = await signIn("me", true)
  const { body } = await ask("POST", "/v1/tools/look/call", { agentId: "ada", input: {} })
  const gone = await ask("GET", `/v1/calls/${body.callId}`)
  expect(gone).toMatchObject({ status: 404, body: { code: "result_not_kept" } })
  expect(gone.body.detail).toContain(`/v1/audit/${body.callId}`)
  expect(await ask("GET", `/v1/audit/${body.callId}`)).toMatchObject({ status: 200, body: { items: [{}, {}] } })
})

test("a list of ended calls says what each was about, who answered and how long it waited", async () => {
  const { app, signIn } = await serving()
  const { ask } = await signIn("me", true)
  await ask("POST", "/v1/tools/look/call", { agentId: "ada", input: {} })
  const sent = await ask("POST", "/v1/tools/send/call", { agentId: "ada", input: {}, wait: 0 })
  await app.approvals.answer(sent.body.callId, { kind: "approve" }, "pat")
  await ask("GET", `/v1/calls/${sent.body.callId}?wait=5`)
  await ask("POST", "/v1/tools/read_file/call", { agentId: "ada", input: { path: "no/such.txt" } })
  const { body } = await ask("GET", "/v1/audit")
  expect(body.items).toMatchObject([
    { tool: "read_file", summary: "no/such.txt" },
    { tool: "send", asked: true, held: false, by: "pat", waitedMs: expect.any(Number) },
    { tool: "look", ran: true, asked: false, held: false, summary: "" },
  ])
  expect(body.items[2]).not.toHaveProperty("waitedMs")

  const charts = await ask("GET", "/v1/audit/charts")
  expect(charts.body).toMatchObject({ waits: [{ upTo: 10_000, count: 1 }, {}, {}, {}, { upTo: null }], expired: 0 })
  const once = { count: 1, p50: expect.any(Number) }
  expect(charts.body.waitsBy).toEqual({ tools: [{ name: "send", ...once }], agents: [{ name: "ada", ...once }] })
  const failed = await ask("GET", "/v1/audit/charts?status=tool_failed")
  expect(failed.body).toMatchObject({ waitsBy: { tools: [], agents: [] } })
  const ofBob = await ask("GET", "/v1/audit/charts?agentId=bob")
  expect(ofBob.body).toMatchObject({ total: { p50: null, waitP50: null }, waits: [{ count: 0 }, {}, {}, {}, {}] })
})

test("the export is also CSV, with a line for the names of the columns", async () => {
  const { served, signIn } = await serving()
  const { ask, session } = await signIn("me", true)
  await ask("POST", "/v1/tools/look/call", { agentId: "ada", input: {} })
  const response = await fetch(`${served.url}/v1/audit/export?format=csv`, { headers: session })
  expect(response.headers.get("content-type")).toContain("text/csv")
  const [names, call] = (await response.text()).split("\r\n")
  expect(names).toMatch(/^callId,at,agentId,role,tool,/)
  expect(call).toContain(",ada,worker,look,")
})
