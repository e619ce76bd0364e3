import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import type { CallRequest } from "../../core/call.ts"
import type { ToolPermissionLevel } from "../../core/permission.ts"
import { isTicket } from "../../core/result.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { admin, approvePending, expectTicket, leaveWaiting, showPending } from "../testing.ts"

const asking: CallRequest = { agentId: "operator", tool: "probe", input: {}, sessionId: "s1" }

/** An app with two people and a moderate tool. */
async function openApp(config: Config = {}, level: ToolPermissionLevel = "moderate", workspace = temporaryFolder()) {
  const system = await openTestApp(config, { workspace })
  system.registry.register(
    tool({
      permission: { level },
      effect: "write",
      touches: () => [{ kind: "write", what: "a.txt" }],
      execute: () => "ran",
    }),
  )
  for (const id of ["bea", "cleo"])
    if (system.org.findPerson(id) === undefined) await system.org.createPerson({ id, roles: ["lead"] }, admin)
  return system
}

async function becomes(system: Quartermaster): Promise<string> {
  const ended = await system.call(asking, { waitMs: 0 })
  return isTicket(ended) ? "asks" : (ended.code ?? "runs")
}

test.each([
  ["yes", "approve", "runs", "asks"],
  ["no", "reject", "approval_rejected", "approval_rejected"],
] as const)(
  "a remembered %s of a person who is removed: a yes ends, a no stays",
  async (_what, kind, before, after) => {
    const system = await openApp()
    const { callId } = await leaveWaiting(system, asking)
    await system.approvals.answer(callId, { kind, remember: "tool-always" }, "bea")
    await system.resume(callId)
    expect(await becomes(system)).toBe(before)
    await system.org.deletePerson("cleo", admin)
    expect(await becomes(system)).toBe(before)
    await system.org.deletePerson("bea", admin)
    expect(await becomes(system)).toBe(after)
    expect(await system.approvals.grants()).toHaveLength(kind === "approve" ? 0 : 1)
    await system.org.createPerson({ id: "bea" }, admin)
    expect(await becomes(system)).toBe(after)
  },
)

test("a remembered yes ends with a person who is taken out of the configuration", async () => {
  const org = { people: [{ id: "pia", roles: [] }] }
  const workspace = temporaryFolder()
  const first = await openApp({ org }, "moderate", workspace)
  const { callId } = await leaveWaiting(first, asking)
  await first.approvals.answer(callId, { kind: "approve", remember: "tool-always" }, "pia")
  await first.resume(callId)
  const data = { dir: first.dir }
  expect(await becomes(await openApp({ org, data }, "moderate", workspace))).toBe("runs")
  expect(await becomes(await openApp({ data }, "moderate", workspace))).toBe("asks")
})

test("a remembered yes of somebody outside the organisation counts until a person gets that name", async () => {
  const system = await openApp()
  const { callId } = await leaveWaiting(system, asking)
  await system.approvals.answer(callId, { kind: "approve", remember: "tool-always" }, "zoe")
  await system.resume(callId)
  expect(await becomes(system)).toBe("runs")
  await system.org.createPerson({ id: "zoe" }, admin)
  expect(await becomes(system)).toBe("asks")
})

test("a call that a removed person approved and that has not begun is asked again and says why", async () => {
  const system = await openApp()
  const { callId } = await leaveWaiting(system, asking)
  await approvePending(system, callId, "bea")
  await system.org.deletePerson("bea", admin)
  expectTicket(await system.resume(callId, { waitMs: 0 }))
  expect(await showPending(system, callId)).toMatchObject({
    revision: 2,
    votes: [],
    note: "bea approved revision 1. Since then bea was removed from the organisation.",
  })
  await approvePending(system, callId, "cleo")
  expect(await system.resume(callId)).toMatchObject({ success: true })
})

test("a vote of a removed person does not count", async () => {
  const system = await openApp({
    rules: [{ ask: "probe", approvers: { role: "lead", count: 2 }, because: "Two look." }],
  })
  const { callId } = await leaveWaiting(system, asking)
  expect(await system.approvals.answer(callId, { kind: "approve" }, "bea")).toMatchObject({ done: false })
  await system.org.deletePerson("bea", admin)
  expect((await showPending(system, callId)).votes).toEqual([])
  expect(await system.approvals.answer(callId, { kind: "approve" }, "cleo")).toMatchObject({ ok: true, done: false })
  expect((await showPending(system, callId)).votes).toMatchObject([{ by: "cleo" }])
})

test("a result that a removed person released and nobody fetched is held again", async () => {
  const system = await openApp({}, "public")
  const permission = { level: "public", requireResultApproval: "always" } as const
  system.registry.register(tool({ permission, execute: () => "found" }), { replace: true })
  const { callId } = expectTicket(await system.call(asking, { waitMs: 0 }))
  await system.approvals.answer(callId, { kind: "release" }, "bea")
  await system.org.deletePerson("bea", admin)
  expectTicket(await system.resume(callId, { waitMs: 0 }))
  const item = await showPending(system, callId)
  expect(item).toMatchObject({ kind: "result", note: "bea released it and was removed from the organisation since." })
  await system.approvals.answer(callId, { kind: "release" }, "cleo")
  expect(await system.resume(callId)).toMatchObject({ success: true, result: "found" })
})

test("the mode edits ends with the person who set it, the mode plan does not", async () => {
  const system = await openApp()
  for (const [id, agentId, mode] of [
    ["bea", "operator", "edits"],
    ["cleo", "root", "plan"],
  ] as const)
    await system.setMode({ agentId, sessionId: "s1", mode, by: id })
  expect(system.modes().map(({ mode }) => mode)).toEqual(["edits", "plan"])
  for (const id of ["bea", "cleo"]) await system.org.deletePerson(id, admin)
  expect(system.modes().map(({ mode }) => mode)).toEqual(["plan"])
})

test("a rule that a removed person made of an approval ends, and one that they added stays", async () => {
  const system = await openApp({}, "sensitive")
  const { callId } = await leaveWaiting(system, asking)
  const answer = { by: "bea", expiresAt: Date.now() + 86_400_000 }
  expect(await system.approvals.approveWithRule(callId, answer)).toMatchObject({ ok: true })
  await system.resume(callId)
  await system.rules.add({ deny: "delete_file", because: "Never." }, "bea")
  const stored = () => system.rules.list().filter(({ source }) => source.startsWith("rule "))
  expect(stored()).toHaveLength(2)
  expect(await becomes(system)).toBe("runs")
  await system.org.deletePerson("bea", admin)
  expect(stored()).toMatchObject([{ verdict: "deny" }])
  expect(await becomes(system)).toBe("asks")
})
