import type { Client } from "@modelcontextprotocol/client"
import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Ticket } from "../../core/result.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import { OpenCall } from "./open-call.ts"
import { OpenCalls } from "./open-calls.ts"
import { seal, unseal } from "./seal.ts"
import { connectClient, openEndpoint, textOf } from "./testing.ts"
import { callFingerprint } from "./tickets.ts"

const clientOptions = {
  capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  inputRequired: { autoFulfill: false },
}
const yes = { action: "accept", content: { decision: "once" } }

const forms = { shows: () => true, fastestMs: 0 }

interface Reply {
  resultType?: string
  inputRequests: Record<string, { method: string; params?: Record<string, unknown> }>
  requestState: string
  content?: unknown[]
}

/** Sends one request of a call, without the client's own handling of input requests. */
async function send(client: Client, params: Record<string, unknown>): Promise<Reply> {
  const result = await client.request({ method: "tools/call", params } as never, { allowInputRequired: true } as never)
  return result as unknown as Reply
}

const keysOf = ({ inputRequests }: Reply) => Object.keys(inputRequests)
const answered = (question: Reply, answer: unknown = yes) => ({
  requestState: question.requestState,
  inputResponses: Object.fromEntries(keysOf(question).map((key) => [key, answer])),
})

async function openGuardedApp(dir?: string) {
  const app = await openTestApp(dir === undefined ? {} : { data: { dir } })
  const ran: unknown[] = []
  app.registry.register(
    tool({
      permission: { level: "sensitive" },
      input: z.object({ n: z.number() }) as never,
      execute: (input) => {
        ran.push(input)
        return "ran"
      },
    }),
  )
  return { app, ran }
}

const call = { name: "probe", arguments: { n: 1 } }

test("a call continues in memory between two requests, and ends with the answer", async () => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  expect(asked.resultType).toBe("input_required")
  expect(Object.values(asked.inputRequests)).toMatchObject([{ method: "elicitation/create", params: { mode: "form" } }])
  expect(ran).toEqual([])
  expect(textOf(await send(client, { ...call, ...answered(asked) }))).toBe("ran")
  expect(ran).toEqual([{ n: 1 }])
})

test("a state is valid once, for its call and its caller; anything else is refused without effect", async () => {
  const { app, ran } = await openGuardedApp()
  const endpoint = openEndpoint(app)
  const { client } = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  const bob = await connectClient(endpoint, "modern", { person: "bob" }, clientOptions)
  const anonymous = await connectClient(endpoint, "modern", {}, clientOptions)
  const asked = await send(client, call)
  const refused = (params: Record<string, unknown>, from = client) =>
    expect(send(from, params)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("requestState") as string,
    })
  const flipped = `${asked.requestState.slice(0, -2)}${asked.requestState.endsWith("AA") ? "BB" : "AA"}`
  await refused({ ...call, ...answered(asked), requestState: flipped })
  await refused({ ...call, ...answered(asked), requestState: "forged" })
  await refused({ ...call, ...answered(asked), arguments: { n: 2 } })
  await refused({ ...call, ...answered(asked), name: "json_parse" })
  await refused({ ...call, ...answered(asked) }, bob.client)
  await refused({ ...call, ...answered(asked) }, anonymous.client)
  expect(ran).toEqual([])
  expect(await app.approvals.list()).toHaveLength(1)
  expect(textOf(await send(client, { ...call, ...answered(asked) }))).toBe("ran")
  await refused({ ...call, ...answered(asked) })
  expect(ran).toHaveLength(1)
})

test("an expired state is refused", async () => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const { requestState } = await send(client, call)
  const key = app.sealKey("mcp request state")
  const state = unseal(key, requestState) as { until: number }
  const old = seal(key, { ...state, until: Date.now() - 1 })
  await expect(send(client, { ...call, requestState: old })).rejects.toMatchObject({ code: -32_602 })
  expect(ran).toEqual([])
})

