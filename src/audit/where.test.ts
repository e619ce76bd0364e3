import { expect, test } from "vitest"
import { callEntries, openTestStore, writeEntries } from "../store/testing/test-store.ts"

test.each([2, 3, 4, 8])("one of %i calls is a sample of all of them, whatever their places are", async (oneOf) => {
  const store = await openTestStore()
  store.database.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
    insert into ended (place, call, start_place, at, agent, tool, ending, duration_ms, role, task)
    select 4 * i, 'call-' || i, null, i, 'ann', 'probe', 'success', 1, '', '' from n`)
  for (const half of [{ until: 2000 }, { since: 2000 }]) {
    const count = await store.audit.count({ ...half, oneOf })
    expect(count).toBeGreaterThan(2000 / oneOf / 1.5)
    expect(count).toBeLessThan((2000 / oneOf) * 1.5)
  }
})

test("calls are found by several codes, and by what happened to them", async () => {
  const store = await openTestStore()
  const call = (callId: string, code?: "timeout" | "frozen") =>
    callEntries({ callId, at: 1, ...(code === undefined ? {} : { code }) })
  const [start, end] = call("asked")
  const asked = { kind: "asked", callId: "asked", at: 2 } as const
  await writeEntries(store, [
    ...call("plain"),
    ...call("slow", "timeout"),
    ...call("cold", "frozen"),
    start,
    asked,
    end,
  ])
  const ids = async (filter: object) => (await store.audit.list(filter)).map(({ callId }) => callId).sort()
  expect(await ids({ codes: ["timeout", "frozen"] })).toEqual(["cold", "slow"])
  expect(await ids({ codes: [] })).toEqual([])
  expect(await ids({ withEntry: ["asked", "held"] })).toEqual(["asked"])
  expect(await ids({ withEntry: ["asked"], codes: ["frozen"] })).toEqual([])
})
