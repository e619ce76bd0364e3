import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { runChild } from "../../testing/child-process.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { Audit } from "../../audit/audit.ts"
import { findOrBeginChain, moveHead } from "./chains.ts"
import { transaction } from "./database.ts"
import { entryText } from "./entry-text.ts"
import { frameText, numberLine, sealOf } from "./frames.ts"
import { closeChain } from "./journal-mover.ts"
import { addSegment } from "./segments.ts"
import { callEntries, openTestStore, watchQueryPlans } from "../testing/test-store.ts"

const hour = 3_600_000
const first = Date.UTC(2026, 0, 1)
const perDay = 10_000
const agents = 10
const tools = 10

/** Calls of ten agents and ten tools, ten thousand a day, written as the journal mover writes them. */
async function record(days: number) {
  const store = await openTestStore({ dataDir: temporaryFolder() })
  const { database, key } = store
  let lines = 0
  for (let made = 0; made < days * perDay; made += perDay) {
    transaction(database, () => {
      const chain = findOrBeginChain(database, key, "00000000-0000-7000-8000-000000000000", "")
      let [seq, seal, text] = [chain.last_seq, chain.last_mac, ""]
      for (let call = made; call < made + perDay; call += 50) {
        let frame = ""
        for (const entry of calls(call, 50)) {
          const json = entryText(entry)
          const whole = entry.kind === "end" ? `${json.slice(0, -1)},"s":${seq}}` : json
          frame += numberLine(++seq, whole)
        }
        seal = sealOf(key, seal, frame)
        text += frameText(frame, seal)
        if ((call + 50) % 2000 !== 0) continue
        addSegment(database, chain.ordinal, text)
        text = ""
      }
      moveHead(database, key, chain, { seq, seal, file: null, offset: 0 })
      lines = seq
    })
  }
  closeChain({ database, key, dir: store.journalDir }, "00000000-0000-7000-8000-000000000000")
  return { store, lines, lastDay: first + (days - 1) * 24 * hour }
}

function calls(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const call = from + index
    return callEntries({
      callId: `call-${String(call).padStart(9, "0")}`,
      at: first + Math.floor((call * 24 * hour) / perDay),
      agentId: `agent-${call % agents}`,
      tool: `tool-${Math.floor(call / agents) % tools}`,
      durationMs: 1,
      ...(call % 17 === 0 ? { code: "timeout" as const } : {}),
    })
  }).flat()
}

/** How long each takes. They run in turn, so that a busy machine slows both. */
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
