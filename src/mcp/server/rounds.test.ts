import type { Client } from "@modelcontextprotocol/client"
import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Ticket } from "../../model/result.ts"
import { deferred, open, tool, until } from "../../testing/open.ts"
import { OpenCall } from "./open-call.ts"
import { OpenCalls } from "./open-calls.ts"
import { seal, unseal } from "./seal.ts"
import { connect, doorOf, textOf } from "./testing.ts"
import { sameCall } from "./tickets.ts"

const able = {
  capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
  inputRequired: { autoFulfill: false },
}
const yes = { action: "accept", content: { decision: "approve" } }

interface Round {
  resultType?: string
  inputRequests: Record<string, { method: string; params?: Record<string, unknown> }>
  requestState: string
  content?: unknown[]
}

/** One round of a call, as a client makes it that does everything by hand. */
async function round(client: Client, params: Record<string, unknown>): Promise<Round> {
  const result = await client.request({ method: "tools/call", params } as never, { allowInputRequired: true } as never)
  return result as unknown as Round
}

const keysOf = ({ inputRequests }: Round) => Object.keys(inputRequests)
const answered = (asked: Round, answer: unknown = yes) => ({
  requestState: asked.requestState,
  inputResponses: Object.fromEntries(keysOf(asked).map((key) => [key, answer])),
})

async function guardedHouse(dir?: string) {
  const house = await open(dir === undefined ? {} : { data: { dir } })
  const ran: unknown[] = []
  house.registry.register(
    tool({
      permission: { level: "sensitive" },
      input: z.object({ n: z.number() }) as never,
      execute: (input) => {
        ran.push(input)
        return "ran"
      },
    }),
  )
  return { house, ran }
}

const call = { name: "probe", arguments: { n: 1 } }

test("a call goes on in memory between the rounds, and ends with the answer", async () => {
  const { house, ran } = await guardedHouse()
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const asked = await round(client, call)
  expect(asked.resultType).toBe("input_required")
  expect(Object.values(asked.inputRequests)).toMatchObject([{ method: "elicitation/create", params: { mode: "form" } }])
  expect(ran).toEqual([])
  expect(textOf(await round(client, { ...call, ...answered(asked) }))).toBe("ran")
  expect(ran).toEqual([{ n: 1 }])
})

test("a state is good once, for its call and its caller; anything else is refused and nothing happens", async () => {
  const { house, ran } = await guardedHouse()
  const door = doorOf(house)
  const { client } = await connect(door, "modern", { person: "ann" }, able)
  const bob = await connect(door, "modern", { person: "bob" }, able)
  const nobody = await connect(door, "modern", {}, able)
  const asked = await round(client, call)
  const refused = (params: Record<string, unknown>, from = client) =>
    expect(round(from, params)).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("requestState") as string,
    })
  const flipped = `${asked.requestState.slice(0, -2)}${asked.requestState.endsWith("AA") ? "BB" : "AA"}`
  await refused({ ...call, ...answered(asked), requestState: flipped })
  await refused({ ...call, ...answered(asked), requestState: "forged" })
  await refused({ ...call, ...answered(asked), arguments: { n: 2 } })
  await refused({ ...call, ...answered(asked), name: "json_parse" })
  await refused({ ...call, ...answered(asked) }, bob.client)
  await refused({ ...call, ...answered(asked) }, nobody.client)
  expect(ran).toEqual([])
  expect(await house.desk.list()).toHaveLength(1)
  expect(textOf(await round(client, { ...call, ...answered(asked) }))).toBe("ran")
  await refused({ ...call, ...answered(asked) })
  expect(ran).toHaveLength(1)
})

test("a state whose wait is over is refused", async () => {
  const { house, ran } = await guardedHouse()
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const { requestState } = await round(client, call)
  const key = house.sealKey("mcp request state")
  const state = unseal(key, requestState) as { until: number }
  const old = seal(key, { ...state, until: Date.now() - 1 })
  await expect(round(client, { ...call, requestState: old })).rejects.toMatchObject({ code: -32_602 })
  expect(ran).toEqual([])
})

