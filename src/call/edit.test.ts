import { expect, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../approval/callback.ts"
import type { ApprovalRequest } from "../model/approval.ts"
import type { Tool } from "../model/tool.ts"
import { open, tool, until } from "../testing/open.ts"
import { admin, approve, leave, onDesk, oneNumber, ticketOf } from "./testing.ts"

const probing = { agentId: "operator", tool: "probe", input: {} }

/** A tool that remembers what it was run with. */
function noting(more: Partial<Parameters<typeof tool>[0]> = {}): { noted: unknown[]; probe: Tool } {
  const noted: unknown[] = []
  const execute = (input: unknown) => noted.push(input)
  const preview = (input: unknown) => `It gets ${JSON.stringify(input)}`
  const probe = tool({ input: oneNumber, permission: { level: "sensitive" }, preview, execute, ...more })
  return { noted, probe }
}

test("an edited input is checked, decided and shown again, and runs after a yes to it", async () => {
  const rules = [{ ask: "probe", approvers: { count: 2 }, because: "Two people look." }]
  const system = await open({ rules })
  const { noted, probe } = noting()
  system.registry.register(probe)
  for (const id of ["ann", "bob"]) await system.org.createPerson({ id }, admin)
  const { callId } = await leave(system, { input: { n: 1 } })
  await system.desk.say(callId, { say: "approve" }, "ann")
  expect(await system.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob", 1)).toMatchObject({
    ok: true,
    done: true,
  })
  expect(ticketOf(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await onDesk(system, callId)).toMatchObject({
    revision: 2,
    input: { n: 2 },
    preview: 'It gets {"n":2}',
    editedBy: "bob",
    votes: [],
  })
  expect(await system.desk.say(callId, { say: "approve" }, "bob")).toMatchObject({ done: false })
  expect(await system.desk.say(callId, { say: "approve" }, "ann", 1)).toMatchObject({ ok: false })
  expect(await system.desk.say(callId, { say: "approve" }, "ann", 2)).toMatchObject({ done: true })
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
  const system = await open({ rules: [{ deny: "probe", args: { "/n": "13" }, because: "Thirteen is unlucky." }] })
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leave(system, { input: { n: 1 } })
  await system.desk.say(callId, { say: "edit", input }, "bob")
  expect(ticketOf(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  const item = await onDesk(system, callId)
  expect(item).toMatchObject({ input: { n: 1 }, preview: 'It gets {"n":1}', revision: 2, editedBy: undefined })
  expect(item.note).toMatch(/^The input bob gave cannot be used: /)
  expect(item.note).toContain(why)
  await approve(system, callId)
  const ended = await system.resume(callId)
  expect(ended).toMatchObject({ success: true })
  expect(ended).not.toHaveProperty("ranInput")
  expect(noted).toEqual([{ n: 1 }])
})

test("what cannot be written as JSON is refused before anything is kept", async () => {
  const system = await open()
  system.registry.register(noting().probe)
  const item = await leave(system)
  for (const input of [undefined, () => 1, 10n, { n: Number.NaN }, { when: new Date() }]) {
    const heard = await system.desk.say(item.callId, { say: "edit", input }, "bob")
    expect(heard).toEqual({ ok: false, sentence: expect.stringContaining("Give plain JSON.") })
  }
  expect(await onDesk(system, item.callId)).toEqual(item)
})

test.each([[null], [{}], [false], [0], [""], [[]]])(
  "the input %j is not lost when it is what a person gave, also by a restart",
  async (edited) => {
    const same = (given: unknown) => JSON.stringify(given) === JSON.stringify(edited)
    const input = z.union([z.object({ n: z.literal(1) }), z.any().refine(same)]) as never
    const { noted, probe } = noting({ input })
    const first = await open()
    first.registry.register(probe)
    const { callId } = await leave(first, { input: { n: 1 } })
    await first.desk.say(callId, { say: "edit", input: edited }, "bob")
    ticketOf(await first.resume(callId, { waitMs: 0 }))
    expect(await onDesk(first, callId)).toMatchObject({ input: edited, preview: `It gets ${JSON.stringify(edited)}` })
    await first.close()
    const second = await open({ data: { dir: first.dir } })
    second.registry.register(probe)
    await approve(second, callId)
    expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: edited })
    expect(noted).toEqual([edited])
  },
)

test("an edit whose process is gone before it was checked is checked when the call is taken up again", async () => {
  const first = await open()
  const { noted, probe } = noting()
  first.registry.register(probe)
  const { callId } = await leave(first)
  await first.close()
  const second = await open({ data: { dir: first.dir } })
  second.registry.register(probe)
  await second.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob")
  expect(await second.desk.list()).toEqual([])
  await second.close()
  const third = await open({ data: { dir: first.dir } })
  third.registry.register(probe)
  const again = third.call(probing)
  await until(async () => (await third.desk.show(callId))?.revision === 2, "the edited input waits")
  expect(noted).toEqual([])
  await approve(third, callId)
  expect(await again).toMatchObject({ callId, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})

test("who makes the same call again goes on with the input that a person gave meanwhile", async () => {
  const system = await open()
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leave(system)
  await system.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob")
  ticketOf(await system.resume(callId, { waitMs: 0 }))
  const again = system.call(probing)
  await approve(system, callId)
  expect(await again).toMatchObject({ callId, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
  expect((await system.audit.show(callId)).filter(({ kind }) => kind === "asked")).toHaveLength(2)
})

test("an edited input that nobody need agree to by the rules still waits for a yes, also after a restart", async () => {
  const rules = [{ allow: "probe", args: { "/n": "2" }, because: "Two is fine." }]
  const first = await open({ rules })
  const { noted, probe } = noting()
  first.registry.register(probe)
  const { callId } = await leave(first, { input: { n: 1 } })
  await first.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob")
  expect(ticketOf(await first.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await onDesk(first, callId)).toMatchObject({
    input: { n: 2 },
    reasons: [{ voice: "person", sentence: "bob gave another input, and nobody has agreed to it." }],
    remember: [],
  })
  await first.close()
  const second = await open({ data: { dir: first.dir }, rules })
  second.registry.register(probe)
  expect(ticketOf(await second.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(noted).toEqual([])
  await approve(second, callId)
  expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})

test("an edited input can be edited again, and refused", async () => {
  const system = await open()
  const { noted, probe } = noting()
  system.registry.register(probe)
  const { callId } = await leave(system)
  for (const n of [2, 3]) {
    await system.desk.say(callId, { say: "edit", input: { n } }, `person ${n}`)
    ticketOf(await system.resume(callId, { waitMs: 0 }))
    expect(await onDesk(system, callId)).toMatchObject({ revision: n, input: { n }, editedBy: `person ${n}` })
  }
  await system.desk.say(callId, { say: "reject", reason: "None of them." }, "ann")
  expect(await system.resume(callId)).toMatchObject({ code: "approval_rejected", rejectReason: "None of them." })
  expect(noted).toEqual([])
})

test("in a dialog the second card follows at once and shows what would run", async () => {
  const cards: ApprovalRequest[] = []
  const onExecution = ({ request }: { request: ApprovalRequest }) => {
    cards.push(request)
    return cards.length === 1 ? { approved: true, edit: { input: { n: 2 } }, by: "bob" } : { approved: true, by: "bob" }
  }
  const system = await open({}, { approvals: callbackAdapter({ onExecution }) })
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
  const system = await open()
  const execute = () => Promise.reject(new Error("No."))
  system.registry.register(noting({ execute }).probe)
  const { callId } = await leave(system)
  await system.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob")
  ticketOf(await system.resume(callId, { waitMs: 0 }))
  await approve(system, callId)
  expect(await system.resume(callId)).toMatchObject({ code: "tool_failed", ranInput: { n: 2 } })
})

test("a held result of an edited call shows the input that ran", async () => {
  const first = await open()
  const { noted, probe } = noting({ permission: { level: "sensitive", requireResultApproval: "always" } })
  first.registry.register(probe)
  const { callId } = await leave(first)
  await first.desk.say(callId, { say: "edit", input: { n: 2 } }, "bob")
  ticketOf(await first.resume(callId, { waitMs: 0 }))
  await approve(first, callId)
  expect(ticketOf(await first.resume(callId, { waitMs: 0 })).state).toBe("held")
  expect(await onDesk(first, callId)).toMatchObject({ kind: "result", input: { n: 2 } })
  await first.close()
  const second = await open({ data: { dir: first.dir } })
  second.registry.register(probe)
  await second.desk.say(callId, { say: "release" }, "ann")
  expect(await second.resume(callId)).toMatchObject({ success: true, ranInput: { n: 2 } })
  expect(noted).toEqual([{ n: 2 }])
})
