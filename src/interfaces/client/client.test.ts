import { expect, test } from "vitest"
import { serveAppForTest } from "../http/testing.ts"
import { modelOf } from "../../agents/testing/played-model.ts"
import { tool, until } from "../../testing/test-app.ts"
import { createClient, isTicket, QuartermasterProblem, type ServerEvent } from "./client.ts"

const config = {
  org: {
    people: [{ id: "pat", scopes: ["read", "call", "approve", "manage"] }],
    roles: [{ name: "worker", toolGroups: ["test"] }],
    agents: [{ id: "ada", role: "worker" }],
  },
}

/** A served app with a client of agent ada and one of Sue, a person who approves. */
async function serving() {
  const models = { played: modelOf({ say: "Done." }) }
  const { app, served, token } = await serveAppForTest(config as never, {}, { models })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const { token: sues } = await app.org.createPerson({ id: "sue" }, { kind: "person", id: "pat" })
  const baseUrl = served.url
  return {
    app,
    served,
    ada: createClient({ baseUrl, token: await token("ada") }),
    sue: createClient({ baseUrl, token: sues }),
  }
}

test("a call waits until a person has answered, and the answer counts once", async () => {
  const { ada, sue } = await serving()
  expect((await ada.tools.list()).map(({ name }) => name)).toEqual(["send"])
  expect(await ada.why({ tool: "send", input: {} })).toMatchObject({ verdict: "ask" })
  const calling = ada.call("send", {}, { intent: "I say hello." })
  await until(async () => (await sue.approvals.list()).items.length === 1, "it waits")
  const [card] = (await sue.approvals.list()).items
  expect(card).toMatchObject({ tool: "send", intent: "I say hello." })
  expect(await sue.approvals.answer(card!, { kind: "approve" })).toMatchObject({ done: true })
  expect(await calling).toMatchObject({ success: true, result: "sent" })
  await expect(sue.approvals.answer(card!, { kind: "approve" })).rejects.toMatchObject({
    status: 409,
    code: "answered",
  })
  const { items } = await sue.audit.list()
  expect(items).toMatchObject([{ tool: "send", status: "success" }])
  expect((await sue.audit.show(items[0]!.callId)).map(({ kind }) => kind)).toContain("asked")
  expect(await sue.audit.verify(await sue.audit.head())).toMatchObject({ ok: true })
})

test("what the server refuses is thrown with its code and a sentence", async () => {
  const { ada, served } = await serving()
  const error = await ada.approvals.list().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QuartermasterProblem)
  expect(error).toMatchObject({ status: 403, code: "agents_only_call", message: expect.stringMatching(/token\.$/) })
  const nobody = createClient({ baseUrl: served.url, token: "qma_wrong" })
  await expect(nobody.me()).rejects.toMatchObject({ status: 401, code: "not_signed_in" })
  const nowhere = createClient({ baseUrl: "http://127.0.0.1:1" })
  await expect(nowhere.me()).rejects.toMatchObject({ status: 0, code: "no_connection" })
})

test("events go on after a lost connection without losing one", async () => {
  const { app, ada, sue, served } = await serving()
  const stop = new AbortController()
  const events: ServerEvent[] = []
  let lost = 0
  /** Breaks every stream after its first pieces, each a little later than the one before. */
  const breaking: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    if (!String(url).endsWith("/v1/events")) return response
    let pieces = 0
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        if (++pieces <= 1 + lost) return controller.enqueue(piece)
        lost++
        controller.error(new Error("The connection was cut."))
      },
    })
    return new Response(response.body!.pipeThrough(cut), response)
  }
  const { token } = await app.org.createPerson({ id: "tom" }, { kind: "person", id: "pat" })
  const tom = createClient({ baseUrl: served.url, token, fetch: breaking })
  const reading = (async () => {
    for await (const event of tom.events({ signal: stop.signal })) events.push(event)
  })()
  await until(() => events.some(({ type }) => type === "hello"), "the stream is open")
  const calls: string[] = []
  for (let round = 0; round < 6; round++) {
    const ticket = await ada.calls.submit("send", {}, { wait: 0, sessionId: `s${round}` })
    expect(isTicket(ticket)).toBe(true)
    calls.push(ticket.callId)
    await sue.approvals.answer(await sue.approvals.get(ticket.callId), { kind: "reject" })
    expect(await ada.calls.get(ticket.callId, { wait: 5 })).toMatchObject({ code: "approval_rejected" })
  }
  await until(
    () => calls.every((id) => events.some((event) => event.type === "audit" && event.callId === id)),
    "every ending is told",
  )
  expect(lost).toBeGreaterThan(0)
  stop.abort()
  await reading
})

