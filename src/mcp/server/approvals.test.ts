import { expect, test } from "vitest"
import { z } from "zod"
import type { Saying } from "../../model/approval.ts"
import type { ToolSpec } from "../../model/tool.ts"
import { open, tool, until } from "../../testing/open.ts"
import { answering, connect, doorOf, eras, textOf } from "./testing.ts"

const guarded = { permission: { level: "sensitive" } } satisfies Partial<ToolSpec<never>>

for (const era of eras) {
  test(`the person at the client approves a call in a form that says what it is about (${era})`, async () => {
    const house = await open()
    const seen: Record<string, unknown>[] = []
    house.registry.register(
      tool({ ...guarded, input: z.object({ city: z.string() }) as never, execute: () => "sunny" }),
    )
    const person = answering((params) => {
      seen.push(params)
      return { action: "accept", content: { decision: "approve" } }
    })
    const { client } = await connect(doorOf(house), era, { person: "ann" }, person)
    const result = await client.callTool({ name: "probe", arguments: { city: "Ulm\u202e" } })
    expect(textOf(result)).toBe("sunny")
    expect(seen).toHaveLength(1)
    expect(seen[0]?.["message"]).toContain("wants to call probe")
    expect(seen[0]?.["message"]).toContain("Ulm\\u{202e}")
    expect(seen[0]?.["requestedSchema"]).toMatchObject({ required: ["decision"] })
    const [row] = await house.audit.list({ tool: "probe" })
    const entries = await house.audit.show(row?.callId ?? "")
    expect(entries.find(({ kind }) => kind === "answered")).toMatchObject({ by: "ann" })
  })

  test.each([
    [{ action: "accept", content: { decision: "reject", reason: "Not today." } }, "Not today."],
    [{ action: "decline" }, "declined"],
    [{ action: "cancel" }, "closed"],
    [{ action: "accept", content: { decision: "yes" } }, "reject"],
    [{ action: "accept", content: {} }, "without a decision"],
  ])(`%j is a no, and the model reads it (${era})`, async (answer, words) => {
    const house = await open()
    let ran = false
    house.registry.register(tool({ ...guarded, execute: () => (ran = true) }))
    const { client } = await connect(
      doorOf(house),
      era,
      { person: "ann" },
      answering(() => answer),
    )
    const result = await client.callTool({ name: "probe", arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^NOT EXECUTED\. A person \(ann\) rejected/)
    expect(textOf(result)).toContain(words)
    expect(ran).toBe(false)
  })

  test(`a yes can be remembered where the card offers it (${era})`, async () => {
    const house = await open({ rules: [{ ask: "probe", because: "Look first." }] })
    house.registry.register(tool({ permission: { level: "moderate" }, execute: () => "ran" }))
    house.registry.register(tool({ name: "twin", permission: { level: "moderate" }, execute: () => "ran" }))
    const scopes: unknown[] = []
    const person = answering(({ requestedSchema }) => {
      const { properties } = requestedSchema as { properties: Record<string, { enum: string[] }> }
      scopes.push(properties["remember"]?.enum)
      return { action: "accept", content: { decision: "approve", remember: "tool-session" } }
    })
    const { client } = await connect(doorOf(house), era, { person: "ann" }, person)
    for (const _ of [1, 2]) await client.callTool({ name: "twin", arguments: {} })
    expect(scopes).toEqual([["no", "input-session", "tool-session", "tool-always"]])
    await client.callTool({ name: "probe", arguments: {} })
    expect(scopes).toHaveLength(2)
    expect(scopes[1]).toBeUndefined()
  })

  test(`a held result is released at another door, and nothing of it goes to the client before (${era})`, async () => {
    const house = await open()
    house.registry.register(
      tool({
        permission: { level: "public", requireResultApproval: "always" },
        input: z.object({ n: z.number() }) as never,
        async *execute() {
          yield "the secret"
        },
      }),
    )
    const asked: unknown[] = []
    const person = answering((given) => {
      asked.push(given)
      return { action: "accept", content: { decision: "release" } }
    })
    const { client, told } = await connect(doorOf(house, { waitMs: 20 }), era, { person: "ann" }, person)
    const heard: unknown[] = []
    const call = (n: number) =>
      client.callTool({ name: "probe", arguments: { n } }, { onprogress: (progress) => heard.push(progress) })
    const answer = async (saying: Saying) => {
      await until(async () => (await house.desk.list()).length === 1, "the result waits")
      const [item] = await house.desk.list()
      return house.desk.say(item?.callId ?? "", saying, "ben")
    }
    const released = call(1)
    await answer({ say: "release" })
    expect(textOf(await released)).toBe("the secret")
    const kept = call(2)
    await answer({ say: "withhold", reason: "It names people." })
    const withheld = await kept
    expect(withheld.isError).toBe(true)
    expect(textOf(withheld)).toMatch(/withheld.*It names people\./)
    const waits = await client.callTool({ name: "probe", arguments: { n: 3 } })
    expect(textOf(waits)).toMatch(/^The tool ran, but its result is held back/)
    expect(JSON.stringify([withheld, waits, told, heard, asked])).not.toContain("the secret")
    expect(asked).toEqual([])
  })

  test(`a question is put as it is, and asked again until the form is filled in (${era})`, async () => {
    const house = await open()
    const form = {
      type: "object",
      properties: { age: { type: "integer", minimum: 1, title: "Age" } },
      required: ["age"],
    }
    house.registry.register(
      tool({
        kind: "interactive",
        question: () => ({ question: "How old?", form }),
        execute: (_input, { answer }) => answer,
      }),
    )
    const seen: unknown[] = []
    const answers = [{ age: 0 }, { age: 7 }]
    const person = answering(({ message, requestedSchema }) => {
      seen.push([message, requestedSchema])
      return { action: "accept", content: answers.shift() ?? {} }
    })
    const { client } = await connect(doorOf(house), era, { person: "ann" }, person)
    expect(textOf(await client.callTool({ name: "probe", arguments: {} }))).toBe('{"age":7}')
    expect(seen).toEqual([1, 2].map(() => ["Agent operator asks:\nHow old?", form]))
  })

  test(`whoever does not know the person, or cannot show a form, leaves the answer to other doors (${era})`, async () => {
    const house = await open()
    house.registry.register(tool({ ...guarded, execute: () => "ran" }))
    const door = doorOf(house, { waitMs: 50 })
    let asked = false
    const nobody = await connect(
      door,
      era,
      {},
      answering(() => ((asked = true), { action: "accept", content: { decision: "approve" } })),
    )
    const formless = await connect(door, era, { person: "ann" })
    for (const { client } of [nobody, formless]) {
      const ticket = await client.callTool({ name: "probe", arguments: {} })
      expect(ticket.isError).toBe(true)
      expect(textOf(ticket)).toMatch(/^NOT EXECUTED YET\..*until 20.*Call probe again with the same arguments/)
      expect(ticket._meta).toMatchObject({
        "quartermaster/ticket": { state: "waiting", callId: expect.any(String) as string },
      })
    }
    expect(asked).toBe(false)
    expect(await house.desk.list()).toHaveLength(2)
  })

  test(`the same call redeems a ticket once a person has answered, from any session and any process (${era})`, async () => {
    const first = await open()
    let runs = 0
    const probe = () =>
      tool({ ...guarded, input: z.object({ n: z.number() }) as never, execute: () => `run ${++runs}` })
    first.registry.register(probe())
    const door = doorOf(first, { waitMs: 20 })
    const call = { name: "probe", arguments: { n: 1 } }
    const one = await connect(door, era)
    const ticketed = await one.client.callTool(call)
    const { callId } = (ticketed._meta as Record<string, { callId: string }>)["quartermaster/ticket"] ?? { callId: "" }
    expect(textOf(await one.client.callTool(call))).toContain(callId)
    await first.desk.say(callId, { say: "approve" }, "ann")
    const other = await connect(door, era)
    expect(textOf(await other.client.callTool(call))).toBe("run 1")
    expect(textOf(await other.client.callTool(call))).toContain("NOT EXECUTED YET")

    await first.close()
    const second = await open({ data: { dir: first.dir } })
    second.registry.register(probe())
    const [waiting] = await second.desk.list()
    await second.desk.say(waiting?.callId ?? "", { say: "approve" }, "ann")
    const later = await connect(doorOf(second, { waitMs: 20 }), era)
    expect(textOf(await later.client.callTool(call))).toBe("run 2")
  })

  test(`a ticket for a held result is redeemed without running the tool again, also after a restart (${era})`, async () => {
    const first = await open()
    let runs = 0
    const probe = () =>
      tool({ permission: { level: "public", requireResultApproval: "always" }, execute: () => `run ${++runs}` })
    first.registry.register(probe())
    const call = { name: "probe", arguments: {} }
    const one = await connect(doorOf(first, { waitMs: 20 }), era)
    const held = await one.client.callTool(call)
    expect(textOf(held)).toMatch(/^The tool ran, but its result is held back/)
    expect(textOf(held)).not.toContain("run 1")
    expect(textOf(await one.client.callTool(call))).toContain("held back")
    await first.close()
    const second = await open({ data: { dir: first.dir } })
    second.registry.register(probe())
    const later = await connect(doorOf(second, { waitMs: 20 }), era)
    expect(textOf(await later.client.callTool(call))).toContain("held back")
    const [item] = await second.desk.list()
    await second.desk.say(item?.callId ?? "", { say: "release" }, "ann")
    expect(textOf(await later.client.callTool(call))).toBe("run 1")
    expect(runs).toBe(1)
  })

  test(`with a progress token a call is held, and says at once and again that it waits (${era})`, async () => {
    const house = await open()
    house.registry.register(tool({ ...guarded, execute: () => "ran" }))
    const { client } = await connect(doorOf(house, { waitMs: 1, progressMs: 30 }), era)
    const heard: { progress: number; message?: string | undefined }[] = []
    const called = client.callTool({ name: "probe", arguments: {} }, { onprogress: (one) => void heard.push(one) })
    await until(() => heard.length >= 3, "it says three times that it waits")
    const [item] = await house.desk.list()
    expect(heard[0]?.message).toBe(`probe waits for a person. To answer: qm approvals show ${item?.callId}`)
    expect(heard.map(({ progress }) => progress).slice(0, 3)).toEqual([1, 2, 3])
    await house.desk.say(item?.callId ?? "", { say: "approve" }, "ann")
    expect(textOf(await called)).toBe("ran")
  })

  test(`a call whose parts wait gives a ticket too, and the same call goes on with it (${era})`, async () => {
    const house = await open()
    let runs = 0
    house.registry.registerMany([
      tool({ name: "inner", ...guarded, execute: () => `inner ${++runs}` }),
      tool({ name: "outer", kind: "composite", execute: async (_input, { call }) => (await call("inner", {})).result }),
    ])
    const { client } = await connect(doorOf(house, { waitMs: 20 }), era)
    const call = { name: "outer", arguments: {} }
    expect(textOf(await client.callTool(call))).toContain("NOT EXECUTED YET")
    const [item] = await house.desk.list()
    await house.desk.say(item?.callId ?? "", { say: "approve" }, "ann")
    expect(textOf(await client.callTool(call))).toBe("inner 1")
    expect(runs).toBe(1)
  })

  test(`what somebody else answers closes the dialog (${era})`, async () => {
    const house = await open()
    house.registry.register(tool({ ...guarded, execute: () => "ran" }))
    let isAsked = false
    const person = answering(() => {
      isAsked = true
      return new Promise(() => {})
    })
    const { client } = await connect(doorOf(house), "legacy", { person: "ann" }, person)
    const called = client.callTool({ name: "probe", arguments: {} })
    await until(() => isAsked, "the person is asked")
    const [item] = await house.desk.list()
    await house.desk.say(item?.callId ?? "", { say: "approve" }, "bob")
    expect(textOf(await called)).toBe("ran")
  })
}

test.each(["accept", "url"])("an address to open is passed on, to clients that can (%s)", async (kind) => {
  const house = await open()
  const question = { question: "Sign in there.", url: "https://example.com/sign-in" }
  house.registry.register(tool({ kind: "interactive", question: () => question, execute: (_i, { answer }) => answer }))
  const seen: unknown[] = []
  for (const era of eras) {
    const person = answering(({ mode, message, url }) => {
      seen.push([mode, message, url])
      return kind === "accept" ? { action: "accept" } : { action: "decline" }
    })
    const { client } = await connect(doorOf(house), era, { person: "ann" }, person)
    const result = await client.callTool({ name: "probe", arguments: {} })
    expect(textOf(result)).toMatch(kind === "accept" ? /^\{\}$/ : /declined/)
  }
  expect(seen).toEqual([1, 2].map(() => ["url", `Agent operator asks:\n${question.question}`, question.url]))
})
