import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../approval/callback.ts"
import type { DeskItem, Saying } from "../model/approval.ts"
import type { ToolResult } from "../model/result.ts"
import { modelText } from "../model/text.ts"
import { openRecord } from "../store/testing.ts"
import { open, tool, until } from "../testing/open.ts"
import { ListRecorder, portsOver } from "../testing/ports.ts"
import { sweep } from "./abandoned.ts"
import { callTool } from "./call.ts"
import { admin, approve, endTime, leave, onDesk, oneNumber, ticketOf } from "./testing.ts"

const sensitive = { level: "sensitive" } as const
const probing = { agentId: "operator", tool: "probe", input: {} }

test("the desk shows who wants what and why, oldest first, and for one agent when asked", async () => {
  const system = await open({ approvals: { deadline: 10 } })
  const { org } = system
  await org.createRole({ name: "developer" }, admin)
  await org.createAgent({ id: "chief", role: "developer" }, admin)
  await org.createAgent({ id: "dev", role: "developer", parentId: "chief" }, admin)
  const preview = ({ n }: { n: number }) => `n is ${n}`
  system.registry.register(tool({ input: oneNumber, permission: sensitive, preview, execute: () => 1 }))
  const before = Date.now()
  const more = { taskId: "t1", userId: "bob", sessionId: "s1" }
  const first = await leave(system, { agentId: "dev", input: { n: 7 }, ...more })
  const second = await leave(system)
  expect(first).toEqual({
    callId: expect.any(String),
    kind: "call",
    agentId: "dev",
    role: "developer",
    spawners: ["chief"],
    tool: "probe",
    description: "A tool of a test.",
    level: "sensitive",
    input: { n: 7 },
    reasons: [expect.objectContaining({ voice: "level", source: "system:probe@1.0.0" })],
    preview: "n is 7",
    revision: 1,
    votes: [],
    approvers: [],
    remember: [],
    touches: { list: [], proved: true },
    ...more,
    createdAt: expect.any(Number),
    until: first.createdAt + 600_000,
  })
  expect(first.createdAt).toBeGreaterThanOrEqual(before)
  expect((await system.desk.list()).map(({ callId }) => callId)).toEqual([first.callId, second.callId])
  expect(await system.desk.list({ agentId: "dev" })).toEqual([first])
  expect(await system.desk.list({ agentId: "nobody" })).toEqual([])
})

test("a unique beginning of an id is enough to see a call; an ambiguous or unknown one shows nothing", async () => {
  const system = await open()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const one = await leave(system, { input: { n: 1 } })
  expect(await system.desk.show(one.callId.slice(0, 4))).toEqual(one)
  expect(await system.desk.show("")).toBeUndefined()
  const two = await leave(system, { input: { n: 2 } })
  const common = Array.from(one.callId).findIndex((letter, index) => letter !== two.callId[index])
  expect(await system.desk.show(one.callId.slice(0, common + 1))).toEqual(one)
  expect(await system.desk.show(two.callId.slice(0, common + 1))).toEqual(two)
  expect(await system.desk.show(one.callId.slice(0, common))).toBeUndefined()
  expect(await system.desk.show(`${one.callId}0`)).toBeUndefined()
  expect(await system.desk.show("nothing")).toBeUndefined()
  await approve(system, one.callId)
  expect(await system.desk.show(one.callId)).toBeUndefined()
  expect(await system.desk.show(two.callId.slice(0, common))).toEqual(two)
})

test("each kind of thing that waits takes its own sayings and refuses the others", async () => {
  const system = await open()
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  system.registry.register(tool({ name: "held", permission: { requireResultApproval: "always" }, execute: () => 1 }))
  const waiting: Record<DeskItem["kind"], DeskItem> = {
    call: await leave(system),
    result: await leave(system, { tool: "held" }),
    question: await leave(system, { tool: "ask_user", input: { question: "Which?", options: ["a", "b"] } }),
  }
  const sayings: Saying[] = [
    { say: "approve" },
    { say: "edit", input: {} },
    { say: "reject" },
    { say: "release" },
    { say: "withhold" },
    { say: "answer", value: "a" },
    { say: "bogus" } as never,
  ]
  const fitting = {
    call: ["approve", "edit", "reject"],
    result: ["release", "withhold"],
    question: ["answer", "reject"],
  }
  for (const kind of ["call", "result", "question"] as const) {
    const { callId } = waiting[kind]
    expect(waiting[kind].kind).toBe(kind)
    for (const saying of sayings.filter(({ say }) => !fitting[kind].includes(say))) {
      const sentence = `A waiting ${kind} is answered with one of: ${fitting[kind].join(", ")}.`
      expect(await system.desk.say(callId, saying, "ann"), `${kind} ${saying.say}`).toEqual({ ok: false, sentence })
    }
    expect(await onDesk(system, callId)).toEqual(waiting[kind])
  }
  expect(waiting.question.question).toEqual({ question: "Which?", options: ["a", "b"], multiple: false })
  expect(waiting.result).toMatchObject({ result: { result: 1 }, remember: [], approvers: [] })
})

