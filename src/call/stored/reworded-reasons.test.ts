import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { expect, test } from "vitest"
import { parse } from "yaml"
import type { Config } from "../../config/schema.ts"
import { withSecondConnection } from "../../store/testing/test-store.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { approvePending, changeRow, leaveWaiting, showPending, expectTicket } from "../testing.ts"

async function waiting() {
  const system = await openTestApp({ rules: [{ ask: "probe", because: "Somebody looks at it." }] })
  system.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const { callId, reasons } = await leaveWaiting(system)
  expect(reasons.map(({ code }) => code)).toEqual(["rule_asks", "tool_sensitive"])
  return { system, callId }
}

/** Changes every stored reason of a call. */
const changeReasons = (dir: string, callId: string, change: (reason: Record<string, unknown>) => object) =>
  changeRow(dir, callId, ({ asks }) => ({
    asks: JSON.stringify((JSON.parse(asks) as Record<string, unknown>[]).map(change)),
  }))

test("an approval holds when only the words of its reasons have changed", async () => {
  const { system, callId } = await waiting()
  await changeReasons(system.dir, callId, (reason) => ({ ...reason, sentence: "In other words." }))
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ result: "ran" })
})

test.each([
  ["code", { code: "another" }],
  ["param", { params: { rule: "another", tool: "probe" } }],
  ["source", { source: "elsewhere" }],
  ["missing code", { code: undefined }],
])("a call whose reasons have another %s is shown and asked again", async (_what, other) => {
  const { system, callId } = await waiting()
  await changeReasons(system.dir, callId, (reason) => ({ ...reason, ...other }))
  await approvePending(system, callId)
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).callId).toBe(callId)
  expect((await showPending(system, callId)).reasons[0]).toMatchObject({ code: "rule_asks" })
  await approvePending(system, callId)
  expect(await system.resume(callId)).toMatchObject({ result: "ran" })
})

test("a data folder from before reasons had codes opens and verifies, and what waits in it can be answered", async () => {
  const from = join(import.meta.dirname, "../../store/testing/before-codes")
  const dir = temporaryFolder()
  const workspace = temporaryFolder()
  for (const name of ["quartermaster.db", "record.key", "store.id"])
    writeFileSync(join(dir, name), gunzipSync(readFileSync(join(from, `${name}.gz`))), { mode: 0o600 })
  const config = parse(readFileSync(join(from, "quartermaster.yml"), "utf8")) as Config
  // A call belongs to its workspace, which was another one.
  await withSecondConnection(dir, (database) => void database.prepare("update calls set workspace = ?").run(workspace))
  const system = await openTestApp({ ...config, data: { dir } }, { workspace })
  expect(await system.audit.verify()).toMatchObject({ ok: true, records: 10 })

  const all = await system.approvals.list()
  expect(all.map(({ kind, tool: name }) => `${kind} ${name}`)).toEqual([
    "call write_file",
    "call write_file",
    "question ask_user",
    "result json_parse",
    "call set_env",
  ])
  expect(all[1]!.reasons.map(({ sentence }) => sentence).join()).toContain("Notes are read by somebody else.")
  // It was stored as `voice`.
  expect(all.map(({ reasons }) => reasons[0]!.check)).toEqual(["level", "rule", "tool", "release", "level"])
  const [plain, ruled, question, held, level] = all.map(({ callId }) => callId)
  for (const callId of [plain!, ruled!, level!]) {
    await approvePending(system, callId)
    // Nobody has seen these reasons by their codes, so they are asked for once more.
    expect(expectTicket(await system.resume(callId, { waitMs: 0 })).callId).toBe(callId)
    await approvePending(system, callId)
    expect(await system.resume(callId)).toMatchObject({ success: true })
  }
  expect(readFileSync(join(workspace, "notes/b.txt"), "utf8")).toBe("hello")
  await system.approvals.answer(held!, { kind: "release" }, "ann")
  expect(await system.resume(held!)).toMatchObject({ result: { data: { a: 1 } } })
  const answer = () => system.approvals.answer(question!, { kind: "answer", value: "Blue" }, "ann")
  await answer()
  expect(expectTicket(await system.resume(question!, { waitMs: 0 })).callId).toBe(question)
  await answer()
  expect(JSON.stringify(await system.resume(question!))).toContain("Blue")
  expect(await system.audit.verify()).toMatchObject({ ok: true })
})
