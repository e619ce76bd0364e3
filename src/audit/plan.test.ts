import { expect, test } from "vitest"
import { Audit } from "./audit.ts"
import { callEntries, writeEntries, openTestStore, watchQueryPlans } from "../store/testing/test-store.ts"

const day = Date.UTC(2026, 0, 1)

/** The query plans of the work's queries on the table of ended calls. */
async function plans(work: (audit: Audit) => Promise<unknown>): Promise<string> {
  const store = await openTestStore()
  await writeEntries(store, callEntries({ callId: "a", at: day }))
  const { database, seen } = watchQueryPlans(store.database)
  await work(new Audit(database, store.key, store.journalDir))
  return seen.filter((plan) => plan.includes("ended")).join("\n")
}

const drain = async (calls: AsyncIterable<unknown>) => {
  for await (const _call of calls);
}
const aDay = { since: day, until: day + 24 * 3_600_000 }

test("calls of an agent and a tool on a day are found by an index, without a sort of all of them", async () => {
  const plan = await plans((audit) => audit.list({ agentId: "ann", tool: "probe", ...aDay }))
  expect(plan).toContain("SEARCH ended USING INDEX ended_agent (agent=? AND tool=? AND at>? AND at<?)")
  expect(plan).not.toContain("TEMP B-TREE FOR ORDER BY")
})

test("calls of a task are found by an index, in its order", async () => {
  const plan = await plans((audit) => audit.list({ taskId: "t1", agentId: "ann", ...aDay }))
  expect(plan).toContain("SEARCH ended USING INDEX ended_task (task=? AND at>? AND at<?)")
  expect(plan).not.toContain("TEMP B-TREE FOR ORDER BY")
})

test.each([{}, { tool: "probe" }, aDay, { status: "error", ...aDay }])(
  "the newest calls with %o come in the order of an index",
  async (filter) => {
    const plan = await plans((audit) => audit.list(filter))
    expect(plan).toContain("USING INDEX ended_at")
    expect(plan).not.toContain("TEMP B-TREE FOR ORDER BY")
  },
)

test.each([
  {},
  { agentId: "ann" },
  { tool: "probe" },
  { agentId: "ann", tool: "probe" },
  { taskId: "t1" },
  { status: "success", ...aDay },
])("each page of an export with %o begins where the last one ended, in the order of an index", async (filter) => {
  const plan = await plans((audit) => drain(audit.export(filter)))
  expect(plan).toMatch(/SEARCH ended USING INDEX ended_(at|agent|task) \(.*at>\?/)
  expect(plan).not.toContain("TEMP B-TREE FOR ORDER BY")
  expect(plan).not.toContain("SCAN")
})