test("the first answer counts; whoever comes later, or too late, hears so", async () => {
  const system = await open()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const say = (callId: string, saying: Saying, revision?: number) => system.desk.say(callId, saying, "bob", revision)
  expect(await say("nothing", { say: "approve" })).toEqual({
    ok: false,
    sentence: "No call 'nothing' waits. 'qm approvals list' shows what does.",
  })
  const yes = await leave(system, { input: { n: 1 } })
  await approve(system, yes.callId)
  const already = { ok: false, sentence: "ann has answered already: yes." }
  expect(await say(yes.callId, { say: "reject" })).toEqual(already)
  expect(await system.resume(yes.callId)).toMatchObject({ success: true })
  expect(await say(yes.callId, { say: "reject" })).toEqual(already)

  const no = await leave(system, { input: { n: 2 } })
  expect(await system.desk.say(no.callId, { say: "reject" }, "ann")).toMatchObject({ ok: true, done: true })
  expect(await say(no.callId, { say: "approve" })).toEqual({ ok: false, sentence: "ann has answered already: no." })
  expect(await system.resume(no.callId)).toMatchObject({ code: "approval_rejected" })

  const edited = await leave(system, { input: { n: 3 } })
  await system.desk.say(edited.callId, { say: "edit", input: { n: 4 } }, "ann")
  const another = { ok: false, sentence: "ann has answered already: another input." }
  expect(await say(edited.callId, { say: "approve" })).toEqual(another)
  await system.resume(edited.callId, { waitMs: 0 })
  expect(await say(edited.callId, { say: "approve" }, edited.revision)).toEqual({
    ok: false,
    sentence: "It has changed since you saw it: this is revision 2 now. Look at it again, then answer.",
  })
  expect(await say(edited.callId, { say: "approve" }, 2)).toMatchObject({ ok: true, done: true })
})

test("after its deadline a call is no longer on the desk and takes no answer", async () => {
  const system = await open()
  let runs = 0
  system.registry.register(tool({ permission: sensitive, execute: () => ++runs }))
  const { callId } = await leave(system)
  await endTime(system.dir, callId)
  expect(await system.desk.list()).toEqual([])
  expect(await system.desk.show(callId)).toBeUndefined()
  expect(await system.desk.say(callId, { say: "approve" }, "ann")).toEqual({
    ok: false,
    sentence: "Its time is over; nobody answered in time.",
  })
  expect(await system.resume(callId)).toMatchObject({ code: "approval_expired" })
  expect(runs).toBe(0)
})

test("a rule may give people less time than the configuration, never more", async () => {
  const rules = [
    { ask: "probe", args: { "/n": "1" }, deadline: 1, because: "Soon." },
    { ask: "probe", args: { "/n": "2" }, deadline: 60, because: "Some time." },
  ]
  const system = await open({ approvals: { deadline: 10 }, rules })
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  for (const [n, minutes] of [
    [1, 1],
    [2, 10],
    [3, 10],
  ] as const) {
    const item = await leave(system, { input: { n } })
    expect(item.until - item.createdAt).toBe(minutes * 60_000)
  }
})

test.each(["operator", "root", "dev"])("the agent %s answers nothing that waits", async (by) => {
  const system = await open()
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const item = await leave(system)
  for (const saying of [{ say: "approve" }, { say: "edit", input: {} }, { say: "reject" }] as const) {
    const sentence = `'${by}' is an agent, and only a person answers.`
    expect(await system.desk.say(item.callId, saying, by)).toEqual({ ok: false, sentence })
  }
  expect(await onDesk(system, item.callId)).toEqual(item)
})

test("what waits for an agent ends with it, in every house, without an answer", async () => {
  const system = await open()
  const other = await open({ data: { dir: system.dir } })
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const call = system.call({ ...probing, agentId: "dev" })
  await until(async () => (await other.desk.list()).length === 1, "the call waits")
  await other.org.terminateAgent("dev", admin)
  expect(await call).toMatchObject({ code: "aborted", error: "Agent dev was ended, and its calls with it." })
  expect(await other.desk.list()).toEqual([])
})

test("a no with its reason reaches the model, whoever comes for the ending and whenever", async () => {
  const system = await open()
  let runs = 0
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => ++runs }))
  const said: Saying = { say: "reject", reason: "Not on a Friday." }
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.desk.list()).length === 1, "the call waits")
  await system.desk.say((await system.desk.list())[0]!.callId, said, "ann")
  const { callId } = await leave(system, { input: { n: 2 } })
  await system.desk.say(callId, said, "ann")
  for (const ended of [await live, await system.resume(callId), await system.resume(callId)] as ToolResult[]) {
    expect(ended).toMatchObject({
      status: "execution_rejected",
      code: "approval_rejected",
      rejectReason: "Not on a Friday.",
      error: "A person (ann) rejected the call of probe: Not on a Friday.",
      metadata: { ran: false },
    })
    expect(modelText(ended)).toMatch(/^NOT EXECUTED.*Not on a Friday\./)
  }
  expect(runs).toBe(0)
})

