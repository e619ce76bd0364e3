import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { modelOf, playedModel } from "../../../agents/testing/played-model.ts"
import type { LanguageModel, ModelPart } from "../../../agents/models/port.ts"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"
import type { AnswerPieceJson, BranchedJson, ChainSideJson, ChainViewJson, ConversationJson } from "./chain-schemas.ts"

const people = [
  { id: "ada", name: "Ada", scopes: ["read", "call", "approve"] },
  { id: "bob", scopes: ["read", "call", "approve"] },
  { id: "max", scopes: ["read", "call", "approve", "manage"] },
]
const config = {
  org: { people, roles: [{ name: "dev", toolGroups: ["test", "workspace"] }], agents: [{ id: "dan", role: "dev" }] },
  rules: [
    { allow: "write_file", because: "the test" },
    { allow: "edit_file", because: "the test" },
  ],
}

/** A model that writes what the test gives it, piece by piece. */
function writtenByHand(more: Partial<LanguageModel> = {}) {
  const parts: ModelPart[] = []
  let isOver = false
  let wake: () => void = () => {}
  const push = (part: ModelPart | undefined) => {
    if (part === undefined) isOver = true
    else parts.push(part)
    wake()
  }
  const model: LanguageModel = {
    name: "played",
    provider: "played",
    modelId: "played",
    ...more,
    async *stream() {
      for (let next = 0; ;) {
        if (next < parts.length) yield parts[next++]!
        else if (isOver) break
        else await new Promise<void>((resolve) => (wake = resolve))
      }
      yield { type: "finish", reason: "stop" }
    },
  }
  return {
    model,
    say: (text: string) => push({ type: "text", block: "1", text }),
    think: (text: string) => push({ type: "reasoning", block: "0", text }),
    end: () => push(undefined),
  }
}

// The test says which shape it expects of each answer.
/* oxlint-disable typescript/no-unnecessary-type-parameters */
interface Client {
  <T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }>
  headers: Record<string, string>
}

