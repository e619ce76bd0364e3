import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../ask/callback.ts"
import type { PendingItem, Answer } from "../../core/approval.ts"
import type { ToolResult } from "../../core/result.ts"
import type { ToolContext } from "../../core/tool.ts"
import { translate } from "../../messages/translate.ts"
import { modelText } from "../../core/model-text.ts"
import { openTestStore } from "../../store/testing/test-store.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { ListRecorder, portsOver } from "../../testing/ports.ts"
import { sweep } from "../../call/stored/abandoned.ts"
import { callTool } from "../../call/call.ts"
import {
  admin,
  approvePending,
  expireDeadline,
  leaveWaiting,
  showPending,
  oneNumber,
  expectTicket,
} from "../../call/testing.ts"

const sensitive = { level: "sensitive" } as const
const probing = { agentId: "operator", tool: "probe", input: {} }

test("the approval queue shows who wants what and why, oldest first, and for one agent if asked", async () => {
  const system = await openTestApp({ approvals: { deadline: 10 } })
  const { org } = system
  await org.createRole({ name: "developer" }, admin)
  await org.createAgent({ id: "chief", role: "developer" }, admin)
  await org.createAgent({ id: "dev", role: "developer", parentId: "chief" }, admin)
  const preview = ({ n }: { n: number }) => `n is ${n}`
  system.registry.register(tool({ input: oneNumber, permission: sensitive, preview, execute: () => 1 }))
  const before = Date.now()
  const more = { taskId: "t1", userId: "bob", sessionId: "s1" }
  const first = await leaveWaiting(system, { agentId: "dev", input: { n: 7 }, ...more })
  const second = await leaveWaiting(system)
  expect(first).toEqual({
    callId: expect.any(String),
    kind: "call",
    agentId: "dev",
    role: "developer",
    ancestors: ["chief"],
    tool: "probe",
    description: "A tool of a test.",
    level: "sensitive",
    input: { n: 7 },
    reasons: [expect.objectContaining({ check: "level", source: "system:probe@1.0.0" })],
    preview: "n is 7",
    previewData: { kind: "text", text: "n is 7" },
    revision: 1,
    votes: [],
    approvers: [],
    remember: [],
    touches: { list: [], proved: true },
    title: expect.objectContaining({ code: "title_call" }),
    summary: "n is 7",
    risk: { band: "low", destructive: false, tags: [] },
    ...more,
    createdAt: expect.any(Number),
    until: first.createdAt + 600_000,
  })
  expect(first.createdAt).toBeGreaterThanOrEqual(before)
  expect((await system.approvals.list()).map(({ callId }) => callId)).toEqual([first.callId, second.callId])
  expect(await system.approvals.list({ agentId: "dev" })).toEqual([first])
  expect(await system.approvals.list({ agentId: "nobody" })).toEqual([])
})

test("a unique id prefix is enough to show a call; an ambiguous or unknown one shows nothing", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const one = await leaveWaiting(system, { input: { n: 1 } })
  expect(await system.approvals.show(one.callId.slice(0, 4))).toEqual(one)
  expect(await system.approvals.show("")).toBeUndefined()
  const two = await leaveWaiting(system, { input: { n: 2 } })
  const common = Array.from(one.callId).findIndex((letter, index) => letter !== two.callId[index])
  expect(await system.approvals.show(one.callId.slice(0, common + 1))).toEqual(one)
  expect(await system.approvals.show(two.callId.slice(0, common + 1))).toEqual(two)
  expect(await system.approvals.show(one.callId.slice(0, common))).toBeUndefined()
  expect(await system.approvals.show(`${one.callId}0`)).toBeUndefined()
  expect(await system.approvals.show("nothing")).toBeUndefined()
  await approvePending(system, one.callId)
  expect(await system.approvals.show(one.callId)).toBeUndefined()
  expect(await system.approvals.show(two.callId.slice(0, common))).toEqual(two)
})

