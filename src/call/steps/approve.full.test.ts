import fc from "fast-check"
import { expect, test } from "vitest"
import { isTicket } from "../../core/result.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { oneNumber as input, expectTicket } from "../testing.ts"

test("law: for any answers in any order, the tool runs exactly if the first one approves", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  let n = 100
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }), async (answers) => {
      const before = runs
      const ticket = expectTicket(
        await system.call({ agentId: "operator", tool: "probe", input: { n: n++ } }, { waitMs: 0 }),
      )
      const taken = await Promise.all(
        answers.map((approved, by) =>
          system.approvals.answer(ticket.callId, approved ? { kind: "approve" } : { kind: "reject" }, `p${by}`),
        ),
      )
      const result = await system.resume(ticket.callId)
      expect(taken.filter(({ ok }) => ok)).toHaveLength(1)
      // The first to take it is not always the first to answer: one of them may have found the store locked.
      const first = answers[taken.findIndex(({ ok }) => ok)]
      expect(runs - before).toBe(first ? 1 : 0)
      expect(isTicket(result) ? "ticket" : result.code).toBe(first ? undefined : "approval_rejected")
    }),
    { numRuns: 100 },
  )
})

test("an answer at the moment the caller stops waiting is not lost", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ input, permission: { level: "sensitive" }, execute: () => ++runs }))
  for (let n = 0; n < 60; n++) {
    const submitted = system.call({ agentId: "operator", tool: "probe", input: { n } }, { waitMs: 12 })
    let answered = false
    const answering = until(async () => {
      const [row] = await system.approvals.list()
      return (answered ||=
        row !== undefined && (await system.approvals.answer(row.callId, { kind: "approve" }, "ann")).ok)
    }, "the call waits")
    const first = await submitted
    await answering
    const result = isTicket(first) ? await system.resume(first.callId) : first
    expect(result).toMatchObject({ success: true, result: n + 1 })
  }
})
