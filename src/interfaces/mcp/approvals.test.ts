import { expect, test } from "vitest"
import { z } from "zod"
import type { Answer } from "../../core/approval.ts"
import type { ToolSpec } from "../../core/tool.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { answeringClient, connectClient, openEndpoint, eras, textOf } from "./testing.ts"

const guarded = { permission: { level: "sensitive" } } satisfies Partial<ToolSpec<never>>

for (const era of eras) {
  test(`the person at the client approves a call in a form that describes it (${era})`, async () => {
    const app = await openTestApp()
    const forms: Record<string, unknown>[] = []
    app.registry.register(tool({ ...guarded, input: z.object({ city: z.string() }) as never, execute: () => "sunny" }))
    const person = answeringClient((params) => {
      forms.push(params)
      return { action: "accept", content: { decision: "once" } }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    const result = await client.callTool({ name: "probe", arguments: { city: "Ulm\u202e" } })
    expect(textOf(result)).toBe("sunny")
    expect(forms).toHaveLength(1)
    expect(forms[0]?.["message"]).toContain("wants to call probe")
    expect(forms[0]?.["message"]).toContain("Ulm\\u{202e}")
    expect(forms[0]?.["requestedSchema"]).toMatchObject({ required: ["decision"] })
    const [row] = await app.audit.list({ tool: "probe" })
    const entries = await app.audit.show(row?.callId ?? "")
    expect(entries.find(({ kind }) => kind === "answered")).toMatchObject({ by: "ann" })
  })

  test(`the form says in words what the call touches (${era})`, async () => {
    const app = await openTestApp()
    const forms: Record<string, unknown>[] = []
    const person = answeringClient((params) => {
      forms.push(params)
      return { action: "accept", content: { decision: "reject" } }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    await client.callTool({ name: "write_file", arguments: { path: "a.txt", content: "hi" } })
    expect(forms[0]?.["message"]).toMatch(/^It writes .*a\.txt$/m)
  })

  test(`with askIntent a client's call may say why, and the form quotes it (${era})`, async () => {
    const app = await openTestApp({ tools: { askIntent: true } })
    app.registry.register(tool({ ...guarded, input: z.strictObject({}) as never, execute: () => "sunny" }))
    const forms: Record<string, unknown>[] = []
    const person = answeringClient((params) => {
      forms.push(params)
      return { action: "accept", content: { decision: "once" } }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === "probe")?.inputSchema.properties).toHaveProperty("_intent")
    const result = await client.callTool({ name: "probe", arguments: { _intent: 'To\nsee "it".' } })
    expect(textOf(result)).toBe("sunny")
    expect(forms[0]?.["message"]).toContain('\nThe agent says (unverified): "To see \\"it\\"."')
    expect(forms[0]?.["message"]).toMatch(/^Low risk: Call probe\nprobe: \{\}\n/)
  })

  test.each([
    [{ action: "accept", content: { decision: "reject" } }, "reject"],
    [{ action: "decline" }, "declined"],
    [{ action: "accept", content: { decision: "yes" } }, "reject"],
    [{ action: "accept", content: { decision: "approve" } }, "reject"],
    [{ action: "accept", content: {} }, "without a decision"],
  ])(`%j rejects the call, and the model reads why (${era})`, async (answer, words) => {
    const app = await openTestApp()
    let ran = false
    app.registry.register(tool({ ...guarded, execute: () => (ran = true) }))
    const { client } = await connectClient(
      openEndpoint(app),
      era,
      { person: "ann" },
      answeringClient(() => answer),
    )
    const result = await client.callTool({ name: "probe", arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/^NOT EXECUTED\. A person \(ann\) rejected/)
    expect(textOf(result)).toContain(words)
    expect(ran).toBe(false)
  })

  test.each<[string, Record<string, unknown> | Error, number]>([
    ["cancels", { action: "cancel" }, 0],
    // A client of 2026 ends the call itself then.
    ...(era === "legacy"
      ? [["answers with an error", new Error("There is no dialog."), 0] as [string, Error, number]]
      : []),
    ["declines sooner than a person can", { action: "decline" }, 60_000],
    ["approves sooner than a person can", { action: "accept", content: { decision: "once" } }, 60_000],
  ])(`a client that %s has asked nobody: the call stays in the queue (${era})`, async (_, answer, fastestAnswerMs) => {
    const app = await openTestApp()
    app.registry.register(tool({ ...guarded, execute: () => "ran" }))
    const { client } = await connectClient(
      openEndpoint(app, { fastestAnswerMs, waitMs: 20 }),
      era,
      { person: "ann" },
      answeringClient(() => {
        if (answer instanceof Error) throw answer
        return answer
      }),
    )
    const call = { name: "probe", arguments: {} }
    expect(textOf(await client.callTool(call))).toMatch(/^NOT EXECUTED YET\./)
    const [item] = await app.approvals.list()
    const entries = await app.audit.show(item?.callId ?? "")
    expect(entries.filter(({ kind }) => kind === "answered")).toEqual([])
    expect(entries.find(({ kind }) => kind === "note")?.["text" as never]).toMatch(/^The client asked nobody: /)
    await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "bob")
    expect(textOf(await client.callTool(call))).toBe("ran")
  })

  test(`a form has one required choice, and nothing is remembered from it (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(tool({ permission: { level: "moderate" }, execute: () => "ran" }))
    const forms: unknown[] = []
    const person = answeringClient(({ requestedSchema }) => {
      forms.push(requestedSchema)
      return { action: "accept", content: { decision: "once", remember: "tool-always" } }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    for (const _ of [1, 2]) expect(textOf(await client.callTool({ name: "probe", arguments: {} }))).toBe("ran")
    expect(forms).toHaveLength(2)
    expect(forms[0]).toEqual({
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "Decision",
          enum: ["once", "reject"],
          enumNames: ["Approve once", "Reject"],
        },
      },
      required: ["decision"],
    })
    expect(await app.approvals.grants()).toEqual([])
  })

  test.each([
    ["none", []],
    ["medium", ["writes"]],
    [undefined, ["writes"]],
    ["all", ["writes", "sensitive", "unproved"]],
  ] as const)(`with inClient %s the person at the client is asked about %j (${era})`, async (inClient, expected) => {
    const app = await openTestApp()
    const moderate = { permission: { level: "moderate" }, execute: () => "ran" } as const
    app.registry.registerMany([
      tool({ ...moderate, name: "writes", effect: "write", touches: () => [{ kind: "write", what: "a.txt" }] }),
      tool({ ...moderate, ...guarded, name: "sensitive", effect: "read" }),
      tool({ ...moderate, name: "unproved", effect: "write" }),
    ])
    const asked: string[] = []
    const person = answeringClient(({ message }) => {
      asked.push(/wants to call (\w+)/.exec(String(message))?.[1] ?? "")
      return { action: "accept", content: { decision: "once" } }
    })
    // Whoever is asked has all the time; only where nobody is asked a ticket comes at once.
    const ask = async (name: string, waitMs: number) => {
      const endpoint = openEndpoint(app, { inClient, waitMs })
      const { client } = await connectClient(endpoint, era, { person: "ann" }, person)
      return textOf(await client.callTool({ name, arguments: {} }))
    }
    for (const name of ["writes", "sensitive", "unproved"]) {
      if ((expected as readonly string[]).includes(name)) expect(await ask(name, 60_000)).toBe("ran")
      else expect(await ask(name, 20)).toMatch(/^NOT EXECUTED YET\./)
    }
    expect(asked).toEqual(expected)
  })

  test(`a held result is released by another interface, and the client sees none of it before (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(
      tool({
        permission: { level: "public", requireResultApproval: "always" },
        input: z.object({ n: z.number() }) as never,
        async *execute() {
          yield "the secret"
        },
      }),
    )
    const asked: unknown[] = []
    const person = answeringClient((given) => {
      asked.push(given)
      return { action: "accept", content: { decision: "release" } }
    })
    const { client, notifications } = await connectClient(
      openEndpoint(app, { waitMs: 20 }),
      era,
      { person: "ann" },
      person,
    )
    const reports: unknown[] = []
    const call = (n: number) =>
      client.callTool({ name: "probe", arguments: { n } }, { onprogress: (progress) => reports.push(progress) })
    const answer = async (decision: Answer) => {
      await until(async () => (await app.approvals.list()).length === 1, "the result waits")
      const [item] = await app.approvals.list()
      return app.approvals.answer(item?.callId ?? "", decision, "ben")
    }
    const tickets = [await call(1)]
    await answer({ kind: "release" })
    expect(textOf(await call(1))).toBe("the secret")
    tickets.push(await call(2))
    await answer({ kind: "withhold", reason: "It names people." })
    const withheld = await call(2)
    expect(withheld.isError).toBe(true)
    expect(textOf(withheld)).toMatch(/withheld.*It names people\./)
    const waits = await client.callTool({ name: "probe", arguments: { n: 3 } })
    expect(textOf(waits)).toMatch(/^The tool ran, but its result is held back/)
    expect(JSON.stringify([...tickets, withheld, waits, notifications, reports, asked])).not.toContain("the secret")
    expect(asked).toEqual([])
  })

  test(`a question is shown unchanged, and shown again until the form is filled in correctly (${era})`, async () => {
    const app = await openTestApp()
    const form = {
      type: "object",
      properties: { age: { type: "integer", minimum: 1, title: "Age" } },
      required: ["age"],
    }
    app.registry.register(
      tool({
        kind: "interactive",
        question: () => ({ question: "How old?", form }),
        execute: (_input, { answer }) => answer,
      }),
    )
    const forms: unknown[] = []
    const answers = [{ age: 0 }, { age: 7 }]
    const person = answeringClient(({ message, requestedSchema }) => {
      forms.push([message, requestedSchema])
      return { action: "accept", content: answers.shift() ?? {} }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    expect(textOf(await client.callTool({ name: "probe", arguments: {} }))).toBe('{"age":7}')
    expect(forms).toEqual([1, 2].map(() => ["Low risk: operator asks\nHow old?", form]))
  })

  test(`a client without a person or without forms gets a ticket (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(tool({ ...guarded, execute: () => "ran" }))
    const endpoint = openEndpoint(app, { waitMs: 50 })
    let asked = false
    const anonymous = await connectClient(
      endpoint,
      era,
      {},
      answeringClient(() => ((asked = true), { action: "accept", content: { decision: "once" } })),
    )
    const withoutForms = await connectClient(endpoint, era, { person: "ann" })
    for (const { client } of [anonymous, withoutForms]) {
      const ticket = await client.callTool({ name: "probe", arguments: {} })
      expect(ticket.isError).toBe(true)
      expect(textOf(ticket)).toMatch(/^NOT EXECUTED YET\..*until 20.*Call probe again with the same arguments/)
      expect(ticket._meta).toMatchObject({
        "quartermaster/ticket": { state: "waiting", callId: expect.any(String) as string },
      })
    }
    expect(asked).toBe(false)
    expect(await app.approvals.list()).toHaveLength(2)
  })

  test(`repeating a call redeems its ticket once a person has answered, in any session and process (${era})`, async () => {
    const first = await openTestApp()
    let runs = 0
    const probe = () =>
      tool({ ...guarded, input: z.object({ n: z.number() }) as never, execute: () => `run ${++runs}` })
    first.registry.register(probe())
    const endpoint = openEndpoint(first, { waitMs: 20 })
    const call = { name: "probe", arguments: { n: 1 } }
    const one = await connectClient(endpoint, era)
    const ticket = await one.client.callTool(call)
    const { callId } = (ticket._meta as Record<string, { callId: string }>)["quartermaster/ticket"] ?? { callId: "" }
    expect(textOf(await one.client.callTool(call))).toContain(callId)
    await first.approvals.answer(callId, { kind: "approve" }, "ann")
    const other = await connectClient(endpoint, era)
    expect(textOf(await other.client.callTool(call))).toBe("run 1")
    expect(textOf(await other.client.callTool(call))).toContain("NOT EXECUTED YET")

    await first.close()
    const second = await openTestApp({ data: { dir: first.dir } })
    second.registry.register(probe())
    const [waiting] = await second.approvals.list()
    await second.approvals.answer(waiting?.callId ?? "", { kind: "approve" }, "ann")
    const later = await connectClient(openEndpoint(second, { waitMs: 20 }), era)
    expect(textOf(await later.client.callTool(call))).toBe("run 2")
  })

  test(`a ticket for a held result is redeemed without running the tool again, also after a restart (${era})`, async () => {
    const first = await openTestApp()
    let runs = 0
    const probe = () =>
      tool({ permission: { level: "public", requireResultApproval: "always" }, execute: () => `run ${++runs}` })
    first.registry.register(probe())
    const call = { name: "probe", arguments: {} }
    const one = await connectClient(openEndpoint(first, { waitMs: 20 }), era)
    const held = await one.client.callTool(call)
    expect(textOf(held)).toMatch(/^The tool ran, but its result is held back/)
    expect(textOf(held)).not.toContain("run 1")
    expect(textOf(await one.client.callTool(call))).toContain("held back")
    await first.close()
    const second = await openTestApp({ data: { dir: first.dir } })
    second.registry.register(probe())
    const later = await connectClient(openEndpoint(second, { waitMs: 20 }), era)
    expect(textOf(await later.client.callTool(call))).toContain("held back")
    const [item] = await second.approvals.list()
    await second.approvals.answer(item?.callId ?? "", { kind: "release" }, "ann")
    expect(textOf(await later.client.callTool(call))).toBe("run 1")
    expect(runs).toBe(1)
  })

  test(`a client that follows progress gets reports and then a ticket, until it has shown that it lasts longer (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(tool({ ...guarded, execute: () => "ran" }))
    app.registry.register(tool({ name: "slow", execute: () => new Promise((done) => setTimeout(done, 200)) }))
    const { client } = await connectClient(openEndpoint(app, { waitMs: 20, lastsMs: 100, progressMs: 30 }), era)
    const progress: { progress: number; message?: string }[] = []
    const call = (name: string) =>
      client.callTool({ name, arguments: {} }, { onprogress: (one) => void progress.push(one) })
    expect(textOf(await call("probe"))).toContain("NOT EXECUTED YET")
    const [item] = await app.approvals.list()
    const message = `probe waits for a person. To answer: qm approvals show ${item?.callId}`

    await call("slow")
    progress.length = 0
    const called = call("probe")
    await until(() => progress.length >= 3, "it reported three times")
    expect(progress.slice(0, 3)).toEqual([1, 2, 3].map((count) => ({ progress: count, message })))
    await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "ann")
    expect(textOf(await called)).toBe("ran")
  })

  test(`a call whose sub-call waits gives a ticket too, and repeating the call continues it (${era})`, async () => {
    const app = await openTestApp()
    let runs = 0
    app.registry.registerMany([
      tool({ name: "inner", ...guarded, execute: () => `inner ${++runs}` }),
      tool({ name: "outer", kind: "composite", execute: async (_input, { call }) => (await call("inner", {})).result }),
    ])
    const { client } = await connectClient(openEndpoint(app, { waitMs: 20 }), era)
    const call = { name: "outer", arguments: {} }
    expect(textOf(await client.callTool(call))).toContain("NOT EXECUTED YET")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "ann")
    // On a busy machine the continued call may take longer than the endpoint waits.
    await expect.poll(async () => textOf(await client.callTool(call))).toBe("inner 1")
    expect(runs).toBe(1)
  })

  test(`another person's answer closes the client's dialog (${era})`, async () => {
    const app = await openTestApp()
    app.registry.register(tool({ ...guarded, execute: () => "ran" }))
    let isAsked = false
    const person = answeringClient(() => {
      isAsked = true
      return new Promise(() => {})
    })
    const { client } = await connectClient(openEndpoint(app), "legacy", { person: "ann" }, person)
    const called = client.callTool({ name: "probe", arguments: {} })
    await until(() => isAsked, "the person is asked")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "bob")
    expect(textOf(await called)).toBe("ran")
  })
}

test.each(["accept", "url"])("a URL to open is passed on to clients that support it (%s)", async (kind) => {
  const app = await openTestApp()
  const question = { question: "Sign in there.", url: "https://example.com/sign-in" }
  app.registry.register(tool({ kind: "interactive", question: () => question, execute: (_i, { answer }) => answer }))
  const forms: unknown[] = []
  for (const era of eras) {
    const person = answeringClient(({ mode, message, url }) => {
      forms.push([mode, message, url])
      return kind === "accept" ? { action: "accept" } : { action: "decline" }
    })
    const { client } = await connectClient(openEndpoint(app), era, { person: "ann" }, person)
    const result = await client.callTool({ name: "probe", arguments: {} })
    expect(textOf(result)).toMatch(kind === "accept" ? /^\{\}$/ : /declined/)
  }
  expect(forms).toEqual([1, 2].map(() => ["url", `Low risk: operator asks\n${question.question}`, question.url]))
})
