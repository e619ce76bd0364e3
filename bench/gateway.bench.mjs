/**
 * What a tool call costs in a gateway: CPU time of the gateway's own process per call, and how long the caller waits.
 * All gateways are restarted in each round and take turns; the load is a separate process on the other core.
 */
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { freePort, streamable, targets } from "./gateway-targets.mjs"
import { cpuMs, startLoad } from "./load-process.mjs"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "A tool call through an MCP gateway"
export const longestMinutes = 20

/** Long enough that all measured code is compiled, because gateways run for days. */
const warmUp = isSmoke ? 20 : 3000
const ways = [
  { together: 1, count: isSmoke ? 20 : 1500 },
  { together: 20, count: isSmoke ? 40 : 4000 },
]
const lists = isSmoke ? 5 : 200
const idleClients = isSmoke ? 5 : 200

/** Runs the whole benchmark. Child processes that must not outlive it are added to `processes`. */
export async function measureAll({ rounds, folder, processes, say }) {
  const load = startLoad("gateway-load.mjs", processes)
  const figures = new Map(targets.map(({ row }) => [row, ways.map(() => ({ cpuMs: 0, calls: 0, took: [], each: [] }))]))
  const extras = { listCpuMs: [], idleMegabytes: [], residentMegabytes: [] }
  for (let round = 0; round < rounds; round += 1) {
    const first = round % targets.length
    for (const target of [...targets.slice(first), ...targets.slice(0, first)]) {
      say(`round ${round + 1}, "${target.row}"`)
      await measureOne(target, join(folder, `${round}-${targets.indexOf(target)}`), figures.get(target.row), load, {
        processes,
        extras: target.row === "Quartermaster" ? extras : undefined,
      })
    }
  }
  load.child.kill()
  return report(figures, extras)
}

async function measureOne(target, folder, figures, load, { processes, extras }) {
  const started = await target.start({ folder, port: await freePort() })
  const { child } = started
  processes.push(child)
  try {
    await connected(load, target.row, started)
    await load.ask({ task: "calls", name: target.row, count: warmUp, together: 20 })
    for (const [index, { together, count }] of ways.entries()) {
      const before = cpuMs(child.pid)
      const took = await load.ask({ task: "calls", name: target.row, count, together })
      const spent = cpuMs(child.pid) - before
      const figure = figures[index]
      figure.cpuMs += spent
      figure.calls += count
      figure.each.push(spent / count)
      figure.took.push(...took)
    }
    if (extras !== undefined) await measureExtras(started, load, extras)
  } finally {
    await load.ask({ task: "close", name: target.row })
    child.kill("SIGTERM")
    const killed = setTimeout(() => child.kill("SIGKILL"), 3000)
    if (child.exitCode === null && child.signalCode === null) await new Promise((done) => child.once("exit", done))
    clearTimeout(killed)
  }
}

/** Measures tools/list of 1,000 tools after the first, and the memory that idle clients use. */
async function measureExtras({ child, ready }, load, extras) {
  const lister = streamable(ready.port, "", ready.lister)
  await load.ask({ task: "connect", name: "lister", target: lister })
  await load.ask({ task: "lists", name: "lister", count: 20, least: 1000 })
  const before = cpuMs(child.pid)
  await load.ask({ task: "lists", name: "lister", count: lists, least: 1000 })
  extras.listCpuMs.push((cpuMs(child.pid) - before) / lists)
  await load.ask({ task: "close", name: "lister" })

  const target = streamable(ready.port, "", ready.worker)
  await load.ask({ task: "idle", target, count: 20 })
  const empty = await memoryOf(child)
  await load.ask({ task: "idle", target, count: idleClients })
  const full = await memoryOf(child)
  extras.idleMegabytes.push((full.rss - empty.rss) / 1e6)
  extras.residentMegabytes.push(full.rss / 1e6)
}

async function memoryOf(child) {
  await sleep(500)
  const answered = new Promise((resolve) => child.once("message", resolve))
  child.send("memory")
  return (await answered).memory
}

async function connected(load, row, { target, child }) {
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null) throw new Error(`"${row}" ended early (${child.exitCode}).`)
    try {
      return await load.ask({ task: "connect", name: row, target })
    } catch (error) {
      if (tries > 150) throw error
      await sleep(100)
    }
  }
}

function report(figures, extras) {
  const rows = targets.map(({ row, kind }) => ({
    row,
    kind,
    ways: figures.get(row).map(({ cpuMs, calls, took, each }) => ({
      cpu: cpuMs / calls,
      each,
      p50: quantile(took, 0.5),
      p95: quantile(took, 0.95),
    })),
  }))
  const best = (kind, index, field) =>
    Math.min(...rows.filter((row) => row.kind === kind).map((row) => row.ways[index][field]))
  const ratio = (one, other) => (isSmoke ? undefined : one / other)
  const lines = rows.flatMap(({ row, ways: measured }) =>
    measured.map((figure, index) => ({
      row,
      inFlight: ways[index].together,
      cpu: figure.cpu,
      range: range(figure.each),
      ofBestPeer: ratio(figure.cpu, best("peer", index, "cpu")),
      byFloor: ratio(figure.cpu, best("floor", index, "cpu")),
      p50: figure.p50,
      p95: figure.p95,
      p95OfBestPeer: ratio(figure.p95, best("peer", index, "p95")),
    })),
  )
  const more = [
    {
      row: "tools/list of 1,000 tools, after the first",
      cpu: median(extras.listCpuMs),
      range: range(extras.listCpuMs),
    },
    { row: `MB more with ${idleClients} idle clients`, megabytes: median(extras.idleMegabytes), range: range(extras.idleMegabytes) }, // prettier-ignore
  ]
  return { lines: [...lines, ...more], columns, legend }
}

const columns = {
  row: "row",
  inFlight: "in flight",
  cpu: "CPU ms/call",
  range: "min..max",
  ofBestPeer: "of best peer",
  byFloor: "by floor",
  p50: "p50 ms",
  p95: "p95 ms",
  p95OfBestPeer: "p95 of best peer",
  megabytes: "MB",
}

const legend = [
  "CPU: of the gateway's own process with its threads, without the server behind it; all rounds together.",
  "Of best peer, by floor: divided by the best peer's, and by that of our own front without controls.",
  "p50, p95: what the caller waits, over the calls of all rounds.",
  "",
  ...targets.map(({ row, describe }) => `${row}: ${describe}`),
].join("\n")

function quantile(values, part) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}
