import type { Quartermaster } from "../../../app/quartermaster.ts"
import { expect, test } from "vitest"
import type { AuditEntry } from "../../../core/audit-entry.ts"
import { voteText } from "../../../core/vote-text.ts"
import { callEntries, openTestStore, writeEntries } from "../../../store/testing/test-store.ts"
import { chartsOf } from "./charts.ts"

const hour = 60 * 60_000
const first = Date.UTC(2026, 0, 1)

type TestStore = Awaited<ReturnType<typeof openTestStore>>

async function chartsWith(entries: readonly AuditEntry[], until: number, more: (store: TestStore) => void = () => {}) {
  const store = await openTestStore()
  await writeEntries(store, entries)
  more(store)
  const app = { audit: store.audit } as unknown as Pick<Quartermaster, "audit">
  return chartsOf(app, { since: first, until }, until)
}

test("every hour has its calls, however many came after it", async () => {
  const old = Array.from({ length: 10 }, (_, index) =>
    callEntries({
      callId: `old-${index}`,
      at: first + index,
      durationMs: index,
      ...(index === 9 ? { code: "permission_denied" } : index === 8 ? { code: "timeout" } : {}),
    }),
  )
  const { hours, total } = await chartsWith(old.flat(), first + 3 * hour - 1, ({ database }) =>
    // Only the index: the entries of so many calls take long to write.
    database.exec(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 20001)
      insert into ended (place, call, start_place, at, agent, tool, ending, duration_ms, role, task)
      select 1000000 + i, 'new-' || i, null, ${first + 2 * hour} + i, 'ann', 'probe', 'success', 100, '', '' from n`),
  )
  expect(hours.map(({ ran, failed, refused, p50, p95 }) => ({ ran, failed, refused, p50, p95 }))).toEqual([
    { ran: 8, failed: 1, refused: 1, p50: 4, p95: 9 },
    { ran: 0, failed: 0, refused: 0, p50: null, p95: null },
    { ran: 20_001, failed: 0, refused: 0, p50: 100, p95: 100 },
  ])
  expect(total).toMatchObject({ p50: 100, p95: 100 })
})

test("an approval and a released result each have their time of waiting, and of two people the last ends it", async () => {
  const step = (callId: string, kind: "asked" | "answered" | "held" | "released", at: number): AuditEntry => ({
    kind,
    callId,
    at: first + at,
    agentId: "ann",
    tool: "probe",
    ...(kind === "asked" || kind === "held" ? {} : { by: "pat" }),
  })
  const call = (callId: string, steps: AuditEntry[]) => {
    const [start, end] = callEntries({ callId, at: first + 100_000, agentId: "ann", tool: "probe" })
    return [start, ...steps, end]
  }
  const entries = [
    ...call("asked", [step("asked", "asked", 0), step("asked", "answered", 5000)]),
    ...call("held", [step("held", "held", 0), step("held", "released", 20_000)]),
    ...call("both", [
      step("both", "asked", 0),
      { ...step("both", "answered", 1000), text: voteText(1, undefined) } as AuditEntry,
      step("both", "answered", 7000),
      step("both", "held", 8000),
      step("both", "released", 9000),
    ]),
    ...call("none", []),
  ]
  const { hours, waits, waitsBy, total } = await chartsWith(entries, first + hour - 1)
  expect(hours).toMatchObject([{ ran: 4, waited: 4, waitP50: 5000, waitP95: 20_000 }])
  expect(total.waitP50).toBe(5000)
  expect(waits.map(({ count }) => count)).toEqual([3, 1, 0, 0, 0])
  expect(waitsBy.tools).toEqual([{ name: "probe", count: 4, p50: 5000 }])
})