test("after a restart the state still answers the stored call, once", async () => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  await app.close()
  expect(ran).toEqual([])
  const later = await openGuardedApp(app.dir)
  const { client: back } = await connectClient(openEndpoint(later.app), "modern", { person: "ann" }, clientOptions)
  expect(textOf(await send(back, { ...call, ...answered(asked) }))).toBe("ran")
  expect(later.ran).toHaveLength(1)
  await expect(send(back, { ...call, ...answered(asked) })).rejects.toMatchObject({ code: -32_602 })
  const [row] = await later.app.audit.list({ tool: "probe" })
  const entries = await later.app.audit.show(row?.callId ?? "")
  expect(entries.find(({ kind }) => kind === "answered")).toMatchObject({ by: "ann" })
  expect(later.ran).toHaveLength(1)
})

test("after a restart an answer that came too soon for a person leaves the stored call waiting", async () => {
  const { app } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  await app.close()
  const later = await openGuardedApp(app.dir)
  const endpoint = openEndpoint(later.app, { fastestAnswerMs: 60_000, waitMs: 20 })
  const { client: back } = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  await send(back, { ...call, ...answered(asked) })
  expect(later.ran).toEqual([])
  expect(await later.app.approvals.list()).toHaveLength(1)
})

test("a retry without its answer is asked again, with a new state", async () => {
  const { app } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const first = await send(client, call)
  const second = await send(client, { ...call, requestState: first.requestState, inputResponses: {} })
  expect(keysOf(second)).toEqual(keysOf(first))
  expect(textOf(await send(client, { ...call, ...answered(second) }))).toBe("ran")
})

test("answers to questions that nobody asked are ignored, whatever they are", async () => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  const { requestState, inputResponses } = answered(asked)
  const more = { other: yes, odd: 7, empty: {}, nothing: null }
  expect(textOf(await send(client, { ...call, requestState, inputResponses: { ...more, ...inputResponses } }))).toBe(
    "ran",
  )
  expect(ran).toHaveLength(1)
})

test("two clients that make the same call are both asked, and the tool runs once for both", async () => {
  const { app, ran } = await openGuardedApp()
  const endpoint = openEndpoint(app)
  const one = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  const two = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  const first = await send(one.client, call)
  const second = await send(two.client, call)
  expect(keysOf(second)).toEqual(keysOf(first))
  expect(textOf(await send(two.client, { ...call, ...answered(second) }))).toBe("ran")
  expect(textOf(await send(one.client, { ...call, ...answered(first) }))).toBe("ran")
  expect(ran).toHaveLength(1)
})

test("an answer is only for the question it was asked with, not for another with the same key", async () => {
  const { app } = await openGuardedApp()
  const answers: unknown[] = []
  app.registry.register(
    tool({
      name: "twice",
      execute: async (_input, { sendRequest, signal }) => {
        for (const text of ["pizza?", "delete everything?"]) {
          answers.push(await sendRequest?.("sampling/createMessage", { messages: [], maxTokens: 1, text }, signal, "k"))
        }
        return "done"
      },
    }),
  )
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const twice = { name: "twice", arguments: {} }
  const one = await send(client, twice)
  const other = await send(client, twice)
  const reply = { role: "assistant", model: "m", content: { type: "text", text: "yes" } }
  const second = await send(client, { ...twice, ...answered(one, reply) })
  expect(keysOf(second)).toEqual(["k"])
  const again = await send(client, { ...twice, ...answered(other, reply) })
  expect(again.resultType).toBe("input_required")
  expect(answers).toEqual([reply])
  expect(textOf(await send(client, { ...twice, ...answered(again, reply) }))).toBe("done")
})

test("an answer to a revision that was not shown is ignored", async () => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  const [item] = await app.approvals.list()
  await app.approvals.answer(item?.callId ?? "", { kind: "edit", input: { n: 2 } }, "ben")
  await until(
    async () => (await app.approvals.list())[0]?.revision === (item?.revision ?? 0) + 1,
    "it came back edited",
  )
  const forged = { [`${item?.callId}.${(item?.revision ?? 0) + 1}`]: yes }
  const again = await send(client, { ...call, requestState: asked.requestState, inputResponses: forged })
  expect(again.resultType).toBe("input_required")
  expect(ran).toEqual([])
  expect(textOf(await send(client, { ...call, ...answered(again) }))).toContain("ran")
  expect(ran).toEqual([{ n: 2 }])
})

