import { expect, test } from "vitest"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { admin, leaveWaiting, showPending, expectTicket } from "../testing.ts"

const people: Record<string, string[]> = { ann: ["lead"], bob: ["lead", "security"], cleo: ["security"], dan: [] }

/** An app with people, a probe, and rules that each ask that many people of that role. */
async function openApp(
  ...approvers: { role?: string; count?: number }[]
): Promise<Quartermaster & { dir: string; say(callId: string, by: string): Promise<unknown>; runs(): number }> {
  const rules = approvers.map((asked, index) => ({ ask: "probe", approvers: asked, because: `Reason ${index}.` }))
  const system = await openTestApp({ rules })
  let runs = 0
  system.registry.register(tool({ execute: () => ++runs }))
  for (const [id, roles] of Object.entries(people)) await system.org.createPerson({ id, roles }, admin)
  return { ...system, say: (callId, by) => system.approvals.answer(callId, { kind: "approve" }, by), runs: () => runs }
}

test("two people with the role must agree, each once; one vote leaves it waiting", async () => {
  const system = await openApp({ role: "lead", count: 2 })
  const { callId, approvers } = await leaveWaiting(system, { userId: "eve" })
  expect(approvers).toEqual([{ role: "lead", count: 2 }])
  expect(await system.say(callId, "ann")).toMatchObject({
    ok: true,
    done: false,
    sentence: "Counted. 1 more must agree.",
  })
  expect(expectTicket(await system.resume(callId, { waitMs: 0 }))).toMatchObject({ state: "waiting" })
  expect(await showPending(system, callId)).toMatchObject({
    revision: 1,
    votes: [{ by: "ann", at: expect.any(Number) }],
  })
  expect(await system.say(callId, "ann")).toEqual({
    ok: false,
    sentence: "ann has agreed already; somebody else must agree too.",
  })
  for (const by of ["cleo", "dan", "adapter", "lead", "Bob"]) {
    expect(await system.say(callId, by)).toEqual({
      ok: false,
      sentence: ["adapter", "lead", "Bob"].includes(by)
        ? `The agent acts for eve, and nobody knows who '${by}' is. Answer as a person: --as.`
        : `${by} does not have the role that must agree (lead).`,
    })
  }
  expect(await system.say(callId, "bob")).toMatchObject({ ok: true, done: true })
  expect(await system.resume(callId)).toMatchObject({ success: true })
  const said = (await system.audit.show(callId)).filter(({ kind }) => kind === "answered")
  expect(said).toMatchObject([
    { by: "ann", text: "agreed to revision 1" },
    { by: "ann, bob", text: "approved" },
  ])
  expect(system.runs()).toBe(1)
})

test("the person the agent acts for does not count", async () => {
  const system = await openApp({ role: "lead", count: 1 })
  const { callId } = await leaveWaiting(system, { userId: "ann" })
  expect(await system.say(callId, "ann")).toEqual({
    ok: false,
    sentence: "The agent acts for ann, so somebody else must agree.",
  })
  expect(await system.say(callId, "bob")).toMatchObject({ done: true })
})

test("all unknown names together count as one person", async () => {
  const system = await openApp({ count: 2 })
  const { callId } = await leaveWaiting(system)
  expect(await system.say(callId, "adapter")).toMatchObject({ ok: true, done: false })
  expect(await system.say(callId, "terminal")).toMatchObject({ ok: false })
  expect(await system.say(callId, "dan")).toMatchObject({ ok: true, done: true })
  expect(system.runs()).toBe(0)
})

test("every rule that asks needs its own approvers", async () => {
  const system = await openApp({ role: "lead" }, { role: "security" }, { count: 2 })
  const { callId } = await leaveWaiting(system)
  expect(await system.say(callId, "ann")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "dan")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "cleo")).toMatchObject({ done: true })
})

test("one person with both roles is still one person", async () => {
  const system = await openApp({ role: "lead" }, { role: "security" }, { count: 2 })
  const { callId } = await leaveWaiting(system)
  expect(await system.say(callId, "bob")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "dan")).toMatchObject({ done: true })
})

test("a rejection ends the call, however many approved before", async () => {
  const system = await openApp({ role: "lead", count: 3 })
  const { callId } = await leaveWaiting(system)
  await system.say(callId, "ann")
  expect(await system.approvals.answer(callId, { kind: "reject", reason: "No." }, "dan")).toMatchObject({
    ok: true,
    done: true,
  })
  expect(await system.say(callId, "bob")).toEqual({ ok: false, sentence: "dan has answered already: no." })
  expect(await system.resume(callId)).toMatchObject({ code: "approval_rejected", rejectReason: "No." })
  expect(system.runs()).toBe(0)
})

test("votes survive a restart, and count by the roles people have then", async () => {
  const first = await openApp({ role: "lead", count: 2 })
  const { callId } = await leaveWaiting(first)
  await first.say(callId, "ann")
  await first.close()
  const rules = [{ ask: "probe", approvers: { role: "lead", count: 2 }, because: "Reason 0." }]
  const second = await openTestApp({ data: { dir: first.dir }, rules })
  second.registry.register(tool({ execute: () => "ran" }))
  expect((await showPending(second, callId)).votes).toMatchObject([{ by: "ann" }])
  await second.org.updatePerson("ann", { roles: [] }, admin)
  await second.org.updatePerson("cleo", { roles: ["lead"] }, admin)
  const yes = { kind: "approve" } as const
  expect(await second.approvals.answer(callId, yes, "bob")).toMatchObject({
    done: false,
    sentence: "Counted. 1 more must agree.",
  })
  expect(await second.approvals.answer(callId, yes, "cleo")).toMatchObject({ done: true })
  expect(await second.resume(callId)).toMatchObject({ result: "ran" })
})

test("no vote is lost when people agree at the same moment", async () => {
  const system = await openApp({ count: 4 })
  const { callId } = await leaveWaiting(system)
  const results = await Promise.all(Object.keys(people).map((by) => system.say(callId, by)))
  expect(results.filter((each) => (each as { ok: boolean }).ok)).toHaveLength(4)
  expect(results.filter((each) => (each as { done: boolean }).done)).toHaveLength(1)
  expect(await system.resume(callId)).toMatchObject({ success: true })
})

test("if more people must agree after the approval, the call waits again without votes", async () => {
  const system = await openApp({ role: "lead", count: 1 })
  const { callId } = await leaveWaiting(system)
  await system.say(callId, "ann")
  const more = { ask: "probe", approvers: { role: "security", count: 1 }, because: "Security looks too." }
  await system.rules.add(more, "ann")
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await showPending(system, callId)).toMatchObject({
    revision: 2,
    votes: [],
    approvers: [
      { role: "lead", count: 1 },
      { role: "security", count: 1 },
    ],
  })
  expect(system.runs()).toBe(0)
})