async function serving(models: Record<string, LanguageModel>, more: object = {}) {
  const workspace = temporaryFolder()
  const { app, served } = await serveAppForTest({ ...config, ...more } as never, {}, { models, workspace })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  app.registry.register(tool({ name: "look", effect: "read", execute: () => "seen" }))
  const client = async (person: string): Promise<Client> => {
    const headers = await sessionHeaders(app, person)
    const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => {
      const isBytes = body instanceof Uint8Array
      const response = await fetch(`${served.url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && !isBytes && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as T }
    }
    return Object.assign(ask, { headers })
  }
  const [ada, bob, max] = [await client("ada"), await client("bob"), await client("max")]
  const begin = async (message: string) =>
    (await ada<ConversationJson>("POST", "/v1/chains", { agentId: "dan", message })).body
  const view = async (id: string, query = "", ask: Client = ada) =>
    (await ask<ChainViewJson>("GET", `/v1/chains/${id}/view${query}`)).body
  const isOver = (id: string) =>
    until(async () => (await app.conversations.get(id))?.state === "idle", "the run is over")
  return { app, served, workspace, ada, bob, max, begin, view, isOver }
}

/** Reads the event stream. With `isPaused` nothing is read until it is set to false. */
async function listening(url: string, headers: Record<string, string>) {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const response = await fetch(`${url}/v1/events`, { headers, signal: stop.signal })
  const events: { event: string; data: unknown }[] = []
  void (async () => {
    let rest = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n\n")
      rest = blocks.pop()!
      for (const block of blocks) {
        const field = (name: string) =>
          block
            .split("\n")
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2)
        const event = field("event")
        if (event !== undefined) events.push({ event, data: JSON.parse(field("data") ?? "{}") })
      }
    }
  })().catch(() => {})
  await until(() => events.some(({ event }) => event === "hello"), "the stream is open")
  const pieces = () => events.flatMap(({ event, data }) => (event === "answer" ? [data as AnswerPieceJson] : []))
  /** Returns the text that a client has put together, by the rule that the contract states. */
  const text = (part: "text" | "reasoning") =>
    pieces()
      .filter((piece) => piece.part === part)
      .reduce((known, piece) => {
        expect(piece.offset).toBeLessThanOrEqual(known.length)
        return known.slice(0, piece.offset) + piece.text
      }, "")
  return { events, pieces, text }
}

test("an answer is told piece by piece, to whoever may see the conversation, and is found whole at any moment", async () => {
  const { model, say, think, end } = writtenByHand()
  const { served, ada, bob, max, begin, view, isOver } = await serving({ played: model })
  const [hers, his, manager] = [
    await listening(served.url, ada.headers),
    await listening(served.url, bob.headers),
    await listening(served.url, max.headers),
  ]
  const { id } = await begin("Tell me.")
  think("I think ")
  say("The answer ")
  await until(() => hers.text("text") === "The answer ", "the first piece came")
  const late = await listening(served.url, ada.headers)
  const { body } = await ada("GET", `/v1/chains/${id}/unfinished`)
  expect(body).toMatchObject({
    unfinished: { turn: 1, interrupted: false, text: "The answer ", reasoning: "I think " },
  })
  expect(await view(id)).toMatchObject({ unfinished: { text: "The answer " }, items: [{ kind: "message" }] })
  say("is <b>42</b>\u202e.")
  await until(() => late.text("text").endsWith("."), "who came late has all of it")
  await until(() => manager.text("text").endsWith("."), "who may manage has all of it")
  expect([hers.text("text"), late.text("text")]).toEqual(Array(2).fill("The answer is <b>42</b>\u202e."))
  expect(hers.text("reasoning")).toBe("I think ")
  expect(his.pieces()).toEqual([])
  expect(await bob("GET", `/v1/chains/${id}/unfinished`)).toMatchObject({ status: 404 })
  end()
  await isOver(id)
  const { unfinished, items } = await view(id)
  expect(unfinished).toBeUndefined()
  expect(items).toMatchObject([
    { kind: "message", by: "ada", name: "Ada", from: "person", begins: true },
    { kind: "answer", asked: 1, text: "The answer is <b>42</b>\u202e.", reasoning: "I think ", interrupted: false },
    { kind: "note", note: "completed" },
  ])
})

test("a model that fails and is asked again begins a new attempt, and what came before does not count", async () => {
  let asked = 0
  const [failing, done] = [deferred(), deferred()]
  const model: LanguageModel = {
    name: "played",
    provider: "played",
    modelId: "played",
    async *stream() {
      const isFirst = ++asked === 1
      yield { type: "text", block: "1", text: isFirst ? "Wrong" : "Right" }
      await (isFirst ? failing : done).promise
      if (!isFirst) yield { type: "finish", reason: "stop" }
    },
  }
  const { served, ada, begin, isOver } = await serving({ played: model })
  const stream = await listening(served.url, ada.headers)
  const { id } = await begin("Go.")
  await until(() => stream.text("text") === "Wrong", "the first attempt is told")
  failing.resolve()
  await until(() => stream.text("text") === "Right", "the second attempt is told")
  done.resolve()
  await isOver(id)
  const [first, second] = stream.pieces()
  expect([first!.interrupted, second!.interrupted]).toEqual([false, true])
  expect(second).toMatchObject({ turn: first!.turn, attempt: first!.attempt + 1, offset: 0 })
})

test("the list has titles, states and previews, finds texts, and is each person's own", async () => {
  const models = {
    played: playedModel(({ messages }) =>
      JSON.stringify(messages).includes("fail") ? Promise.reject(new Error("No.")) : { say: "Twelve apples." },
    ),
  }
  const { ada, bob, max, begin, isOver } = await serving(models)
  const one = await begin("Count\n the   apples, please.")
  await isOver(one.id)
  const two = await begin("This will fail.")
  await isOver(two.id)
  const list = async (ask: Client, query = "") =>
    (await ask<{ items: ConversationJson[]; cursor?: string }>("GET", `/v1/chains${query}`)).body
  expect((await list(ada)).items).toMatchObject([
    { id: two.id, title: "This will fail.", shown: "failed", elsewhere: false },
    { id: one.id, title: "Count the apples, please.", preview: "Twelve apples.", shown: "done", agentId: "dan" },
  ])
  expect([(await list(bob)).items, (await list(max, "?mine=true")).items]).toEqual([[], []])
  expect((await list(max)).items).toHaveLength(2)
  expect((await list(ada, "?search=TWELVE")).items).toMatchObject([{ id: one.id }])
  expect((await list(ada, "?state=failed")).items).toMatchObject([{ id: two.id }])
  const { items, cursor } = await list(ada, "?limit=1")
  expect((await list(ada, `?limit=1&cursor=${cursor}`)).items[0]?.id).not.toBe(items[0]?.id)

  expect(await ada("PATCH", `/v1/chains/${one.id}`, { title: " Apples \n" })).toMatchObject({
    body: { title: "Apples" },
  })
  expect((await list(ada, "?search=apples")).items.map(({ id }) => id)).toContain(one.id)
  expect((await bob("DELETE", `/v1/chains/${one.id}`)).status).toBe(404)
  expect((await ada("DELETE", `/v1/chains/${one.id}`)).status).toBe(204)
  expect((await list(ada)).items).toMatchObject([{ id: two.id }])
  expect((await ada("GET", `/v1/chains/${one.id}/view`)).status).toBe(404)
})

test("calls are rows with where they stand and what they touch; one that waits names its card, also in the list", async () => {
  const model = modelOf(
    { say: "I look.", calls: [{ name: "look" }, { name: "send" }, { name: "nothing_like_it" }] },
    { say: "Done." },
  )
  const { app, served, ada, begin, view, isOver } = await serving({ played: model })
  const stream = await listening(served.url, ada.headers)
  const { id } = await begin("Go.")
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const [item] = await app.approvals.list()
  await until(async () => (await view(id)).items.length === 2, "the answer is stored")
  const waiting = (await view(id)).items[1]
  expect(waiting).toMatchObject({
    kind: "answer",
    calls: [
      { tool: "look", state: "ended", asked: false },
      { tool: "send", state: "waiting", asked: true, card: item!.callId, callId: item!.callId },
      { tool: "nothing_like_it" },
    ],
  })
  expect((await ada("GET", "/v1/chains?state=waiting")).body).toMatchObject({ items: [{ id, shown: "waiting" }] })
  expect((await ada("DELETE", `/v1/chains/${id}`)).body).toMatchObject({ status: 409, code: "conversation_at_work" })
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ada")
  await isOver(id)
  expect((await view(id)).items[1]).toMatchObject({
    calls: [
      { tool: "look", state: "ended", status: "success", ran: true, asked: false, result: "seen" },
      {
        tool: "send",
        state: "ended",
        status: "success",
        ran: true,
        asked: true,
        by: "Ada",
        title: { code: "title_call" },
      },
      { tool: "nothing_like_it", state: "ended", status: "not_found", ran: false },
    ],
  })
  await until(
    () => stream.events.some(({ event, data }) => event === "turn" && (data as { kind: string }).kind === "end"),
    "told",
  )
})

test("what is said while it works is queued, is taken back before it is read, and not after", async () => {
  const [first, second] = [deferred(), deferred()]
  const model = playedModel(async ({ messages }, round) => {
    if (round === 0) await first.promise
    if (round === 1) await second.promise
    return round === 0
      ? { calls: [{ name: "look" }] }
      : { say: String(messages.filter(({ role }) => role === "user").length) }
  })
  const { app, ada, begin, view, isOver } = await serving({ played: model })
  const { id } = await begin("Go.")
  await until(() => model.requests.length === 1, "the model is asked")
  const say = async (message: string) =>
    (await ada<{ index: number; queued: boolean }>("POST", `/v1/chains/${id}/messages`, { message })).body
  const [taken, read] = [await say("Not this."), await say("But this.")]
  expect([taken.queued, read.queued]).toEqual([true, true])
  expect(await view(id)).toMatchObject({
    queued: [{ text: "Not this.", by: "ada" }, { text: "But this." }],
    items: [{}],
  })
  expect((await ada("DELETE", `/v1/chains/${id}/messages/${taken.index}`)).status).toBe(204)
  expect((await view(id)).queued).toMatchObject([{ text: "But this." }])
  first.resolve()
  await until(() => model.requests.length === 2, "the model is asked again")
  expect(await ada("DELETE", `/v1/chains/${id}/messages/${read.index}`)).toMatchObject({
    status: 409,
    body: { code: "already_read" },
  })
  expect((await ada("DELETE", `/v1/chains/${id}/messages/0`)).status).toBe(404)
  expect((await view(id)).queued).toEqual([])
  second.resolve()
  await isOver(id)
  expect(JSON.stringify(model.requests)).not.toContain("Not this.")
  expect((await app.conversations.turns(id)).filter(({ kind }) => kind === "assistant")).toHaveLength(2)
  expect((await view(id)).items).toMatchObject([
    { text: "Go." },
    { text: "But this." },
    { kind: "answer" },
    { text: "2" },
    {},
  ])
})

test("a message is either taken back or read, however close together", async () => {
  const outcomes = new Set<number>()
  for (let tries = 0; tries < 12; tries++) {
    const [go, answered] = [deferred(), deferred()]
    const model = playedModel(async (_request, round) => {
      await (round === 0 ? go : answered).promise
      return round === 0 ? { calls: [{ name: "look" }] } : { say: "Done." }
    })
    const { ada, begin, isOver } = await serving({ played: model })
    const { id } = await begin("Go.")
    await until(() => model.requests.length === 1, "the model is asked")
    const { body } = await ada<{ index: number }>("POST", `/v1/chains/${id}/messages`, { message: "Secret." })
    go.resolve()
    for (let wait = 0; wait < tries; wait++) await new Promise((resolve) => setImmediate(resolve))
    const { status } = await ada("DELETE", `/v1/chains/${id}/messages/${body.index}`)
    answered.resolve()
    await isOver(id)
    outcomes.add(status)
    expect(JSON.stringify(model.requests).includes("Secret.")).toBe(status === 409)
  }
  expect([...outcomes].every((status) => status === 204 || status === 409)).toBe(true)
})

test("an edited message begins a branch that has what came before, and says which calls stay done", async () => {
  const model = modelOf(
    { say: "First." },
    { calls: [{ name: "write_file", input: { path: "a.txt", content: "x" } }, { name: "look" }] },
    { say: "Written." },
    { say: "Other." },
  )
  const { app, ada, bob, begin, view, isOver } = await serving({ played: model })
  const { id } = await begin("One.")
  await isOver(id)
  await ada("POST", `/v1/chains/${id}/messages`, { message: "Write it." })
  await isOver(id)
  expect((await bob("POST", `/v1/chains/${id}/branch`, { message: "Other way." })).status).toBe(404)
  expect((await ada("POST", `/v1/chains/${id}/branch`, { message: "x", index: 1 })).body).toMatchObject({
    code: "branch_not_a_message",
  })
  const { status, body } = await ada<BranchedJson>("POST", `/v1/chains/${id}/branch`, { message: "Other way." })
  expect(status).toBe(201)
  expect(body.branchOf).toEqual({ id, index: 3 })
  expect(body.stays).toMatchObject([
    { tool: "write_file", ok: true, title: { code: "title_change", params: { path: "a.txt" } } },
  ])
  await isOver(body.id)
  const texts = (await view(body.id)).items.map((item) => ("text" in item ? item.text : ""))
  expect(texts).toEqual(["One.", "First.", "", "Other way.", "Other.", ""])
  const answers = (await view(body.id)).items.filter((item) => item.kind === "answer")
  expect(answers.map(({ interrupted }) => interrupted)).toEqual([false, false])
  expect((await view(id)).branches).toEqual([{ id: body.id, title: "One.", index: 3 }])
  expect((await app.conversations.turns(id)).filter(({ kind }) => kind === "user")).toHaveLength(2)
})

test("a file is attached by a recorded call with the guards' checks, and never over another one unasked", async () => {
  const { app, workspace, ada, begin, isOver } = await serving({ played: modelOf({ say: "Hello." }) })
  const { id } = await begin("Hello.")
  await isOver(id)
  const attach = (path: string, bytes: string | Uint8Array, more = "") =>
    ada<{ callId: string; waits: boolean; code?: string }>(
      "POST",
      `/v1/chains/${id}/files?path=${encodeURIComponent(path)}${more}`,
      Buffer.from(bytes),
    )
  const { status, body } = await attach("notes/a.txt", "Hello, 世界.")
  expect([status, body.waits]).toEqual([201, false])
  expect(readFileSync(join(workspace, "notes/a.txt"), "utf8")).toBe("Hello, 世界.")
  await app.settle()
  expect(await app.audit.show(body.callId)).toContainEqual(
    expect.objectContaining({ kind: "start", agentId: "dan", userId: "ada", sessionId: id }),
  )
  expect(await attach("notes/a.txt", "Other.")).toMatchObject({ status: 409, body: { code: "file_exists" } })
  expect((await attach("notes/a.txt", "Other.", "&overwrite=true")).status).toBe(201)
  expect(readFileSync(join(workspace, "notes/a.txt"), "utf8")).toBe("Other.")
  const bytes = new Uint8Array([0, 255, 254, 1])
  expect((await attach("b.bin", bytes)).status).toBe(201)
  expect([...readFileSync(join(workspace, "b.bin"))]).toEqual([...bytes])
  expect((await attach("../out.txt", "x")).status).toBe(403)
  expect((await attach("", "x")).status).toBe(400)
})

test("a run that was stopped is resumed when a person asks for it", async () => {
  const model = playedModel((_request, round) => (round === 0 ? new Promise(() => {}) : { say: "The whole." }))
  const { ada, begin, view, isOver } = await serving({ played: model })
  const { id } = await begin("Hello.")
  await until(() => model.requests.length === 1, "the model is asked")
  await ada("POST", `/v1/chains/${id}/stop`)
  await isOver(id)
  expect(await view(id)).toMatchObject({
    conversation: { shown: "stopped" },
    items: [{}, { note: "stopped", name: "Ada" }],
  })
  await ada("POST", `/v1/chains/${id}/resume`)
  await until(async () => (await view(id)).conversation.shown === "done", "it has answered")
  expect((await view(id)).items).toContainEqual(expect.objectContaining({ kind: "answer", text: "The whole." }))
  expect(model.requests).toHaveLength(2)
})

test.each([
  ["is written by the yes of whoever attaches it", undefined, 201],
  ["waits in the conversation where somebody else must agree, and is written then", { count: 1 }, 202],
])("a file that must be approved %s", async (_, approvers, status) => {
  const rules = [{ ask: "edit_file", approvers, because: "Somebody looks at files." }]
  const { app, workspace, ada, begin, view, isOver } = await serving({ played: modelOf({ say: "Hello." }) }, { rules })
  const { id } = await begin("Hello.")
  await isOver(id)
  const attached = await ada<{ callId: string }>("POST", `/v1/chains/${id}/files?path=a.txt`, Buffer.from("x"))
  expect(attached.status).toBe(status)
  const { callId } = attached.body
  if (status === 202) {
    expect(await view(id)).toMatchObject({
      conversation: { shown: "waiting" },
      waitingBelow: [{ card: callId, depth: 0 }],
    })
    await app.approvals.answer(callId, { kind: "approve" }, "bob")
    await until(() => existsSync(join(workspace, "a.txt")), "it is written")
  }
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("x")
  expect((await view(id)).waitingBelow).toEqual([])
  await app.settle()
  expect((await app.audit.show(callId)).filter(({ kind }) => kind === "answered")).toHaveLength(1)
})

test("pictures go to models that see, are shown by reference, and are refused for others", async () => {
  const seeing = modelOf({ say: "A dot." })
  const models = { played: { ...seeing, seesImages: true }, blind: { ...modelOf({ say: "What?" }), name: "blind" } }
  const { served, ada, bob, begin, view, isOver } = await serving(models, { models: { default: "played" } })
  const { id } = await begin("Hello.")
  await isOver(id)
  const image = { mimeType: "image/png", data: Buffer.from("not really").toString("base64") }
  const say = () => ada("POST", `/v1/chains/${id}/messages`, { message: "What is this?", images: [image] })
  expect((await say()).status).toBe(202)
  await isOver(id)
  expect(seeing.requests.at(-1)!.messages.at(-1)).toEqual({ role: "user", content: "What is this?", images: [image] })
  const message = (await view(id)).items.find((item) => item.kind === "message" && item.images.length > 0)
  const href = message?.kind === "message" ? message.images[0]!.href : ""
  const got = await fetch(`${served.url}${href}`, { headers: ada.headers })
  expect([got.headers.get("content-type"), await got.text()]).toEqual(["image/png", "not really"])
  expect((await fetch(`${served.url}${href}`, { headers: bob.headers })).status).toBe(404)
  expect((await ada("PATCH", `/v1/chains/${id}`, { model: "blind" })).status).toBe(200)
  expect((await say()).body).toMatchObject({ status: 422, code: "model_sees_no_images" })
  expect((await ada("PATCH", `/v1/chains/${id}`, { model: "none" })).status).toBe(404)
})

test("the side has model, mode, budget, context and what changed against the start", async () => {
  const calls = [
    { name: "write_file", input: { path: "new.txt", content: "one\ntwo\n" } },
    { name: "edit_file", input: { path: "old.txt", oldText: "b", newText: "B" } },
  ]
  const model = modelOf(
    { calls },
    { calls: [{ name: "edit_file", input: { path: "new.txt", oldText: "two", newText: "2" } }] },
    { say: "Done." },
  )
  const other = { ...modelOf({ say: "I am the other." }), name: "other" }
  const { workspace, ada, begin, isOver } = await serving(
    { played: model, other },
    { models: { default: "played" }, agents: { maxCost: 5, maxTokens: 10_000 } },
  )
  writeFileSync(join(workspace, "old.txt"), "a\nb\nc\n")
  const { id } = await begin("Change them.")
  await isOver(id)
  const side = async () => (await ada<ChainSideJson>("GET", `/v1/chains/${id}/side`)).body
  const found = await side()
  expect(found).toMatchObject({
    agentId: "dan",
    role: "dev",
    model: { name: "played", next: "played", seesImages: false },
    mode: "ask",
    rounds: { used: 2 },
    budget: { cost: { used: 0, max: 5 }, tokens: { used: 45, max: 10_000 }, calls: { used: 3 } },
    context: { status: "normal", thresholds: { warning: 0.7 } },
    below: [],
  })
  expect(found.changed).toMatchObject([
    { path: "new.txt", added: 2, removed: 0, deleted: false },
    { path: "old.txt", added: 1, removed: 1 },
  ])
  expect(found.changed[0]!.diff).toContain("+one\n+2\n")
  expect(found.changed[1]!.diff).toContain("-b\n+B\n")
  await ada("PATCH", `/v1/chains/${id}`, { model: "other" })
  expect((await side()).model).toMatchObject({ name: "played", next: "other" })
  await ada("POST", `/v1/chains/${id}/messages`, { message: "Who are you?" })
  await isOver(id)
  expect((await side()).model).toMatchObject({ name: "other", next: "other" })
})

test("a long conversation is shown from its end, page by page, and long texts are cut with their length", async () => {
  const { app, ada, begin, view, isOver } = await serving({
    played: modelOf({ say: "x".repeat(1_000_000) }, { say: "Short." }),
  })
  const { id } = await begin("0")
  await isOver(id)
  for (let round = 1; round < 8; round++) {
    await app.conversations.tell(id, String(round), { by: "ada", userId: "ada" })
    await isOver(id)
  }
  const seen: number[] = []
  let cursor = ""
  for (;;) {
    const page = await view(id, `?limit=5${cursor}`)
    seen.unshift(...page.items.map(({ index }) => index))
    if (page.before === undefined) break
    cursor = `&before=${page.before}`
  }
  expect(seen).toEqual(Array.from({ length: 24 }, (_, index) => index))
  const [, answer] = (await view(id, "?limit=200")).items
  expect(answer).toMatchObject({ cut: 1_000_000 })
  expect(answer?.kind === "answer" && answer.text.length).toBe(20_000)
  const whole = await ada<{ text: string }>("GET", `/v1/chains/${id}/turns/1`)
  expect(whole.body.text).toHaveLength(1_000_000)
  expect((await ada("GET", `/v1/chains/${id}/turns/99`)).status).toBe(404)
})

test("a conversation that another process runs says so, and has finished turns only", async () => {
  const { model, say } = writtenByHand()
  const { app, ada, view } = await serving({ played: modelOf({ say: "Here." }) })
  const { dir } = app as unknown as { dir: string }
  const other = await openTestApp({ ...config, data: { dir } } as never, { models: { played: model } })
  const chain = other.chain("dan", { durable: true, userId: "ada" })
  const running = chain.run("Elsewhere.")
  say("Written there.")
  await until(() => other.conversations.answers.get(chain.id)?.text === "Written there.", "it is written")
  // Both apps are one process here: another owner of it counts as alive.
  const { conversation, unfinished, items } = await view(chain.id)
  expect([conversation.elsewhere, unfinished, items.length]).toEqual([true, undefined, 1])
  expect((await ada("GET", "/v1/chains")).body).toMatchObject({
    items: [{ id: chain.id, elsewhere: true, shown: "working" }],
  })
  chain.stop()
  await running
  expect((await view(chain.id)).conversation.elsewhere).toBe(false)
})