test("questions to the client program and to the person are sent together", async () => {
  const { app } = await openGuardedApp()
  app.registry.register(
    tool({
      name: "asks",
      kind: "composite",
      execute: async (_input, { call: sub, sendRequest, signal }) => {
        const all = [
          sub("probe", { n: 1 }),
          sendRequest?.("roots/list", undefined, signal),
          sendRequest?.("sampling/createMessage", { messages: [], maxTokens: 1 }, signal),
        ]
        const [probe, ...answers] = await Promise.all(all.map((each) => Promise.resolve(each)))
        return [(probe as { result: unknown }).result, ...answers]
      },
    }),
  )
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, { name: "asks", arguments: {} })
  const methods = Object.entries(asked.inputRequests).map(([key, { method }]) => ({ key, method }))
  expect(methods.map(({ method }) => method).sort()).toEqual([
    "elicitation/create",
    "roots/list",
    "sampling/createMessage",
  ])
  const replies: Record<string, unknown> = {
    "elicitation/create": yes,
    "roots/list": { roots: [{ uri: "file:///a" }] },
    "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "hi" } },
  }
  const inputResponses = Object.fromEntries(methods.map(({ key, method }) => [key, replies[method]]))
  const ended = await send(client, { name: "asks", arguments: {}, requestState: asked.requestState, inputResponses })
  expect(JSON.parse(textOf(ended))).toEqual(["ran", replies["roots/list"], replies["sampling/createMessage"]])
})

test("a client does not get requests that it does not support", async () => {
  const app = await openTestApp()
  app.registry.register(
    tool({
      execute: async (_input, { sendRequest, signal }) =>
        (await sendRequest?.("sampling/createMessage", {}, signal)) ?? "nobody",
    }),
  )
  const endpoint = openEndpoint(app)
  const roots = await connectClient(endpoint, "modern", {}, { capabilities: { roots: {} } })
  expect(textOf(await roots.client.callTool({ name: "probe", arguments: {} }))).toContain("does not take sampling")
  const plain = await connectClient(endpoint, "modern")
  expect(textOf(await plain.client.callTool({ name: "probe", arguments: {} }))).toBe("nobody")
})

test("open calls beyond the limit get tickets", async () => {
  const { app } = await openGuardedApp()
  const { client } = await connectClient(
    openEndpoint(app, { maxOpenCalls: 1, waitMs: 20 }),
    "modern",
    { person: "ann" },
    clientOptions,
  )
  expect(await send(client, call)).toMatchObject({ resultType: "input_required" })
  expect(textOf(await send(client, { ...call, arguments: { n: 2 } }))).toContain("NOT EXECUTED YET")
})

test("one agent's open calls leave room for other agents", async () => {
  const { app } = await openGuardedApp()
  await app.org.createAgent({ id: "other", role: "operator" }, { kind: "person", id: "ann" })
  const endpoint = openEndpoint(app, { maxOpenCalls: 20, waitMs: 20 })
  const { client } = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  for (const n of [1, 2]) {
    expect(await send(client, { ...call, arguments: { n } })).toMatchObject({ resultType: "input_required" })
  }
  expect(textOf(await send(client, { ...call, arguments: { n: 3 } }))).toContain("NOT EXECUTED YET")
  const { client: others } = await connectClient(endpoint, "modern", { agentId: "other", person: "ann" }, clientOptions)
  expect(await send(others, call)).toMatchObject({ resultType: "input_required" })
})

test("a call whose client disconnected continues, and its result stays available for a while", async () => {
  const { app, ran } = await openGuardedApp()
  const endpoint = openEndpoint(app)
  const { client } = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  await client.close()
  const [item] = await app.approvals.list()
  await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "bob")
  await until(() => ran.length === 1, "it runs")
  const { client: late } = await connectClient(endpoint, "modern", { person: "ann" }, clientOptions)
  expect(textOf(await send(late, { ...call, ...answered(asked) }))).toBe("ran")
  expect(ran).toHaveLength(1)
})