test("after a restart the state still answers the stored call, once", async () => {
  const { house, ran } = await guardedHouse()
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const asked = await round(client, call)
  await house.close()
  expect(ran).toEqual([])
  const later = await guardedHouse(house.dir)
  const { client: back } = await connect(doorOf(later.house), "modern", { person: "ann" }, able)
  expect(textOf(await round(back, { ...call, ...answered(asked) }))).toBe("ran")
  expect(later.ran).toHaveLength(1)
  await expect(round(back, { ...call, ...answered(asked) })).rejects.toMatchObject({ code: -32_602 })
  const [row] = await later.house.audit.list({ tool: "probe" })
  const entries = await later.house.audit.show(row?.callId ?? "")
  expect(entries.find(({ kind }) => kind === "answered")).toMatchObject({ by: "ann" })
  expect(later.ran).toHaveLength(1)
})

test("a retry without its answer is asked again, with a new state", async () => {
  const { house } = await guardedHouse()
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const first = await round(client, call)
  const second = await round(client, { ...call, requestState: first.requestState, inputResponses: {} })
  expect(keysOf(second)).toEqual(keysOf(first))
  expect(textOf(await round(client, { ...call, ...answered(second) }))).toBe("ran")
})

test("two clients that make the same call are both asked, and the tool runs once for both", async () => {
  const { house, ran } = await guardedHouse()
  const door = doorOf(house)
  const one = await connect(door, "modern", { person: "ann" }, able)
  const two = await connect(door, "modern", { person: "ann" }, able)
  const first = await round(one.client, call)
  const second = await round(two.client, call)
  expect(keysOf(second)).toEqual(keysOf(first))
  expect(textOf(await round(two.client, { ...call, ...answered(second) }))).toBe("ran")
  expect(textOf(await round(one.client, { ...call, ...answered(first) }))).toBe("ran")
  expect(ran).toHaveLength(1)
})

test("an answer counts for the question its round showed, and for no other of the same name", async () => {
  const { house } = await guardedHouse()
  const said: unknown[] = []
  house.registry.register(
    tool({
      name: "twice",
      execute: async (_input, { ask, signal }) => {
        for (const text of ["pizza?", "delete everything?"]) {
          said.push(await ask?.("sampling/createMessage", { messages: [], maxTokens: 1, text }, signal, "k"))
        }
        return "done"
      },
    }),
  )
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const twice = { name: "twice", arguments: {} }
  const one = await round(client, twice)
  const other = await round(client, twice)
  const reply = { role: "assistant", model: "m", content: { type: "text", text: "yes" } }
  const second = await round(client, { ...twice, ...answered(one, reply) })
  expect(keysOf(second)).toEqual(["k"])
  const again = await round(client, { ...twice, ...answered(other, reply) })
  expect(again.resultType).toBe("input_required")
  expect(said).toEqual([reply])
  expect(textOf(await round(client, { ...twice, ...answered(again, reply) }))).toBe("done")
})

test("an answer to a revision that was not shown is none", async () => {
  const { house, ran } = await guardedHouse()
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const asked = await round(client, call)
  const [item] = await house.desk.list()
  await house.desk.say(item?.callId ?? "", { say: "edit", input: { n: 2 } }, "ben")
  await until(async () => (await house.desk.list())[0]?.revision === (item?.revision ?? 0) + 1, "it came back edited")
  const forged = { [`${item?.callId}.${(item?.revision ?? 0) + 1}`]: yes }
  const again = await round(client, { ...call, requestState: asked.requestState, inputResponses: forged })
  expect(again.resultType).toBe("input_required")
  expect(ran).toEqual([])
  expect(textOf(await round(client, { ...call, ...answered(again) }))).toContain("ran")
  expect(ran).toEqual([{ n: 2 }])
})

test("what a tool asks the program goes in the same round as what it asks the person", async () => {
  const { house } = await guardedHouse()
  house.registry.register(
    tool({
      name: "asks",
      kind: "composite",
      execute: async (_input, { call: sub, ask, signal }) => {
        const all = [
          sub("probe", { n: 1 }),
          ask?.("roots/list", undefined, signal),
          ask?.("sampling/createMessage", { messages: [], maxTokens: 1 }, signal),
        ]
        const [probe, ...answers] = await Promise.all(all.map((each) => Promise.resolve(each)))
        return [(probe as { result: unknown }).result, ...answers]
      },
    }),
  )
  const { client } = await connect(doorOf(house), "modern", { person: "ann" }, able)
  const asked = await round(client, { name: "asks", arguments: {} })
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
  const ended = await round(client, { name: "asks", arguments: {}, requestState: asked.requestState, inputResponses })
  expect(JSON.parse(textOf(ended))).toEqual(["ran", replies["roots/list"], replies["sampling/createMessage"]])
})

