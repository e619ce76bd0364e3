import { expect, test } from "vitest"
import { z } from "zod"
import type { ApprovalUIAdapter } from "../core/approval.ts"
import type { Caller } from "../core/call.ts"
import { mcpName, mcpParts } from "../core/mcp.ts"
import { isTicket } from "../core/result.ts"
import type { ToolContext } from "../core/tool.ts"
import { deferred, openTestApp, tool, until } from "../testing/test-app.ts"
import { oneNumber as input } from "./testing.ts"

const adapterAnswering = (approved: boolean, by: string, seen: string[] = []): Partial<ApprovalUIAdapter> => ({
  showToolExecutionApproval: async (name) => {
    seen.push(name)
    return { approved, by }
  },
  showQuestion: async ({ question }) => {
    seen.push(question)
    return { answer: { name: "Ann" }, by }
  },
})

test("the caller's own approval UI is asked instead of the app's", async () => {
  const elsewhere: string[] = []
  const showToolResultApproval = async () => ({ approved: true })
  const approvals = { showToolResultApproval, ...adapterAnswering(true, "app", elsewhere) } as ApprovalUIAdapter
  const app = await openTestApp({}, { approvals })
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const call = { agentId: "operator", tool: "probe", input: {} }
  expect(await app.call({ ...call, caller: { approvalUI: adapterAnswering(false, "ann") } })).toMatchObject({
    code: "approval_rejected",
  })
  expect(elsewhere).toEqual([])
  expect(await app.call({ ...call, caller: { sendRequest: async () => 1 } })).toMatchObject({ result: "ran" })
  expect(elsewhere).toEqual(["probe"])
})

test("sub-calls have the caller of the call that made them", async () => {
  const app = await openTestApp()
  const seen: string[] = []
  app.registry.registerMany([
    tool({ name: "inner", permission: { level: "sensitive" }, execute: () => "inner ran" }),
    tool({ name: "outer", kind: "composite", execute: (_input, { call }) => call("inner", {}) }),
  ])
  const result = await app.call({
    agentId: "operator",
    tool: "outer",
    input: {},
    caller: { approvalUI: adapterAnswering(true, "ann", seen) },
  })
  expect(result).toMatchObject({ success: true, result: { result: "inner ran" } })
  expect(seen).toEqual(["inner"])
})

test("a running tool reaches the caller's program, if there is one", async () => {
  const app = await openTestApp()
  app.registry.register(
    tool({ execute: async (_i, { sendRequest, signal }) => (await sendRequest?.("roots/list", {}, signal)) ?? null }),
  )
  const call = { agentId: "operator", tool: "probe", input: {} }
  const ask = async (method: string) => `asked ${method}`
  expect(await app.call({ ...call, caller: { sendRequest: ask } })).toMatchObject({ result: "asked roots/list" })
  expect(await app.call(call)).toMatchObject({ success: true, result: null })
})

test.each([
  ["its caller", (_input: unknown, { sendRequest, signal }: ToolContext) => sendRequest?.("roots/list", {}, signal)],
  ["a person", (_input: unknown, { call }: ToolContext) => call("question", {})],
])(
  "calls that wait for %s keep no other call of their agent from running, and count again when they go on",
  async (_who, execute) => {
    const app = await openTestApp({ agents: { maxConcurrentTools: 2 } })
    const answers = deferred<string>()
    let running = 0
    let most = 0
    const work = tool({
      name: "work",
      execute: async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
      },
    })
    const question = tool({
      name: "question",
      kind: "interactive",
      permission: { level: "public" },
      question: () => ({ question: "Who?" }),
      execute: (_input, { answer }) => answer,
    })
    app.registry.registerMany([
      work,
      question,
      tool({ name: "waits", questionTool: "question", input: input as never, execute }),
    ])
    const caller: Caller = {
      sendRequest: () => answers.promise,
      approvalUI: { showQuestion: async () => ({ answer: await answers.promise, by: "ann" }) },
    }
    const call = (name: string, given = {}) => app.call({ agentId: "operator", tool: name, input: given, caller })
    const waiting = [1, 2, 3, 4].map((n) => call("waits", { n }))
    const worked = await Promise.all([1, 2, 3, 4, 5, 6].map(() => call("work")))
    expect(worked.every(({ success }) => success)).toBe(true)
    expect(most).toBe(2)
    answers.resolve("Ann")
    expect((await Promise.all(waiting)).map(({ success }) => success)).toEqual([true, true, true, true])
    most = 0
    await Promise.all([1, 2, 3, 4, 5, 6].map(() => call("work")))
    expect(most).toBe(2)
  },
)

test("a call whose result may be held back asks neither the caller's program nor its person", async () => {
  const app = await openTestApp()
  const permission = { level: "public", requireResultApproval: "always" } as const
  const missing: string[] = []
  const execute = async (_input: unknown, { sendRequest, able, call, signal }: ToolContext) => {
    missing.push(`${sendRequest === undefined} ${able === undefined}`)
    await sendRequest?.("sampling/createMessage", { secret: 1 }, signal)
    return call("question", {})
  }
  app.registry.registerMany([
    tool({ name: "held", permission, questionTool: "question", execute }),
    tool({
      name: "question",
      kind: "interactive",
      permission: { level: "public" },
      question: () => ({ question: "The secret is 1?" }),
      execute: (_input, { answer }) => answer,
    }),
  ])
  const asked: string[] = []
  const caller: Caller = {
    approvalUI: adapterAnswering(true, "ann", asked),
    sendRequest: async (method) => void asked.push(method),
  }
  const ended = app.call({ agentId: "operator", tool: "held", input: {}, caller })
  await until(async () => (await app.approvals.list()).length === 1, "the question waits")
  const [item] = await app.approvals.list()
  await app.approvals.answer(item?.callId ?? "", { kind: "answer", value: "yes" }, "ben")
  await until(async () => (await app.approvals.list())[0]?.kind === "result", "the result is held")
  const [held] = await app.approvals.list()
  expect(asked).toEqual([])
  await app.approvals.answer(held?.callId ?? "", { kind: "release" }, "ben")
  expect(await ended).toMatchObject({ success: true })
  expect(missing).toEqual(["true true"])
})