test.each([
  ["approves", yes],
  ["rejects", { action: "accept", content: { decision: "reject" } }],
  ["declines", { action: "decline" }],
  ["cancels", { action: "cancel" }],
])("a form that was answered elsewhere delays nothing: who then %s gets the result at once", async (_, answer) => {
  const { app, ran } = await openGuardedApp()
  const { client } = await connectClient(openEndpoint(app), "modern", { person: "ann" }, clientOptions)
  const asked = await send(client, call)
  const [item] = await app.approvals.list()
  await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "bob")
  await until(() => ran.length === 1, "it runs while the form is open")
  expect(textOf(await send(client, { ...call, ...answered(asked, answer) }))).toBe("ran")
  const entries = await app.audit.show(item?.callId ?? "")
  expect(entries.filter(({ kind }) => kind === "answered")).toMatchObject([{ by: "bob" }])
  expect(ran).toHaveLength(1)
})

test("repeating a parked call that ended with a ticket redeems the ticket", async () => {
  const app = await openTestApp()
  const abilities = { form: true, url: false, sampling: false, roots: false }
  const endpoint = openEndpoint(app)
  const held = { identity: { agentId: "operator" }, tool: "held", input: { n: 1 } }
  const ticket = deferred<Ticket>()
  const running = new OpenCall(
    { fingerprint: callFingerprint(app, held), identity: held.identity, abilities, forms },
    () => ticket.promise,
  )
  endpoint.openCalls.park(running)
  expect(await endpoint.tickets.redeem(held)).toBeUndefined()
  ticket.resolve({ callId: "the call", state: "held", until: Date.now() + 60_000 })
  await running.ended
  expect(endpoint.openCalls.find(running.fingerprint)).toBeUndefined()
  expect(await endpoint.tickets.redeem(held)).toBe("the call")
})

test("an ended call is removed after a while, or earlier when room is needed", async () => {
  const app = await openTestApp()
  const abilities = { form: true, url: false, sampling: false, roots: false }
  const ids = { callId: "1", toolName: "t", version: "1", startedAt: 0 }
  const ended = { ...ids, status: "success", success: true, result: undefined } as const
  const create = (fingerprint: string) =>
    new OpenCall({ fingerprint, identity: { agentId: "operator" }, abilities, forms }, async () => ended)
  const short = new OpenCalls(app, { maxOpen: 1, keepEndedMs: 0, fastestMs: 0 })
  short.park(create("a"))
  await until(() => short.find("a") === undefined, "it is forgotten")
  const long = new OpenCalls(app, { maxOpen: 1, keepEndedMs: 60_000, fastestMs: 0 })
  const finished = create("b")
  long.park(finished)
  await finished.ended
  expect(long.find("b")).toBe(finished)
  expect(long.hasRoom("other")).toBe(true)
  expect(long.find("b")).toBeUndefined()
  const running = new OpenCall(
    { fingerprint: "c", identity: { agentId: "operator" }, abilities, forms },
    () => new Promise(() => {}),
  )
  long.park(running)
  expect(long.hasRoom("other")).toBe(false)
  long.close()
})

test("a state cannot be read, created or changed without the key", () => {
  const key = Buffer.alloc(32, 7)
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom("A", "Q", "g", "w", "9", "_", "-", "z"),
      (value, at, letter) => {
        const text = seal(key, { value })
        expect(unseal(key, text)).toEqual({ value: JSON.parse(JSON.stringify(value)) as unknown })
        const place = at % text.length
        const changed = text.slice(0, place) + letter + text.slice(place + 1)
        if (changed !== text) expect(unseal(key, changed)).toBeUndefined()
        expect(unseal(Buffer.alloc(32, 8), text)).toBeUndefined()
        expect(unseal(key, `${text}=`)).toBeUndefined()
      },
    ),
    { numRuns: 300 },
  )
})
