import { expect, test } from "vitest"
import { z } from "zod"
import type { ApprovalUIAdapter } from "../model/approval.ts"
import type { Caller } from "../model/call.ts"
import { mcpName, mcpParts } from "../model/mcp.ts"
import { isTicket } from "../model/result.ts"
import type { ToolContext } from "../model/tool.ts"
import { deferred, open, tool, until } from "../testing/open.ts"
import { oneNumber as input } from "./testing.ts"

const saying = (approved: boolean, by: string, seen: string[] = []): Partial<ApprovalUIAdapter> => ({
  showToolExecutionApproval: async (name) => {
    seen.push(name)
    return { approved, by }
  },
  showQuestion: async ({ question }) => {
    seen.push(question)
    return { answer: { name: "Ann" }, by }
  },
})

test("the person at the other end of the door is asked instead of the one the house would ask", async () => {
  const elsewhere: string[] = []
  const showToolResultApproval = async () => ({ approved: true })
  const approvals = { showToolResultApproval, ...saying(true, "house", elsewhere) } as ApprovalUIAdapter
  const house = await open({}, { approvals })
  house.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const call = { agentId: "operator", tool: "probe", input: {} }
  expect(await house.call({ ...call, caller: { approvals: saying(false, "ann") } })).toMatchObject({
    code: "approval_rejected",
  })
  expect(elsewhere).toEqual([])
  expect(await house.call({ ...call, caller: { ask: async () => 1 } })).toMatchObject({ result: "ran" })
  expect(elsewhere).toEqual(["probe"])
})

test("sub-calls have the caller of the call that made them", async () => {
  const house = await open()
  const seen: string[] = []
  house.registry.registerMany([
    tool({ name: "inner", permission: { level: "sensitive" }, execute: () => "inner ran" }),
    tool({ name: "outer", kind: "composite", execute: (_input, { call }) => call("inner", {}) }),
  ])
  const result = await house.call({
    agentId: "operator",
    tool: "outer",
    input: {},
    caller: { approvals: saying(true, "ann", seen) },
  })
  expect(result).toMatchObject({ success: true, result: { result: "inner ran" } })
  expect(seen).toEqual(["inner"])
})

test("a running tool reaches the program that made the call, and finds nobody where there is none", async () => {
  const house = await open()
  house.registry.register(
    tool({ execute: async (_i, { ask, signal }) => (await ask?.("roots/list", {}, signal)) ?? null }),
  )
  const call = { agentId: "operator", tool: "probe", input: {} }
  const ask = async (method: string) => `asked ${method}`
  expect(await house.call({ ...call, caller: { ask } })).toMatchObject({ result: "asked roots/list" })
  expect(await house.call(call)).toMatchObject({ success: true, result: null })
})

