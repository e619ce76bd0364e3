import fc from "fast-check"
import { expect, test } from "vitest"
import type { AuditEntry } from "../core/audit-entry.ts"
import { voteText } from "../core/vote-text.ts"
import type { AuditFilter } from "../store/port.ts"
import { callEntries } from "../store/testing/test-store.ts"
import type { AuditReader } from "./audit-reader.ts"

const hour = 3_600_000
const first = Date.UTC(2026, 0, 1)

/** A log that entries are written into, a batch at a time. */
export interface SummedLog {
  audit: AuditReader
  write(entries: readonly AuditEntry[]): Promise<void>
  /** Makes the sums anew from the log. */
  rebuild(): Promise<void>
}

const someCall = fc.record({
  agentId: fc.constantFrom("ann", "bob"),
  tool: fc.constantFrom("look", "send"),
  after: fc.integer({ min: 0, max: 5 * hour }),
  durationMs: fc.constantFrom(0, 7, 99, 100, 1234, 98_765),
  code: fc.constantFrom(undefined, "timeout" as const, "permission_denied" as const),
  rule: fc.constantFrom(undefined, "one", "two"),
  waitedMs: fc.constantFrom(undefined, 0, 5000),
})

type SomeCall = typeof someCall extends fc.Arbitrary<infer Call> ? Call : never

const someFilter = fc.record(
  {
    agentId: fc.constantFrom("ann", "nobody"),
    tool: fc.constantFrom("look", "send"),
    status: fc.constantFrom("success", "error", "timeout"),
    since: fc.integer({ min: 0, max: 6 * hour }).map((after) => first + after),
    until: fc.integer({ min: 0, max: 6 * hour }).map((after) => first + after),
  },
  { requiredKeys: [] },
)

function entriesOf({ after, rule, waitedMs, ...call }: SomeCall, callId: string): AuditEntry[] {
  const at = first + after
  const [start, end] = callEntries({ callId, at, ...call })
  const reasons = [
    { check: "rule", source: "rule x", code: "rule_allows", params: { rule: rule ?? "" }, sentence: "." },
  ]
  const ids = { callId, agentId: call.agentId, tool: call.tool }
  const steps: AuditEntry[] =
    waitedMs === undefined
      ? []
      : [
          { kind: "asked", at, ...ids },
          { kind: "answered", at, ...ids, by: "pat", text: voteText(1, undefined) },
          { kind: "answered", at: at + waitedMs, ...ids, by: "lee" },
        ]
  return [...steps, rule === undefined ? start : { ...start, reasons }, end]
}

interface SumsOptions {
  /** True if each `write` can be dropped by itself. */
  drops: boolean
}

/** The sums of the audit log answer as the calls themselves do, however they came in and whatever was dropped. */
export function sumsContract(name: string, open: () => Promise<SummedLog>, { drops }: SumsOptions): void {
  test(`${name}: sums of hours, tools, waits and rules are those of the calls`, async () => {
    const batches = fc.array(fc.array(someCall, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(batches, fc.array(someFilter, { maxLength: 6 }), async (given, filters) => {
        const { audit, write, rebuild } = await open()
        const calls = given.flatMap((batch, index) =>
          batch.map((call, place) => ({ ...call, id: `${index}-${place}` })),
        )
        for (const [index, batch] of given.entries())
          await write(batch.flatMap((call, place) => entriesOf(call, `${index}-${place}`)))
        for (const filter of [{}, ...filters]) await expectSums(audit, filter as AuditFilter)
        const rules = (name: string) => calls.filter(({ rule }) => rule === name).length
        const expected = { one: rules("one"), two: rules("two") }
        const read = async () => ({ one: 0, two: 0, ...Object.fromEntries(await audit.rules(0)) })
        expect(await read()).toEqual(expected)
        expect((await audit.waits({})).map(({ ms }) => ms).sort()).toEqual(
          calls.flatMap(({ waitedMs }) => waitedMs ?? []).sort(),
        )
        await rebuild()
        expect(await read()).toEqual(expected)
        await expectSums(audit, {})
      }),
      { numRuns: 100 },
    )
  })

  if (drops)
    test(`${name}: what is dropped is in no sum any more`, async () => {
      const { audit, write } = await open()
      const call = {
        agentId: "ann",
        tool: "look",
        durationMs: 7,
        code: undefined,
        rule: "one",
        waitedMs: 5000,
      } as const
      for (const id of ["a", "b", "c"]) await write(entriesOf({ ...call, after: id === "c" ? 3 * hour : 0 }, id))
      await audit.drop(first + 2 * hour, "pat")
      await expectSums(audit, {})
      expect(await audit.hours()).toMatchObject([{ at: first + 3 * hour, byEnding: { success: 1 } }])
      expect(Object.fromEntries(await audit.rules(0))).toEqual({ one: 1 })
      expect(await audit.waits({})).toEqual([{ at: first + 3 * hour + 5000, ms: 5000, agentId: "ann", tool: "look" }])
    })

  test(`${name}: an answer that is written before its question is measured all the same`, async () => {
    const { audit, write } = await open()
    const ids = { callId: "late", agentId: "ann", tool: "send" }
    await write([{ kind: "answered", at: first + 700, ...ids, by: "pat" }])
    await write([{ kind: "asked", at: first, ...ids }])
    expect(await audit.waits({})).toMatchObject([{ ms: 700 }])
  })

  test(`${name}: a question that nobody answered is no wait`, async () => {
    const { audit, write } = await open()
    const [, end] = callEntries({ callId: "expired", at: first, code: "approval_expired" })
    await write([{ kind: "asked", callId: "expired", at: first }, end])
    await write([{ kind: "answered", callId: "expired", at: first + 9, by: "pat" }])
    expect(await audit.waits({})).toEqual([])
  })
}

/** Counts the calls one by one. */
async function expectSums(audit: AuditReader, filter: AuditFilter): Promise<void> {
  const rows = await audit.list({ ...filter, limit: 1000 })
  const hours = new Map<number, number>()
  const tools = new Map<string, { count: number; failures: number; ms: number }>()
  for (const { at, tool, code, durationMs } of rows) {
    const begin = Math.floor(at / hour) * hour
    hours.set(begin, (hours.get(begin) ?? 0) + 1)
    const { count, failures, ms } = tools.get(tool) ?? { count: 0, failures: 0, ms: 0 }
    tools.set(tool, { count: count + 1, failures: failures + (code === undefined ? 0 : 1), ms: ms + durationMs })
  }
  const summed = await audit.hours(filter)
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
  expect(summed.map(({ at, byEnding }) => [at, sum(Object.values(byEnding))])).toEqual(
    [...hours].sort(([one], [other]) => one - other),
  )
  for (const { byEnding, times } of summed) {
    expect(sum(times.map(({ count }) => count))).toBe(sum(Object.values(byEnding)))
    for (const { ms } of times) expect([0, 7, 99, 100, 1200, 98_000]).toContain(ms)
  }
  const counted = await audit.tools(filter, 10)
  expect(
    Object.fromEntries(
      counted.map(({ tool, count, failures, averageMs }) => [tool, [count, failures, Math.round(averageMs)]]),
    ),
  ).toEqual(
    Object.fromEntries(
      [...tools].map(([tool, { count, failures, ms }]) => [tool, [count, failures, Math.round(ms / count)]]),
    ),
  )
}