test("each kind of waiting item takes its own answers and refuses the others", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  system.registry.register(tool({ name: "held", permission: { requireResultApproval: "always" }, execute: () => 1 }))
  const waiting: Record<PendingItem["kind"], PendingItem> = {
    call: await leaveWaiting(system),
    result: await leaveWaiting(system, { tool: "held" }),
    question: await leaveWaiting(system, { tool: "ask_user", input: { question: "Which?", options: ["a", "b"] } }),
  }
  const answers: Answer[] = [
    { kind: "approve" },
    { kind: "edit", input: {} },
    { kind: "reject" },
    { kind: "release" },
    { kind: "withhold" },
    { kind: "answer", value: "a" },
    { kind: "bogus" } as never,
  ]
  const fitting = {
    call: ["approve", "edit", "reject"],
    result: ["release", "withhold"],
    question: ["answer", "reject"],
  }
  for (const kind of ["call", "result", "question"] as const) {
    const { callId } = waiting[kind]
    expect(waiting[kind].kind).toBe(kind)
    for (const answer of answers.filter(({ kind: say }) => !fitting[kind].includes(say))) {
      const sentence = `A waiting ${kind} is answered with one of: ${fitting[kind].join(", ")}.`
      expect(await system.approvals.answer(callId, answer, "ann"), `${kind} ${answer.kind}`).toEqual({
        ok: false,
        sentence,
      })
    }
    expect(await showPending(system, callId)).toEqual(waiting[kind])
  }
  expect(waiting.question.question).toEqual({ question: "Which?", options: ["a", "b"], multiple: false })
  expect(waiting.result).toMatchObject({ result: { result: 1 }, remember: [], approvers: [] })
})

test("the first answer counts; a later one is refused with a sentence", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const say = (callId: string, answer: Answer, revision?: number) =>
    system.approvals.answer(callId, answer, "bob", revision)
  expect(await say("nothing", { kind: "approve" })).toEqual({
    ok: false,
    sentence: "No call 'nothing' waits. 'qm approvals list' shows what does.",
  })
  const yes = await leaveWaiting(system, { input: { n: 1 } })
  await approvePending(system, yes.callId)
  const already = { ok: false, sentence: "ann has answered already: yes." }
  expect(await say(yes.callId, { kind: "reject" })).toEqual(already)
  expect(await system.resume(yes.callId)).toMatchObject({ success: true })
  expect(await say(yes.callId, { kind: "reject" })).toEqual(already)

  const no = await leaveWaiting(system, { input: { n: 2 } })
  expect(await system.approvals.answer(no.callId, { kind: "reject" }, "ann")).toMatchObject({ ok: true, done: true })
  expect(await say(no.callId, { kind: "approve" })).toEqual({ ok: false, sentence: "ann has answered already: no." })
  expect(await system.resume(no.callId)).toMatchObject({ code: "approval_rejected" })

  const edited = await leaveWaiting(system, { input: { n: 3 } })
  await system.approvals.answer(edited.callId, { kind: "edit", input: { n: 4 } }, "ann")
  const another = { ok: false, sentence: "ann has answered already: another input." }
  expect(await say(edited.callId, { kind: "approve" })).toEqual(another)
  await system.resume(edited.callId, { waitMs: 0 })
  expect(await say(edited.callId, { kind: "approve" }, edited.revision)).toEqual({
    ok: false,
    sentence: "It has changed since you saw it: this is revision 2 now. Look at it again, then answer.",
  })
  expect(await say(edited.callId, { kind: "approve" }, 2)).toMatchObject({ ok: true, done: true })
})

test("after its deadline a call is not in the approval queue any more and takes no answer", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ permission: sensitive, execute: () => ++runs }))
  const { callId } = await leaveWaiting(system)
  await expireDeadline(system.dir, callId)
  expect(await system.approvals.list()).toEqual([])
  expect(await system.approvals.show(callId)).toBeUndefined()
  expect(await system.approvals.answer(callId, { kind: "approve" }, "ann")).toEqual({
    ok: false,
    sentence: "Nobody answered in time, so it does not wait any more.",
  })
  expect(await system.resume(callId)).toMatchObject({ code: "approval_expired" })
  expect(runs).toBe(0)
})

test("a rule may give people less time than the configuration, never more", async () => {
  const rules = [
    { ask: "probe", args: { "/n": "1" }, deadline: 1, because: "Soon." },
    { ask: "probe", args: { "/n": "2" }, deadline: 60, because: "Some time." },
  ]
  const system = await openTestApp({ approvals: { deadline: 10 }, rules })
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  for (const [n, minutes] of [
    [1, 1],
    [2, 10],
    [3, 10],
  ] as const) {
    const item = await leaveWaiting(system, { input: { n } })
    expect(item.until - item.createdAt).toBe(minutes * 60_000)
  }
})

test.each(["operator", "root", "dev"])("the agent %s answers nothing that waits", async (by) => {
  const system = await openTestApp()
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const item = await leaveWaiting(system)
  for (const answer of [{ kind: "approve" }, { kind: "edit", input: {} }, { kind: "reject" }] as const) {
    const sentence = `'${by}' is an agent, and only a person answers.`
    expect(await system.approvals.answer(item.callId, answer, by)).toEqual({ ok: false, sentence })
  }
  expect(await showPending(system, item.callId)).toEqual(item)
})

