import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { ApprovalRequest } from "../../core/approval.ts"
import type { Tool } from "../../core/tool.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { admin, approvePending, leaveWaiting, showPending, oneNumber, expectTicket } from "../testing.ts"

const probing = { agentId: "operator", tool: "probe", input: {} }

/** A tool that remembers what it was run with. */
function noting(more: Partial<Parameters<typeof tool>[0]> = {}): { noted: unknown[]; probe: Tool } {
  const noted: unknown[] = []
  const execute = (input: unknown) => noted.push(input)
  const preview = (input: unknown) => `It gets ${JSON.stringify(input)}`
  const probe = tool({ input: oneNumber, permission: { level: "sensitive" }, preview, execute, ...more })
  return { noted, probe }
}

test("an edited input is checked, decided on and shown again, and runs once it is approved", async () => {
  const rules = [{ ask: "probe", approvers: { count: 2 }, because: "Two people look." }]
  const system = await openTestApp({ rules })
  const { noted, probe } = noting()
  system.registry.register(probe)
  for (const id of ["ann", "bob"]) await system.org.createPerson({ id }, admin)
  const { callId } = await leaveWaiting(system, { input: { n: 1 } })
  await system.approvals.answer(callId, { kind: "approve" }, "ann")
  expect(await system.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob", 1)).toMatchObject({
    ok: true,
    done: true,
  })
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await showPending(system, callId)).toMatchObject({
    revision: 2,
    input: { n: 2 },
    preview: 'It gets {"n":2}',
    editedBy: "bob",
    votes: [],
  })
  expect(await system.approvals.answer(callId, { kind: "approve" }, "bob")).toMatchObject({ done: false })
  expect(await system.approvals.answer(callId, { kind: "approve" }, "ann", 1)).toMatchObject({ ok: false })
  expect(await system.approvals.answer(callId, { kind: "approve" }, "ann", 2)).toMatchObject({ done: true })
  expect(noted).toEqual([])
  expect(await system.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
  const story = await system.audit.show(callId)
  expect(
    story.map(({ kind, ...entry }) => [kind, "by" in entry ? entry.by : "", "text" in entry ? entry.text : ""]),
  ).toEqual([
    ["asked", "", expect.stringContaining("Two people look.")],
    ["answered", "ann", "agreed to revision 1"],
    ["answered", "bob", "edited the input"],
    ["asked", "", expect.stringContaining("Two people look.")],
    ["answered", "bob", "agreed to revision 2"],
    ["answered", "bob, ann", "approved"],
    ["start", "", ""],
    ["end", "", ""],
  ])
  expect(story[6]).toMatchObject({ input: '{"n":2}' })
})

test.each([
  ["does not fit the schema", { n: "two" }, "Validation failed"],
  ["has a parameter nobody knows", { n: 2, m: 3 }, "'m'"],
  ["is null", null, "Validation failed"],
  ["is denied by a rule", { n: 13 }, "Thirteen is unlucky."],
])("an edited input that %s is not used: the call waits as it was, with a note", async (_what, input, why) => {
  const system = await openTestApp({
    rules: [{ deny: "probe", args: { "/n": "13" }, because: "Thirteen is unlucky." }],
  })
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system, { input: { n: 1 } })
  await system.approvals.answer(callId, { kind: "edit", input }, "bob")
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  const item = await showPending(system, callId)
  expect(item).toMatchObject({ input: { n: 1 }, preview: 'It gets {"n":1}', revision: 2, editedBy: undefined })
  expect(item.note).toMatch(/^The input bob gave cannot be used: /)
  expect(item.note).toContain(why)
  await approvePending(system, callId)
  const ended = await system.resume(callId)
  expect(ended).toMatchObject({ success: true })
  expect(ended).not.toHaveProperty("ranInput")
  expect(noted).toEqual([{ n: 1 }])
})

test("an edit that is not JSON is refused before anything is stored", async () => {
  const system = await openTestApp()
  system.registry.register(noting().probe)
  const item = await leaveWaiting(system)
  for (const input of [undefined, () => 1, 10n, { n: Number.NaN }, { when: new Date() }]) {
    const result = await system.approvals.answer(item.callId, { kind: "edit", input }, "bob")
    expect(result).toEqual({ ok: false, sentence: expect.stringContaining("Give plain JSON.") })
  }
  expect(await showPending(system, item.callId)).toEqual(item)
})

test.each([[null], [{}], [false], [0], [""], [[]]])(
  "the input %j is not lost when it is what a person gave, also by a restart",
  async (edited) => {
    const same = (given: unknown) => JSON.stringify(given) === JSON.stringify(edited)
    const input = z.union([z.object({ n: z.literal(1) }), z.any().refine(same)]) as never
    const { noted, probe } = noting({ input })
    const first = await openTestApp()
    first.registry.register(probe)
    const { callId } = await leaveWaiting(first, { input: { n: 1 } })
    await first.approvals.answer(callId, { kind: "edit", input: edited }, "bob")
    expectTicket(await first.resume(callId, { waitMs: 0 }))
    expect(await showPending(first, callId)).toMatchObject({
      input: edited,
      preview: `It gets ${JSON.stringify(edited)}`,
    })
    await first.close()
    const second = await openTestApp({ data: { dir: first.dir } })
    second.registry.register(probe)
    await approvePending(second, callId)
    expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: edited })
    expect(noted).toEqual([edited])
  },
)

