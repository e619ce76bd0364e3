/**
 * What a tool call costs a gateway: CPU of the gateway's own process by call, and how long the caller waits. All
 * gateways are started anew in each round and take turns; the load is a process of its own on the other core.
 */
import { fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { execFileSync } from "node:child_process"
import { freePort, streamable, targets } from "./gateway-targets.mjs"

export const name = "A tool call through an MCP gateway"
export const longestMinutes = 20

/** Long enough that what is measured is compiled, ours and theirs: gateways run for days. */
const warmUp = 3000
const ways = [
  { together: 1, count: 1500 },
  { together: 20, count: 4000 },
]
const idleClients = 200

/** The whole benchmark; `processes` is where children go that must not outlive it. */
export async function measureAll({ rounds, json, folder, processes, say }) {
  const load = await startLoad(processes)
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
  report(figures, extras, rounds, json)
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

/** tools/list of 1,000 tools after the first, and what clients that do nothing hold in memory. */
async function measureExtras({ child, told }, load, extras) {
  const lister = streamable(told.port, "", told.lister)
  await load.ask({ task: "connect", name: "lister", target: lister })
  await load.ask({ task: "lists", name: "lister", count: 20, least: 1000 })
  const before = cpuMs(child.pid)
  await load.ask({ task: "lists", name: "lister", count: 200, least: 1000 })
  extras.listCpuMs.push((cpuMs(child.pid) - before) / 200)
  await load.ask({ task: "close", name: "lister" })

  const target = streamable(told.port, "", told.worker)
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

async function startLoad(processes) {
  const child = fork(fileURLToPath(new URL("gateway-load.mjs", import.meta.url)), { execArgv: [] })
  processes.push(child)
  try {
    execFileSync("taskset", ["-acp", "1", String(child.pid)], { stdio: "ignore" })
  } catch {
    // Without it the system decides.
  }
  return {
    child,
    async ask(message) {
      const answered = new Promise((resolve) => child.once("message", resolve))
      child.send(message)
      const { value, error } = await answered
      if (error !== undefined) throw new Error(error)
      return value
    },
  }
}

/** User and system time of a process with all its threads, without its children. */
function cpuMs(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function report(figures, extras, rounds, json) {
  const rows = targets.map(({ row, kind }) => ({
    row,
    kind,
    ways: figures.get(row).map(({ cpuMs, calls, took, each }) => ({
      cpu: cpuMs / calls,
      least: Math.min(...each),
      most: Math.max(...each),
      p50: quantile(took, 0.5),
      p95: quantile(took, 0.95),
    })),
  }))
  const best = (kind, index, field) =>
    Math.min(...rows.filter((row) => row.kind === kind).map((row) => row.ways[index][field]))
  const judged = rows.flatMap(({ row, ways: measured }) =>
    measured.map((figure, index) => ({
      bench: "gateway",
      row,
      inFlight: ways[index].together,
      cpuMs: rounded(figure.cpu),
      ofBestPeer: rounded(figure.cpu / best("peer", index, "cpu")),
      byFloor: rounded(figure.cpu / best("floor", index, "cpu")),
      leastMost: `${rounded(figure.least)}..${rounded(figure.most)}`,
      p50: rounded(figure.p50),
      p95: rounded(figure.p95),
      p95OfBestPeer: rounded(figure.p95 / best("peer", index, "p95")),
    })),
  )
  const more = {
    bench: "gateway",
    listOf1000CpuMs: rounded(median(extras.listCpuMs)),
    idleClients,
    idleMegabytes: rounded(median(extras.idleMegabytes)),
    residentMegabytes: rounded(median(extras.residentMegabytes)),
  }
  if (json) {
    for (const line of [...judged, more]) console.log(JSON.stringify(line))
    return
  }
  const about = `Node ${process.version}, ${cpus().length} CPUs, load ${loadavg()[0].toFixed(1)}`
  console.log(`${name}: ${rounds} rounds, ${about}\n`)
  const header = [
    "row",
    "in flight",
    "CPU ms/call",
    "of best peer",
    "by floor",
    "min..max",
    "p50 ms",
    "p95 ms",
    "p95 of best peer",
  ]
  const table = judged.map((cells) => Object.values(cells).slice(1).map(String))
  const widths = header.map((title, column) => Math.max(...[header, ...table].map((cells) => cells[column].length)))
  for (const cells of [header, ...table]) {
    console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  "))
  }
  console.log(
    "\nCPU: of the gateway's own process with its threads, without the server behind it; all rounds together.",
  )
  console.log("of best peer, by floor: divided by the best peer's, and by that of our own front without controls.")
  console.log("p50, p95: what the caller waits, over the calls of all rounds.\n")
  console.log(`tools/list of 1,000 tools, after the first   ${more.listOf1000CpuMs} CPU ms`)
  console.log(`${idleClients} idle clients with a stream each           ${more.idleMegabytes} MB more\n`)
  const width = Math.max(...targets.map(({ row }) => row.length))
  for (const { row, describe } of targets) console.log(`${row.padEnd(width)}  ${describe}`)
}

function quantile(values, part) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
}

function median(values) {
  return quantile(values, 0.5)
}

function rounded(number) {
  return Number(number.toPrecision(3))
}