test("a program that does not take a request is not sent it", async () => {
  const house = await open()
  house.registry.register(
    tool({
      execute: async (_input, { ask, signal }) => (await ask?.("sampling/createMessage", {}, signal)) ?? "nobody",
    }),
  )
  const door = doorOf(house)
  const roots = await connect(door, "modern", {}, { capabilities: { roots: {} } })
  expect(textOf(await roots.client.callTool({ name: "probe", arguments: {} }))).toContain("does not take sampling")
  const plain = await connect(door, "modern")
  expect(textOf(await plain.client.callTool({ name: "probe", arguments: {} }))).toBe("nobody")
})

test("more open calls than there is room for are answered with tickets", async () => {
  const { house } = await guardedHouse()
  const { client } = await connect(doorOf(house, { mostOpen: 1, waitMs: 20 }), "modern", { person: "ann" }, able)
  expect(await round(client, call)).toMatchObject({ resultType: "input_required" })
  expect(textOf(await round(client, { ...call, arguments: { n: 2 } }))).toContain("NOT EXECUTED YET")
})

test("one agent's open calls leave room for those of others", async () => {
  const { house } = await guardedHouse()
  await house.org.createAgent({ id: "other", role: "operator" }, { kind: "person", id: "ann" })
  const door = doorOf(house, { mostOpen: 20, waitMs: 20 })
  const { client } = await connect(door, "modern", { person: "ann" }, able)
  for (const n of [1, 2]) {
    expect(await round(client, { ...call, arguments: { n } })).toMatchObject({ resultType: "input_required" })
  }
  expect(textOf(await round(client, { ...call, arguments: { n: 3 } }))).toContain("NOT EXECUTED YET")
  const { client: others } = await connect(door, "modern", { agentId: "other", person: "ann" }, able)
  expect(await round(others, call)).toMatchObject({ resultType: "input_required" })
})

test("a call nobody comes back for goes on without them, and is kept for a while when it has ended", async () => {
  const { house, ran } = await guardedHouse()
  const door = doorOf(house)
  const { client } = await connect(door, "modern", { person: "ann" }, able)
  const asked = await round(client, call)
  await client.close()
  const [item] = await house.desk.list()
  await house.desk.say(item?.callId ?? "", { say: "approve" }, "bob")
  await until(() => ran.length === 1, "it runs")
  const { client: late } = await connect(door, "modern", { person: "ann" }, able)
  expect(textOf(await round(late, { ...call, ...answered(asked) }))).toBe("ran")
  expect(ran).toHaveLength(1)
})

test("a call that became a ticket while nobody was with it is redeemed by the same call, and not made anew", async () => {
  const house = await open()
  const can = { form: true, url: false, sampling: false, roots: false }
  const door = doorOf(house)
  const given = { speaker: { agentId: "operator" }, tool: "held", input: { n: 1 } }
  const left = deferred<Ticket>()
  const going = new OpenCall({ same: sameCall(house, given), speaker: given.speaker, can }, () => left.promise)
  door.open.park(going)
  expect(await door.tickets.redeem(given)).toBeUndefined()
  left.resolve({ callId: "the call", state: "held", until: Date.now() + 60_000 })
  await going.ended
  expect(door.open.find(going.same)).toBeUndefined()
  expect(await door.tickets.redeem(given)).toBe("the call")
})

test("an open call is forgotten a while after its end, and makes room before that where others need it", async () => {
  const house = await open()
  const can = { form: true, url: false, sampling: false, roots: false }
  const ended = { callId: "1", toolName: "t", version: "1", status: "success", success: true, startedAt: 0 } as const
  const made = (same: string) => new OpenCall({ same, speaker: { agentId: "operator" }, can }, async () => ended)
  const short = new OpenCalls(house, { most: 1, keptMs: 0 })
  short.park(made("a"))
  await until(() => short.find("a") === undefined, "it is forgotten")
  const long = new OpenCalls(house, { most: 1, keptMs: 60_000 })
  const kept = made("b")
  long.park(kept)
  await kept.ended
  expect(long.find("b")).toBe(kept)
  expect(long.hasRoom("other")).toBe(true)
  expect(long.find("b")).toBeUndefined()
  const going = new OpenCall({ same: "c", speaker: { agentId: "operator" }, can }, () => new Promise(() => {}))
  long.park(going)
  expect(long.hasRoom("other")).toBe(false)
  long.close()
})

test("nobody can read or make a state without the key, and no changed letter of it passes", () => {
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
