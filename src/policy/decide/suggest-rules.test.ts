import { expect, test } from "vitest"
import { z } from "zod"
import type { Answer } from "../../core/approval.ts"
import type { Touch } from "../../core/touches.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { leaveWaiting } from "../../call/testing.ts"

const input = z.object({ path: z.string(), n: z.number() }) as never
const writes = ({ path }: { path: string }): Touch[] => [{ kind: "write", what: path }]

async function open() {
  const app = await openTestApp({}, { workspace: temporaryFolder() })
  for (const name of ["probe", "calm", "burn", "mute"]) {
    app.registry.register(
      tool({
        name,
        input,
        permission: { level: name === "calm" ? "moderate" : "sensitive" },
        ...(name === "mute" ? {} : { touches: writes as never }),
        ...(name === "burn" ? { destructive: true } : {}),
        execute: () => "ran",
      }),
    )
  }
  let n = 0
  const answer = async (name: string, path: string, said: Answer = { kind: "approve" }, by = "ann") => {
    const { callId } = await leaveWaiting(app, { tool: name, input: { path, n: n++ } })
    expect(await app.approvals.answer(callId, said, by)).toMatchObject({ ok: true })
    await app.resume(callId)
  }
  const times = async (count: number, ...given: Parameters<typeof answer>) => {
    for (let at = 0; at < count; at++) await answer(...given)
  }
  return { app, answer, times, suggest: async () => (await app.rules.suggest({})).suggestions }
}

test("what people approved five times and never refused is suggested as a rule that covers it", async () => {
  const { app, answer, times, suggest } = await open()
  await times(4, "probe", "a.txt")
  expect(await suggest()).toEqual([])
  await answer("probe", "a.txt", { kind: "approve" }, "bob")
  await answer("probe", "b.txt", { kind: "reject" })
  await times(5, "calm", "c.txt")
  const found = await suggest()
  expect(found.map(({ rule: { because: _because, ...rule }, ...rest }) => ({ ...rest, ...rule }))).toEqual([
    expect.objectContaining({
      allow: "probe",
      agent: "operator",
      touching: ["write:a.txt"],
      approvals: 5,
      people: ["ann", "bob"],
      refusedCompared: 1,
    }),
    expect.objectContaining({ allow: "calm", touching: ["write:c.txt"], approvals: 5, refusedCompared: 0 }),
  ])
  expect(found[0]!.examples).toHaveLength(3)
  await app.rules.add(found[0]!.rule, "ann")
  expect(await app.call({ agentId: "operator", tool: "probe", input: { path: "a.txt", n: 99 } })).toMatchObject({
    result: "ran",
  })
  expect((await suggest()).map(({ rule }) => rule.allow)).toEqual(["calm"])
})

test("one refusal is enough to suggest nothing", async () => {
  const { answer, times, suggest } = await open()
  await times(6, "probe", "a.txt")
  expect(await suggest()).toHaveLength(1)
  await answer("probe", "a.txt", { kind: "reject", reason: "Not now." })
  expect(await suggest()).toEqual([])
})

test("nothing is suggested for a destructive tool, nor for one that does not say what it touches", async () => {
  const { app, times, suggest } = await open()
  await times(6, "burn", "a.txt")
  await times(6, "mute", "a.txt")
  expect(await suggest()).toEqual([])
  expect(app.registry.require("delete_file").destructive).toBe(true)
})

test("calls that a rule, a grant or an edit decided do not count", async () => {
  const { app, answer, times } = await open()
  await answer("calm", "a.txt", { kind: "approve", remember: "tool-always" })
  for (let n = 100; n < 106; n++) await app.call({ agentId: "operator", tool: "calm", input: { path: "a.txt", n } })
  await times(4, "probe", "a.txt")
  const { callId } = await leaveWaiting(app, { tool: "probe", input: { path: "x.txt", n: 200 } })
  await app.approvals.answer(callId, { kind: "edit", input: { path: "a.txt", n: 201 } }, "ann")
  await app.resume(callId, { waitMs: 0 })
  await app.approvals.answer(callId, { kind: "approve" }, "ann")
  await app.resume(callId)
  expect(await app.rules.suggest({})).toMatchObject({ approved: 5, refused: 0, suggestions: [] })
})