test("when an agent ends, its waiting calls end in every process", async () => {
  const system = await openTestApp()
  const other = await openTestApp({ data: { dir: system.dir } })
  await system.org.createAgent({ id: "dev", role: "operator" }, admin)
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const call = system.call({ ...probing, agentId: "dev" })
  await until(async () => (await other.approvals.list()).length === 1, "the call waits")
  await other.org.terminateAgent("dev", admin)
  expect(await call).toMatchObject({ code: "aborted", error: "Agent dev was ended, and its calls with it." })
  expect(await other.approvals.list()).toEqual([])
})

test("the reason of a rejection reaches the model, whenever the result is fetched", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => ++runs }))
  const said: Answer = { kind: "reject", reason: "Not on a Friday." }
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  await system.approvals.answer((await system.approvals.list())[0]!.callId, said, "ann")
  const { callId } = await leaveWaiting(system, { input: { n: 2 } })
  await system.approvals.answer(callId, said, "ann")
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

test("the audit log says who answered, also when the ticket is redeemed later", async () => {
  const system = await openTestApp()
  const approved: string[] = []
  system.on("TOOL_CALL_APPROVED", ({ by }) => approved.push(by))
  system.registry.register(tool({ permission: sensitive, execute: () => 1 }))
  const { callId } = await leaveWaiting(system)
  await approvePending(system, callId, "bob")
  expect(await system.resume(callId)).toMatchObject({ success: true })
  const story = await system.audit.show(callId)
  expect(story.map(({ kind }) => kind)).toEqual(["asked", "answered", "start", "end"])
  expect(story[1]).toMatchObject({ by: "bob", text: "approved" })
  expect(approved).toEqual(["bob"])
})

test("without an approval UI a question is refused at once if the configuration says so", async () => {
  const system = await openTestApp({ approvals: { unattended: "reject" } })
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
  expect(await system.approvals.list()).toEqual([])
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
])("a dialog that %s rejects a call, a result and a question alike", async (_what, dialog) => {
  const approvals = callbackAdapter({ onExecution: dialog, onResult: dialog, onQuestion: dialog })
  const system = await openTestApp({}, { approvals })
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

test("a dialog whose answer cannot be used rejects the call", async () => {
  const approvals = callbackAdapter({
    onExecution: () => ({ approved: false, edit: { input: () => 1 } }),
    onResult: () => ({ approved: true, redact: ["/nothing"] }),
    onQuestion: () => "c",
  })
  const system = await openTestApp({}, { approvals })
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

test("the reply to an answer says what happens next, depending on whether the process still lives", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const sentenceOf = async (callId: string, answer: Answer) =>
    (await system.approvals.answer(callId, answer, "ann")).sentence
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  const [item] = await system.approvals.list()
  expect(await sentenceOf(item!.callId, { kind: "edit", input: { n: 5 } })).toBe(
    "It is checked and decided again, and then waits here as a new revision.",
  )
  await until(async () => (await system.approvals.show(item!.callId))?.revision === 2, "the new revision waits")
  expect(await sentenceOf(item!.callId, { kind: "approve" })).toBe("Approved.")
  expect(await live).toMatchObject({ ranInput: { n: 5 } })
  const ticket = await leaveWaiting(system, { input: { n: 2 } })
  expect(await sentenceOf(ticket.callId, { kind: "edit", input: { n: 5 } })).toContain(
    "when its caller comes back for it",
  )
  const other = await leaveWaiting(system, { input: { n: 3 } })
  expect(await system.approvals.answer(other.callId, { kind: "approve" }, "ann")).toEqual({
    ok: true,
    done: true,
    code: "answer_fetch",
    params: { verdict: "Approved", minutes: 10, tool: "probe", agent: probing.agentId },
    sentence: "Approved. It goes on when its caller asks for the result, within 10 minutes.",
  })
})

test.each([
  [5, 10, "within 10 minutes", "10 分钟内"],
  [90, 90, "within 90 minutes", "90 分钟内"],
  [26 * 60, 1560, "within 26 hours", "26 小时内"],
  [7 * 24 * 60, 10_080, "within 7 days", "7 天内"],
])(
  "who answers a call that can be resumed for %i minutes is told how long the answer counts",
  async (resumable, minutes, english, chinese) => {
    const system = await openTestApp()
    system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
    const resumableUntil = Date.now() + resumable * 60_000
    const { callId } = await leaveWaiting(system, { input: { n: 1 }, resumableUntil })
    const answer = await system.approvals.answer(callId, { kind: "approve" }, "ann")
    expect(answer).toMatchObject({ code: "answer_fetch", params: { minutes } })
    expect(answer.sentence).toContain(english)
    expect(translate({ code: "answer_fetch", params: { minutes }, text: "" }, "zh")).toContain(chinese)
  },
)

test("an answer to a call without a process is in the audit log at once, and once only", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const answersTo = async (callId: string) =>
    (await system.audit.show(callId)).filter(({ kind }) => kind === "answered").map(({ at: _at, ...entry }) => entry)
  const approved = await leaveWaiting(system, { input: { n: 1 } })
  await system.approvals.answer(approved.callId, { kind: "approve", note: "Go on." }, "ann")
  const entry = { callId: approved.callId, by: "ann", text: "approved, and says: Go on." }
  expect(await answersTo(approved.callId)).toMatchObject([entry])
  expect(await system.resume(approved.callId)).toMatchObject({ success: true })
  expect(await answersTo(approved.callId)).toMatchObject([entry])

  const rejected = await leaveWaiting(system, { input: { n: 2 } })
  await system.approvals.answer(rejected.callId, { kind: "reject", reason: "Not now." }, "bob")
  expect(await answersTo(rejected.callId)).toMatchObject([{ by: "bob", text: "rejected: Not now." }])
  expect(await system.resume(rejected.callId)).toMatchObject({ code: "approval_rejected" })
  expect(await answersTo(rejected.callId)).toHaveLength(1)
})

test("a call whose end could not be written is ended by the next sweep", async () => {
  const store = await openTestStore()
  const recorder = new ListRecorder()
  let now = Date.now()
  const ports = await portsOver(store, { recorder, now: () => now })
  ports.tools.register(tool({ input: z.object({}) as never, permission: sensitive, execute: () => 1 }))
  const { callId } = expectTicket(await callTool(probing, ports, { waitMs: 0 }))
  now += 120_000
  recorder.fails = () => true
  await sweep(ports)
  expect(await ports.calls.get(callId)).toMatchObject({ state: "waiting" })
  recorder.fails = () => false
  await sweep(ports)
  expect(await ports.calls.get(callId)).toMatchObject({ state: "ended", result: { code: "approval_expired" } })
  expect(recorder.entries.at(-1)).toMatchObject({ kind: "end", code: "approval_expired", role: "operator", ran: false })
})

/** Waits until some time has passed, and returns how long it was. */
async function pass(): Promise<number> {
  const since = Date.now()
  await until(() => Date.now() - since >= 60, "time passes")
  return Date.now() - since
}
const wholeMs = ({ startedAt, completedAt = 0 }: ToolResult) => completedAt - startedAt

test("the time that a held result waits for a person is not time that its tool ran", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({ input: oneNumber, permission: { requireResultApproval: "always" }, execute: () => 1 }),
  )
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.approvals.list()).length === 1, "the result is held")
  const [item] = await system.approvals.list()
  const left = await leaveWaiting(system, { input: { n: 2 } })
  const waited = await pass()
  for (const callId of [item!.callId, left.callId]) await system.approvals.answer(callId, { kind: "release" }, "ann")
  for (const ended of [await live, (await system.resume(left.callId)) as ToolResult]) {
    expect(ended.success).toBe(true)
    expect(ended.durationMs).toBeLessThanOrEqual(wholeMs(ended) - waited)
    expect(ended.metadata?.["executionTime"]).toBe(ended.durationMs)
  }
  const rows = await system.audit.list()
  expect(rows).toHaveLength(2)
  for (const { durationMs } of rows) expect(durationMs).toBeLessThan(waited)
})