test("an edit is checked on resume if the process died before checking it", async () => {
  const first = await openTestApp()
  const { noted, probe } = noting()
  first.registry.register(probe)
  const { callId } = await leaveWaiting(first)
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(probe)
  await second.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expect(await second.approvals.list()).toEqual([])
  await second.close()
  const third = await openTestApp({ data: { dir: first.dir } })
  third.registry.register(probe)
  const again = third.call(probing)
  await until(async () => (await third.approvals.show(callId))?.revision === 2, "the edited input waits")
  expect(noted).toEqual([])
  await approvePending(third, callId)
  expect(await again).toMatchObject({ callId, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})

test("the same call made again continues with the input that a person gave meanwhile", async () => {
  const system = await openTestApp()
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system)
  await system.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expectTicket(await system.resume(callId, { waitMs: 0 }))
  const again = system.call(probing)
  await approvePending(system, callId)
  expect(await again).toMatchObject({ callId, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
  expect((await system.audit.show(callId)).filter(({ kind }) => kind === "asked")).toHaveLength(2)
})

test("an edited input needs an approval even if the rules allow it, also after a restart", async () => {
  const rules = [{ allow: "probe", args: { "/n": "2" }, because: "Two is fine." }]
  const first = await openTestApp({ rules })
  const { noted, probe } = noting()
  first.registry.register(probe)
  const { callId } = await leaveWaiting(first, { input: { n: 1 } })
  await first.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expect(expectTicket(await first.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await showPending(first, callId)).toMatchObject({
    input: { n: 2 },
    reasons: [{ check: "person", sentence: "bob edited the input, and nobody has approved it yet." }],
    remember: [],
  })
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir }, rules })
  second.registry.register(probe)
  expect(expectTicket(await second.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(noted).toEqual([])
  await approvePending(second, callId)
  expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})

test("an edited input can be edited again, and rejected", async () => {
  const system = await openTestApp()
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system)
  for (const n of [2, 3]) {
    await system.approvals.answer(callId, { kind: "edit", input: { n } }, `person ${n}`)
    expectTicket(await system.resume(callId, { waitMs: 0 }))
    expect(await showPending(system, callId)).toMatchObject({ revision: n, input: { n }, editedBy: `person ${n}` })
  }
  await system.approvals.answer(callId, { kind: "reject", reason: "None of them." }, "ann")
  expect(await system.resume(callId)).toMatchObject({ code: "approval_rejected", rejectReason: "None of them." })
  expect(noted).toEqual([])
})

test("in a dialog the second card follows at once and shows what would run", async () => {
  const cards: ApprovalRequest[] = []
  const onExecution = ({ request }: { request: ApprovalRequest }) => {
    cards.push(request)
    return cards.length === 1 ? { approved: true, edit: { input: { n: 2 } }, by: "bob" } : { approved: true, by: "bob" }
  }
  const system = await openTestApp({}, { approvals: callbackAdapter({ onExecution }) })
  const { noted, probe } = noting()
  system.registry.register(probe)
  expect(await system.call(probing)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(cards).toMatchObject([
    { input: {}, preview: 'It gets {"n":1}', revision: 1 },
    { input: { n: 2 }, preview: 'It gets {"n":2}', revision: 2, editedBy: "bob" },
  ])
  expect(cards[0]?.signal.aborted).toBe(true)
  expect(noted).toEqual([{ n: 2 }])
})

test("a call that fails with an edited input says what it failed with", async () => {
  const system = await openTestApp()
  const execute = () => Promise.reject(new Error("No."))
  system.registry.register(noting({ execute }).probe)
  const { callId } = await leaveWaiting(system)
  await system.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expectTicket(await system.resume(callId, { waitMs: 0 }))
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ code: "tool_failed", ranInput: { n: 2 } })
})

test("a held result of an edited call shows the input that ran", async () => {
  const first = await openTestApp()
  const { noted, probe } = noting({ permission: { level: "sensitive", requireResultApproval: "always" } })
  first.registry.register(probe)
  const { callId } = await leaveWaiting(first)
  await first.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expectTicket(await first.resume(callId, { waitMs: 0 }))
  await approvePending(first, callId)
  expect(expectTicket(await first.resume(callId, { waitMs: 0 })).state).toBe("held")
  expect(await showPending(first, callId)).toMatchObject({ kind: "result", input: { n: 2 } })
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(probe)
  await second.approvals.answer(callId, { kind: "release" }, "ann")
  expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})

test("an edited input that was approved runs, even if a new rule would let it run unasked", async () => {
  const system = await openTestApp()
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leaveWaiting(system, { input: { n: 1 } })
  await system.approvals.answer(callId, { kind: "edit", input: { n: 2 } }, "bob")
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  await system.approvals.answer(callId, { kind: "approve" }, "bob")
  await system.rules.add({ allow: "probe", because: "Bob trusts it." }, "bob")
  expect(await system.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})