test("a conversation is begun and followed", async () => {
  const { sue } = await serving()
  const { id } = await sue.chains.create({ agentId: "ada", message: "Hello." })
  const kinds: string[] = []
  while (!kinds.includes("end"))
    kinds.push(...(await sue.chains.turns(id, { from: kinds.length, wait: 5 })).items.map(({ kind }) => kind))
  expect(kinds).toEqual(["user", "assistant", "end"])
  expect((await sue.chains.list()).items).toMatchObject([{ id, startedBy: "sue" }])
})

interface Described {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string }[]; requestBody?: unknown }>>
}

test("every method asks for something that the document describes, with its parameters", async () => {
  const { served } = await serving()
  const { paths } = (await (await fetch(`${served.url}/openapi.json`)).json()) as Described
  const asked: { method: string; url: URL; hasBody: boolean }[] = []
  const client = createClient({
    baseUrl: "http://recorded",
    fetch: async (url, init) => {
      asked.push({ method: init!.method!.toLowerCase(), url: new URL(String(url)), hasBody: init!.body !== undefined })
      return new Response("{}", { headers: { "content-type": "application/json" } })
    },
  })
  const filter = { agentId: "a", tool: "t", taskId: "k", status: "success", since: 1, until: 2 }
  const card = { callId: "c", revision: 1 }
  const { request: _any, events, calls, tools, approvals, audit, chains, ...single } = client
  const uses: Record<string, () => unknown> = {
    me: () => single.me(),
    call: () => single.call("t", {}),
    why: () => single.why({ tool: "t" }),
    freeze: () => single.freeze(),
    thaw: () => single.thaw(),
    "tools.list": () => tools.list({ agentId: "a" }),
    "tools.get": () => tools.get("t", { agentId: "a" }),
    "calls.submit": () => calls.submit("t", {}),
    "calls.get": () => calls.get("c", { wait: 1 }),
    "approvals.list": () => approvals.list(),
    "approvals.get": () => approvals.get("c"),
    "approvals.answer": () => approvals.answer(card, { kind: "approve" }),
    "approvals.link": () => approvals.link("c"),
    "audit.list": () => audit.list({ ...filter, limit: 1, cursor: "x" }),
    "audit.show": () => audit.show("c"),
    "audit.charts": () => audit.charts(filter),
    "audit.head": () => audit.head(),
    "audit.verify": () => audit.verify("h"),
    "chains.list": () => chains.list({ agentId: "a", cursor: "x" }),
    "chains.create": () => chains.create({ message: "m" }),
    "chains.get": () => chains.get("c"),
    "chains.turns": () => chains.turns("c", { from: 1, wait: 1 }),
    "chains.say": () => chains.say("c", "m"),
    "chains.resume": () => chains.resume("c"),
    "chains.stop": () => chains.stop("c"),
    events: () => events({ signal: AbortSignal.timeout(100) }).next(),
  }
  const groups = { tools, calls, approvals, audit, chains }
  const named = Object.entries(groups).flatMap(([group, methods]) =>
    Object.keys(methods).map((name) => `${group}.${name}`),
  )
  expect(Object.keys(uses).sort()).toEqual([...Object.keys(single), "events", ...named].sort())
  for (const use of Object.values(uses)) await use()
  expect(asked.length).toBeGreaterThanOrEqual(Object.keys(uses).length)
  for (const { method, url, hasBody } of asked) {
    const path = Object.keys(paths).find((each) => patternOf(each).test(url.pathname) && method in paths[each]!)
    expect({ [`${method} ${url.pathname}`]: path }).not.toEqual({ [`${method} ${url.pathname}`]: undefined })
    const { parameters = [], requestBody } = paths[path!]![method]!
    const known = parameters.filter((each) => each.in === "query").map(({ name }) => name)
    expect(known).toEqual(expect.arrayContaining([...url.searchParams.keys()]))
    expect(requestBody !== undefined).toBe(hasBody)
  }
})

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
}

test("a call that waits survives a lost connection", async () => {
  const { app, served, sue } = await serving()
  const { token } = await app.tokens.create({ agentId: "ada" }, "a test")
  let lost = 0
  const ada = createClient({
    baseUrl: served.url,
    token,
    // The first answer is a ticket, and the server is gone when it is asked about it.
    fetch: (address, init) => {
      if (String(address).includes("/v1/calls/") && lost++ === 0) return Promise.reject(new TypeError("fetch failed"))
      return fetch(String(address).replace("wait=60", "wait=1"), {
        ...init,
        ...(typeof init?.body === "string" ? { body: init.body.replace('"wait":60', '"wait":0') } : {}),
      })
    },
  })
  const calling = ada.call("send", {})
  await until(async () => (await sue.approvals.list()).items.length === 1, "it waits")
  await until(() => lost > 0, "the connection was lost")
  const [card] = (await sue.approvals.list()).items
  await sue.approvals.answer(card!, { kind: "approve" })
  expect(await calling).toMatchObject({ success: true, result: "sent" })
})