test("the time that a tool's own calls wait for people is not time that the tool ran", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ name: "step", permission: sensitive, execute: () => 1 }))
  system.registry.register(
    tool({ name: "steps", kind: "composite", execute: (_: unknown, context: ToolContext) => context.call("step", {}) }),
  )
  const running = system.call({ agentId: "operator", tool: "steps", input: {} })
  await until(async () => (await system.approvals.list()).length === 1, "the step waits")
  const waited = await pass()
  const [item] = await system.approvals.list()
  await system.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  const ended = await running
  expect(ended.success).toBe(true)
  expect(ended.durationMs).toBeLessThanOrEqual(wholeMs(ended) - waited + 1)
})

test("what a call waited is not counted as time that its tool ran, however it ended", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ input: oneNumber, permission: sensitive, execute: () => 1 }))
  const live = system.call({ ...probing, input: { n: 1 } })
  await until(async () => (await system.approvals.list()).length === 1, "the call waits")
  const [item] = await system.approvals.list()
  const left = await leaveWaiting(system, { input: { n: 2 } })
  await sleep(5)
  for (const callId of [item!.callId, left.callId])
    await system.approvals.answer(callId, { kind: "reject", reason: "No." }, "ann")
  await live
  await system.resume(left.callId)
  const rows = await system.audit.list()
  expect(rows.map(({ code, durationMs }) => ({ code, durationMs }))).toEqual(
    Array.from({ length: 2 }, () => ({ code: "approval_rejected", durationMs: 0 })),
  )
})