test.each([
  ["its caller", (_input: unknown, { ask, signal }: ToolContext) => ask?.("roots/list", {}, signal)],
  ["a person", (_input: unknown, { call }: ToolContext) => call("question", {})],
])(
  "calls that wait for %s keep no other call of their agent from running, and count again when they go on",
  async (_who, execute) => {
    const house = await open({ agents: { maxConcurrentTools: 2 } })
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
    house.registry.registerMany([
      work,
      question,
      tool({ name: "waits", asks: "question", input: input as never, execute }),
    ])
    const caller: Caller = {
      ask: () => answers.promise,
      approvals: { showQuestion: async () => ({ answer: await answers.promise, by: "ann" }) },
    }
    const call = (name: string, given = {}) => house.call({ agentId: "operator", tool: name, input: given, caller })
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

test("a call whose result may be held back asks nobody at the model's side, neither program nor person", async () => {
  const house = await open()
  const permission = { level: "public", requireResultApproval: "always" } as const
  const told: string[] = []
  const execute = async (_input: unknown, { ask, able, call, signal }: ToolContext) => {
    told.push(`${ask === undefined} ${able === undefined}`)
    await ask?.("sampling/createMessage", { secret: 1 }, signal)
    return call("question", {})
  }
  house.registry.registerMany([
    tool({ name: "held", permission, asks: "question", execute }),
    tool({
      name: "question",
      kind: "interactive",
      permission: { level: "public" },
      question: () => ({ question: "The secret is 1?" }),
      execute: (_input, { answer }) => answer,
    }),
  ])
  const asked: string[] = []
  const caller: Caller = { approvals: saying(true, "ann", asked), ask: async (method) => void asked.push(method) }
  const ended = house.call({ agentId: "operator", tool: "held", input: {}, caller })
  await until(async () => (await house.desk.list()).length === 1, "the question waits at the desk")
  const [item] = await house.desk.list()
  await house.desk.say(item?.callId ?? "", { say: "answer", value: "yes" }, "ben")
  await until(async () => (await house.desk.list())[0]?.kind === "result", "the result is held")
  const [held] = await house.desk.list()
  expect(asked).toEqual([])
  await house.desk.say(held?.callId ?? "", { say: "release" }, "ben")
  expect(await ended).toMatchObject({ success: true })
  expect(told).toEqual(["true true"])
})

test("a plain tool may ask a person by the one tool it names, and no other", async () => {
  const house = await open()
  const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
  const question = tool({
    name: "ask_name",
    kind: "interactive",
    offered: "inside",
    permission: { level: "public" },
    question: () => ({ question: "Who?", form }),
    execute: (_input, { answer }) => ({ answer }),
  })
  const asker = tool({ name: "asker", asks: "ask_name", execute: (_input, { call }) => call("ask_name", {}) })
  const other = tool({ name: "other", asks: "ask_else", execute: (_input, { call }) => call("ask_name", {}) })
  house.registry.registerMany([question, asker, other])
  const caller = { approvals: saying(true, "ann") }
  expect(await house.call({ agentId: "operator", tool: "asker", input: {}, caller })).toMatchObject({
    result: { result: { answer: { name: "Ann" } } },
  })
  expect(await house.call({ agentId: "operator", tool: "other", input: {}, caller })).toMatchObject({
    code: "tool_failed",
  })
})

test("what is offered elsewhere is in no list of tools, and is decided and recorded like one", async () => {
  const house = await open({ rules: [{ deny: "mcp:notes:*", args: { "/uri": "secret*" }, because: "Secrets stay." }] })
  const read = mcpName("notes", mcpParts.read)
  house.registry.register(
    tool({
      name: read,
      group: "notes",
      offered: "resource",
      input: z.object({ uri: z.string() }) as never,
      execute: () => "text",
    }),
  )
  expect(house.visibleTools("operator").map(({ name }) => name)).not.toContain(read)
  expect(house.mayKnow("operator", read)).toBe(true)
  expect(house.mayKnow("root", read)).toBe(false)
  expect(house.mayKnow("nobody", read)).toBe(false)
  const call = (uri: string) => house.call({ agentId: "operator", tool: read, input: { uri } })
  expect(await call("plain")).toMatchObject({ success: true })
  expect(await call("secret/1")).toMatchObject({ code: "permission_denied" })
  expect((await house.audit.list({ tool: read })).length).toBe(2)
})

test("a tool in quarantine is neither listed nor callable, and why says what to do", async () => {
  const house = await open()
  const quarantine = "Its description changed. Look at it with qm mcp pins diff notes."
  house.registry.register(tool({ group: "notes", quarantine, execute: () => "ran" }), { type: "mcp" })
  expect(house.visibleTools("operator").map(({ name }) => name)).not.toContain("probe")
  expect(await house.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({
    code: "tool_not_available",
    error: expect.stringContaining(quarantine) as string,
  })
  const { verdict, reasons, change } = await house.why({ agentId: "operator", tool: "probe" })
  expect(verdict).toBe("deny")
  expect(reasons[0]?.sentence).toBe(quarantine)
  expect(change.join()).toContain("qm mcp pins trust notes")
})

test.each(["waiting", "held"] as const)(
  "revoking a token ends what came by it and is %s, and nothing else",
  async (state) => {
    const house = await open()
    const permission = { level: state === "held" ? "public" : "sensitive", requireResultApproval: "always" } as const
    house.registry.register(tool({ permission, input: z.object({ n: z.number() }) as never, execute: () => "ran" }))
    const { entry } = await house.tokens.create({ agentId: "operator" }, "ann")
    const call = (n: number, tokenId?: string) => ({ agentId: "operator", tool: "probe", input: { n }, tokenId })
    const ended = house.call(call(1, entry.id))
    const ticket = await house.submit(call(2, entry.id), { waitMs: 0 })
    const other = await house.submit(call(3), { waitMs: 0 })
    expect([isTicket(ticket), isTicket(other)]).toEqual([true, true])
    await until(async () => (await house.desk.list()).length === 3, "three calls wait")
    await house.tokens.revoke(entry.id, "ann")
    expect(await ended).toMatchObject({ code: "aborted", error: expect.stringContaining("revoked") as string })
    expect(await house.resume(ticket.callId)).toMatchObject({ code: "aborted" })
    expect((await house.desk.list()).map(({ callId }) => callId)).toEqual([other.callId])
  },
)

test("a call that waits ends when the token it came by expires", async () => {
  const house = await open()
  house.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const { entry } = await house.tokens.create({ agentId: "operator", lifetimeMs: 1000 }, "ann")
  const ended = await house.call({ agentId: "operator", tool: "probe", input: {}, tokenId: entry.id })
  expect(ended).toMatchObject({ code: "aborted", error: expect.stringContaining("has expired") as string })
})

test("a yes that comes with the revoking of the token runs nothing", async () => {
  const house = await open()
  let ran = false
  house.registry.register(tool({ permission: { level: "sensitive" }, execute: () => (ran = true) }))
  const { entry } = await house.tokens.create({ agentId: "operator" }, "ann")
  const ended = house.call({ agentId: "operator", tool: "probe", input: {}, tokenId: entry.id })
  await until(async () => (await house.desk.list()).length === 1, "the call waits")
  const [item] = await house.desk.list()
  const revoked = house.tokens.revoke(entry.id, "ann")
  await house.desk.say(item?.callId ?? "", { say: "approve" }, "ben")
  await revoked
  expect(await ended).toMatchObject({ code: "aborted" })
  expect(ran).toBe(false)
})
