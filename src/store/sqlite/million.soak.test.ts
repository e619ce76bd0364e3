import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { runChild } from "../../testing/child-process.ts"
import { Audit } from "../../audit/audit.ts"
import { agents, hour, perDay, record, tools } from "../testing/million-calls.ts"
import { watchQueryPlans } from "../testing/test-store.ts"

/** Measures the median time of each. They run in turn, so that a busy machine slows both. */
async function medians(works: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const times = works.map((): number[] => [])
  for (let round = -50; round < 301; round++) {
    for (const [index, work] of works.entries()) {
      const began = performance.now()
      await work()
      if (round >= 0) times[index]!.push(performance.now() - began)
    }
  }
  return times.map((all) => all.sort((one, other) => one - other)[150]!)
}

test("among a million calls, an agent's calls of a tool on a day are found as fast as among ten thousand", async () => {
  const small = await record(1)
  const large = await record(100)
  const question = (lastDay: number) => ({
    agentId: "agent-3",
    tool: "tool-4",
    since: lastDay,
    until: lastDay + 24 * hour,
  })
  const ask = async ({ store, lastDay }: typeof small) => {
    const rows = await store.audit.list({ ...question(lastDay), limit: 1000 })
    expect(rows).toHaveLength(perDay / agents / tools)
  }
  const { database, seen } = watchQueryPlans(large.store.database)
  await new Audit(database, large.store.key, large.store.journalDir).list(question(large.lastDay))
  expect(seen.join()).toContain("USING INDEX ended_agent (agent=? AND tool=? AND at>? AND at<?)")

  const [among10000 = 0, amongMillion = 0] = await medians([() => ask(small), () => ask(large)])
  console.log(
    `list by agent and tool for a day: ${among10000.toFixed(3)} ms of 10,000, ${amongMillion.toFixed(3)} ms of 1,000,000`,
  )
  expect(amongMillion).toBeLessThan(3 * among10000)

  const counted = await large.store.audit.stats({ since: large.lastDay })
  expect(counted).toMatchObject({ total: perDay, byRole: { developer: { count: perDay } } })

  const [of10000, ofMillion] = [await readThrough(small.store.dir), await readThrough(large.store.dir)]
  console.log("verify and export, memory in MB:", of10000, ofMillion)
  expect(of10000).toMatchObject({ ok: true, records: small.lines, exported: perDay })
  expect(ofMillion).toMatchObject({ ok: true, records: large.lines, exported: 100 * perDay })
  expect(ofMillion.verifying - of10000.verifying).toBeLessThan(80)
  expect(ofMillion.exporting - of10000.exporting).toBeLessThan(80)
})

const built = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../../build/store/sqlite/${name}.js`, import.meta.url)))

/** Verifies and exports in a process whose heap is far smaller than the audit log, and prints its peak memory. */
async function readThrough(dir: string) {
  const { lines, ended } = runChild(
    `
    import { Worker } from "node:worker_threads"
    import { openDatabase } from ${built("database")}
    import { loadRecordKey } from ${built("record-key")}
    import { Audit } from ${JSON.stringify(new URL("../../../build/audit/audit.js", import.meta.url).pathname)}
    const dir = ${JSON.stringify(dir)}
    const database = await openDatabase(dir + "/quartermaster.db")
    const audit = new Audit(database, loadRecordKey(dir, () => true), dir + "/journal")
    // Verify blocks its thread, so another thread watches the memory.
    const seen = new Int32Array(new SharedArrayBuffer(4))
    const look = "const { workerData: seen } = require('node:worker_threads'); setInterval(() => { const now = Math.round(process.memoryUsage.rss() / 1048576); if (now > seen[0]) seen[0] = now }, 5)"
    new Worker(look, { eval: true, execArgv: [], workerData: seen }).unref()
    const most = () => Atomics.exchange(seen, 0, 0)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const verified = await audit.verify()
    const verifying = most()
    let exported = 0
    for await (const call of audit.export()) if (call.input !== "" && call.callId !== "") exported++
    console.log(JSON.stringify({ ...verified, exported, verifying, exporting: most() }))
  `,
    ["--max-old-space-size=64"],
  )
  expect(await ended).toBe(0)
  return JSON.parse(lines[0]!) as {
    ok: boolean
    records: number
    exported: number
    verifying: number
    exporting: number
  }
}
