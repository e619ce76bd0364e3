import { expect, test } from "vitest"
import type { Quartermaster } from "../quartermaster.ts"
import { open, tool } from "../testing/open.ts"
import { admin, leave, onDesk, ticketOf } from "./testing.ts"

const people: Record<string, string[]> = { ann: ["lead"], bob: ["lead", "security"], cleo: ["security"], dan: [] }

/** A house with people, a probe, and rules that ask about it, each for that many people of that role. */
async function house(
  ...approvers: { role?: string; count?: number }[]
): Promise<Quartermaster & { dir: string; say(callId: string, by: string): Promise<unknown>; runs(): number }> {
  const rules = approvers.map((asked, index) => ({ ask: "probe", approvers: asked, because: `Reason ${index}.` }))
  const system = await open({ rules })
  let runs = 0
  system.registry.register(tool({ execute: () => ++runs }))
  for (const [id, roles] of Object.entries(people)) await system.org.createPerson({ id, roles }, admin)
  return { ...system, say: (callId, by) => system.desk.say(callId, { say: "approve" }, by), runs: () => runs }
}

test("two people with the role must agree, each once; one vote leaves it waiting", async () => {
  const system = await house({ role: "lead", count: 2 })
  const { callId, approvers } = await leave(system, { userId: "eve" })
  expect(approvers).toEqual([{ role: "lead", count: 2 }])
  expect(await system.say(callId, "ann")).toEqual({ ok: true, done: false, sentence: "Counted. 1 more must agree." })
  expect(ticketOf(await system.resume(callId, { waitMs: 0 }))).toMatchObject({ state: "waiting" })
  expect(await onDesk(system, callId)).toMatchObject({ revision: 1, votes: [{ by: "ann", at: expect.any(Number) }] })
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
  const system = await house({ role: "lead", count: 1 })
  const { callId } = await leave(system, { userId: "ann" })
  expect(await system.say(callId, "ann")).toEqual({
    ok: false,
    sentence: "The agent acts for ann, so somebody else must agree.",
  })
  expect(await system.say(callId, "bob")).toMatchObject({ done: true })
})

test("voices without a known name are together one person", async () => {
  const system = await house({ count: 2 })
  const { callId } = await leave(system)
  expect(await system.say(callId, "adapter")).toMatchObject({ ok: true, done: false })
  expect(await system.say(callId, "terminal")).toMatchObject({ ok: false })
  expect(await system.say(callId, "dan")).toMatchObject({ ok: true, done: true })
  expect(system.runs()).toBe(0)
})

test("every rule that asks must have its people", async () => {
  const system = await house({ role: "lead" }, { role: "security" }, { count: 2 })
  const { callId } = await leave(system)
  expect(await system.say(callId, "ann")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "dan")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "cleo")).toMatchObject({ done: true })
})

test("one person with both roles is still one person", async () => {
  const system = await house({ role: "lead" }, { role: "security" }, { count: 2 })
  const { callId } = await leave(system)
  expect(await system.say(callId, "bob")).toMatchObject({ done: false, sentence: "Counted. 1 more must agree." })
  expect(await system.say(callId, "dan")).toMatchObject({ done: true })
})

test("a rejection ends it, whatever was counted before", async () => {
  const system = await house({ role: "lead", count: 3 })
  const { callId } = await leave(system)
  await system.say(callId, "ann")
  expect(await system.desk.say(callId, { say: "reject", reason: "No." }, "dan")).toMatchObject({ ok: true, done: true })
  expect(await system.say(callId, "bob")).toEqual({ ok: false, sentence: "dan has answered already: no." })
  expect(await system.resume(callId)).toMatchObject({ code: "approval_rejected", rejectReason: "No." })
  expect(system.runs()).toBe(0)
})

test("votes survive a restart, and count by the roles people have then", async () => {
  const first = await house({ role: "lead", count: 2 })
  const { callId } = await leave(first)
  await first.say(callId, "ann")
  await first.close()
  const rules = [{ ask: "probe", approvers: { role: "lead", count: 2 }, because: "Reason 0." }]
  const second = await open({ data: { dir: first.dir }, rules })
  second.registry.register(tool({ execute: () => "ran" }))
  expect((await onDesk(second, callId)).votes).toMatchObject([{ by: "ann" }])
  await second.org.updatePerson("ann", { roles: [] }, admin)
  await second.org.updatePerson("cleo", { roles: ["lead"] }, admin)
  const yes = { say: "approve" } as const
  expect(await second.desk.say(callId, yes, "bob")).toMatchObject({
    done: false,
    sentence: "Counted. 1 more must agree.",
  })
  expect(await second.desk.say(callId, yes, "cleo")).toMatchObject({ done: true })
  expect(await second.resume(callId)).toMatchObject({ result: "ran" })
})

test("of people who agree at the same moment nobody's vote is lost", async () => {
  const system = await house({ count: 4 })
  const { callId } = await leave(system)
  const heard = await Promise.all(Object.keys(people).map((by) => system.say(callId, by)))
  expect(heard.filter((each) => (each as { ok: boolean }).ok)).toHaveLength(4)
  expect(heard.filter((each) => (each as { done: boolean }).done)).toHaveLength(1)
  expect(await system.resume(callId)).toMatchObject({ success: true })
})

test("when more people are asked for after the yes, the call comes back without its votes", async () => {
  const system = await house({ role: "lead", count: 1 })
  const { callId } = await leave(system)
  await system.say(callId, "ann")
  const more = { ask: "probe", approvers: { role: "security", count: 1 }, because: "Security looks too." }
  await system.rules.add(more, "ann")
  expect(ticketOf(await system.resume(callId, { waitMs: 0 })).state).toBe("waiting")
  expect(await onDesk(system, callId)).toMatchObject({
    revision: 2,
    votes: [],
    approvers: [
      { role: "lead", count: 1 },
      { role: "security", count: 1 },
    ],
  })
  expect(system.runs()).toBe(0)
})
