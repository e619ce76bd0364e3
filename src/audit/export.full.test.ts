import { expect, test } from "vitest"
import { callEntries, hourlyCalls, openTestStore } from "../store/testing/test-store.ts"
import { exportDay, exportAll, writeInOneFrame } from "./testing/audit-export.ts"

test("an export of several pages has every call once, oldest first, also when many ended at the same moment", async () => {
  const store = await openTestStore()
  const at = (index: number) => (index % 3 === 0 ? exportDay : exportDay + index * 7)
  const ids = Array.from({ length: 1700 }, (_, index) => `n${index}`)
  await writeInOneFrame(
    store,
    ids.flatMap((callId, index) => callEntries({ callId, at: at(index) })),
  )
  await writeInOneFrame(store, hourlyCalls(exportDay, 2, "late"))
  const calls = await exportAll(store)
  expect(calls.map((call) => call.callId).sort()).toEqual([...ids, "late0", "late1"].sort())
  expect(calls.map((call) => call.at)).toEqual(calls.map((call) => call.at).sort((one, other) => one - other))
  expect(calls.every((call) => call.result === `"done ${call.callId}"` && call.input === "{}")).toBe(true)
})
