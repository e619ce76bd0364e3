/**
 * What a call over the HTTP API costs: CPU time of the server's process per request, and how long the caller waits, beside
 * Hono with the same validation. Both servers are started anew in each round and take turns; the load has a process of its own.
 */
import { fork } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { cpuMs, startLoad } from "./load-process.mjs"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "A tool call over the HTTP API"
export const longestMinutes = 10

const connections = 32
const warmUp = isSmoke ? 50 : 6000
const count = isSmoke ? 100 : 12_000
const targets = [
  { row: "Hono", file: "http-hono.mjs" },
  { row: "Quartermaster", file: "http-app.mjs" },
]

export async function measureAll({ rounds, folder, processes, say }) {
  const load = startLoad("http-load.mjs", processes)
  const figures = new Map(targets.map(({ row }) => [row, { cpu: [], took: [] }]))
  for (let round = 0; round < rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      say(`round ${round + 1}, "${target.row}"`)
      const own = join(folder, `${round}-${target.row}`)
      mkdirSync(own)
      const child = fork(fileURLToPath(new URL(target.file, import.meta.url)), [own], { execArgv: [] })
      processes.push(child)
      const server = await new Promise((resolve, reject) => {
        child.once("message", resolve)
        child.once("exit", (code) => reject(new Error(`"${target.row}" ended early (${code}).`)))
      })
      await load.ask({ ...server, count: warmUp, connections })
      const before = cpuMs(child.pid)
      const took = await load.ask({ ...server, count, connections })
      const figure = figures.get(target.row)
      figure.cpu.push(((cpuMs(child.pid) - before) * 1000) / count)
      figure.took.push(...took)
      child.removeAllListeners("exit")
      child.kill("SIGKILL")
    }
  }
  const floor = median(figures.get("Hono").cpu) || 1
  const lines = targets.map(({ row }) => {
    const { cpu, took } = figures.get(row)
    took.sort((one, other) => one - other)
    const at = (part) => took[Math.floor(took.length * part)]
    return { row, cpu: median(cpu), ratio: median(cpu) / floor, range: range(cpu), p50: at(0.5), p95: at(0.95) }
  })
  const columns = { row: "row", cpu: "CPU µs a request", ratio: "by Hono", range: "min..max", p50: "p50 ms", p95: "p95 ms" } // prettier-ignore
  const legend = [
    `POST /v1/tools/current_time/call, ${connections} connections, ${count} requests a round after ${warmUp} to warm up.`,
    "Hono: the same version on the same node-server, the same schemas, an answer of the same shape.",
    "Quartermaster: authenticated with a token, decided, run and recorded (durability crash).",
  ]
  return { lines, columns, legend: legend.join("\n") }
}