test("the record says who answered, also when the ticket is redeemed later", async () => {
  const system = await open()
  const approved: string[] = []
  system.on("TOOL_CALL_APPROVED", ({ by }) => approved.push(by))
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const { callId } = await leave(system)
  await approve(system, callId, "bob")
  expect(await system.resume(callId)).toMatchObject({ success: true })
  const story = await system.audit.show(callId)
  expect(story.map(({ kind }) => kind)).toEqual(["asked", "answered", "start", "end"])
  expect(story[1]).toMatchObject({ by: "bob", text: "approved" })
  expect(approved).toEqual(["bob"])
})

test("with nobody attached a question is refused at once where the configuration says so [C-19]", async () => {
  const system = await open({ approvals: { unattended: "reject" } })
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  system.registry.register(tool({ name: "held", permission: { requireResultApproval: "always" }, execute: () => 1 }))
  expect(await system.call(probing)).toMatchObject({
    code: "approval_rejected",
    error: "Nobody agreed to the call of probe: Nobody is here to ask.",
  })
  expect(await system.call({ ...probing, tool: "held" })).toMatchObject({
    code: "result_withheld",
    rejectReason: "Nobody is here to ask.",
  })
  expect(await system.desk.list()).toEqual([])
})

test.each([
  [
    "throws",
    () => {
      throw new Error("gone")
    },
  ],
  ["rejects", () => Promise.reject(new Error("gone"))],
  ["answers nothing", () => undefined as never],
])("a dialog that %s has said no, about a call, a result and a question alike [C-19]", async (_what, dialog) => {
  const approvals = callbackAdapter({ onExecution: dialog, onResult: dialog, onQuestion: dialog })
  const system = await open({}, { approvals })
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  system.registry.register(tool({ name: "held", permission: { requireResultApproval: "always" }, execute: () => 1 }))
  expect(await system.call(probing)).toMatchObject({ code: "approval_rejected" })
  expect(await system.call({ ...probing, tool: "held" })).toMatchObject({ code: "result_withheld" })
  const question = { question: "Which?" }
  expect(await system.call({ ...probing, tool: "ask_user", input: question })).toMatchObject({
    code: "tool_failed",
    metadata: { toolCode: "no_answer" },
  })
})

test("a dialog whose answer cannot be used has said no, and nobody waits for it for ever", async () => {
  const approvals = callbackAdapter({
    onExecution: () => ({ approved: false, edit: { input: () => 1 } }),
    onResult: () => ({ approved: true, redact: ["/nothing"] }),
    onQuestion: () => "c",
  })
  const system = await open({}, { approvals })
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  system.registry.register(tool({ name: "held", permission: { requireResultApproval: "always" }, execute: () => "x" }))
  const unusable = expect.stringContaining("The dialog gave an answer that cannot be used:")
  expect(await system.call(probing)).toMatchObject({ code: "approval_rejected", rejectReason: unusable })
  expect(await system.call({ ...probing, tool: "held" })).toMatchObject({
    code: "result_withheld",
    rejectReason: expect.stringContaining("There is nothing at '/nothing'"),
  })
  const asking = { ...probing, tool: "ask_user", input: { question: "Which?", options: ["a", "b"] } }
  expect(await system.call(asking)).toMatchObject({ code: "tool_failed", error: expect.stringContaining("'c' is not") })
})

test("answering tells what happens next, by who still walks the call", async () => {
  const system = await open()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const sentenceOf = async (callId: string, saying: Saying) => (await system.desk.say(callId, saying, "ann")).sentence
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.desk.list()).length === 1, "the call waits")
  const [item] = await system.desk.list()
  expect(await sentenceOf(item!.callId, { say: "edit", input: { n: 5 } })).toBe(
    "It is checked and decided again, and then waits here as a new revision.",
  )
  await until(async () => (await system.desk.show(item!.callId))?.revision === 2, "the new revision waits")
  expect(await sentenceOf(item!.callId, { say: "approve" })).toBe("Answered.")
  expect(await live).toMatchObject({ ranInput: { n: 5 } })
  const ticket = await leave(system, { input: { n: 2 } })
  expect(await sentenceOf(ticket.callId, { say: "edit", input: { n: 5 } })).toContain(
    "when its caller comes back for it",
  )
  const other = await leave(system, { input: { n: 3 } })
  expect(await sentenceOf(other.callId, { say: "approve" })).toBe("Answered.")
})

test("a call that could not be ended because its end could not be kept is ended by the next who looks", async () => {
  const store = await openRecord()
  const recorder = new ListRecorder()
  let now = Date.now()
  const ports = await portsOver(store, { recorder, now: () => now })
  ports.tools.register(tool({ input: z.object({}) as never, permission: sensitive, execute: () => 1 }))
  const { callId } = ticketOf(await callTool(probing, ports, { patienceMs: 0 }))
  now += 120_000
  recorder.fails = () => true
  await sweep(ports)
  expect(await ports.calls.get(callId)).toMatchObject({ state: "waiting" })
  recorder.fails = () => false
  await sweep(ports)
  expect(await ports.calls.get(callId)).toMatchObject({ state: "ended", result: { code: "approval_expired" } })
  expect(recorder.kept.at(-1)).toMatchObject({ kind: "end", code: "approval_expired", role: "operator", ran: false })
})