test("a plain tool may ask a person by the one tool it names, and no other", async () => {
  const app = await openTestApp()
  const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
  const question = tool({
    name: "ask_name",
    kind: "interactive",
    exposedAs: "inside",
    permission: { level: "public" },
    question: () => ({ question: "Who?", form }),
    execute: (_input, { answer }) => ({ answer }),
  })
  const asker = tool({ name: "asker", questionTool: "ask_name", execute: (_input, { call }) => call("ask_name", {}) })
  const other = tool({ name: "other", questionTool: "ask_else", execute: (_input, { call }) => call("ask_name", {}) })
  app.registry.registerMany([question, asker, other])
  const caller = { approvalUI: adapterAnswering(true, "ann") }
  expect(await app.call({ agentId: "operator", tool: "asker", input: {}, caller })).toMatchObject({
    result: { result: { answer: { name: "Ann" } } },
  })
  expect(await app.call({ agentId: "operator", tool: "other", input: {}, caller })).toMatchObject({
    code: "tool_failed",
  })
})

test("a tool that is exposed elsewhere is not listed, and is decided on and recorded like any other", async () => {
  const app = await openTestApp({
    rules: [{ deny: "mcp:notes:*", args: { "/uri": "secret*" }, because: "Secrets stay." }],
  })
  const read = mcpName("notes", mcpParts.read)
  app.registry.register(
    tool({
      name: read,
      group: "notes",
      exposedAs: "resource",
      input: z.object({ uri: z.string() }) as never,
      execute: () => "text",
    }),
  )
  expect(app.visibleTools("operator").map(({ name }) => name)).not.toContain(read)
  expect(app.isVisible("operator", read)).toBe(true)
  expect(app.isVisible("root", read)).toBe(false)
  expect(app.isVisible("nobody", read)).toBe(false)
  const call = (uri: string) => app.call({ agentId: "operator", tool: read, input: { uri } })
  expect(await call("plain")).toMatchObject({ success: true })
  expect(await call("secret/1")).toMatchObject({ code: "permission_denied" })
  expect((await app.audit.list({ tool: read })).length).toBe(2)
})

test("a tool in quarantine is neither listed nor callable, and why says what to do", async () => {
  const app = await openTestApp()
  const quarantine = "Its description changed. Look at it with qm mcp pins diff notes."
  app.registry.register(tool({ group: "notes", quarantine, execute: () => "ran" }), { type: "mcp" })
  expect(app.visibleTools("operator").map(({ name }) => name)).not.toContain("probe")
  expect(await app.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
    code: "tool_not_available",
    error: expect.stringContaining(quarantine) as string,
  })
  const { verdict, reasons, change } = await app.why({ agentId: "operator", tool: "probe" })
  expect(verdict).toBe("deny")
  expect(reasons[0]?.sentence).toBe(quarantine)
  expect(change.join()).toContain("qm mcp pins trust notes")
})

test.each(["waiting", "held"] as const)(
  "revoking a token ends what came by it and is %s, and nothing else",
  async (state) => {
    const app = await openTestApp()
    const permission = { level: state === "held" ? "public" : "sensitive", requireResultApproval: "always" } as const
    app.registry.register(tool({ permission, input: z.object({ n: z.number() }) as never, execute: () => "ran" }))
    const { entry } = await app.tokens.create({ agentId: "operator" }, "ann")
    const call = (n: number, tokenId?: string) => ({ agentId: "operator", tool: "probe", input: { n }, tokenId })
    const ended = app.call(call(1, entry.id))
    const ticket = await app.call(call(2, entry.id), { waitMs: 0 })
    const other = await app.call(call(3), { waitMs: 0 })
    expect([isTicket(ticket), isTicket(other)]).toEqual([true, true])
    await until(async () => (await app.approvals.list()).length === 3, "three calls wait")
    await app.tokens.revoke(entry.id, "ann")
    expect(await ended).toMatchObject({ code: "aborted", error: expect.stringContaining("revoked") as string })
    expect(await app.resume(ticket.callId)).toMatchObject({ code: "aborted" })
    expect((await app.approvals.list()).map(({ callId }) => callId)).toEqual([other.callId])
  },
)

test("a waiting call ends when its token expires", async () => {
  const app = await openTestApp()
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const { entry } = await app.tokens.create({ agentId: "operator", lifetimeMs: 1000 }, "ann")
  const ended = await app.call({ agentId: "operator", tool: "probe", input: {}, tokenId: entry.id })
  expect(ended).toMatchObject({ code: "aborted", error: expect.stringContaining("has expired") as string })
})

test("an approval at the moment its token is revoked runs nothing", async () => {
  const app = await openTestApp()
  let ran = false
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => (ran = true) }))
  const { entry } = await app.tokens.create({ agentId: "operator" }, "ann")
  const ended = app.call({ agentId: "operator", tool: "probe", input: {}, tokenId: entry.id })
  await until(async () => (await app.approvals.list()).length === 1, "the call waits")
  const [item] = await app.approvals.list()
  const revoked = app.tokens.revoke(entry.id, "ann")
  await app.approvals.answer(item?.callId ?? "", { kind: "approve" }, "ben")
  await revoked
  expect(await ended).toMatchObject({ code: "aborted" })
  expect(ran).toBe(false)
})
