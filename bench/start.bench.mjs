/**
 * What it costs to begin: importing the library beside other libraries of its kind, opening an app on an existing folder,
 * a call and the first list of tools at the command line beside an empty Node. Every figure is the wall time of a new
 * process, or taken inside one; all rows take turns.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "From nothing to the first call"
export const longestMinutes = 10

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const library = JSON.stringify(new URL("../dist/index.js", import.meta.url).href)
const qm = here("../dist/qm.js")
const timed = (work) => `const began = performance.now(); ${work}; console.log(performance.now() - began)`
const imported = (name) => timed(`await import(${JSON.stringify(name)})`)
const opened = `const { createQuartermaster } = await import(${library})`
const oneCall = `await app.call({ agentId: "operator", tool: "current_time", input: {} })`

export async function measureAll({ rounds, folder, say }) {
  const turns = isSmoke ? 1 : rounds * 3
  const home = join(folder, "home")
  mkdirSync(home, { recursive: true })
  const run = runner(home)
  const rows = [
    { row: "import quartermaster", take: () => run.inside(imported(new URL("../dist/index.js", import.meta.url).href)), against: "import ai" }, // prettier-ignore
    { row: "import ai", take: () => run.inside(imported("ai")) },
    {
      row: "import langchain's tools",
      take: () => run.inside(imported("@langchain/core/tools")),
      against: "import ai",
    },
    { row: "import @openai/agents", take: () => run.inside(imported("@openai/agents")), against: "import ai" },
    { row: "createQuartermaster, existing folder", take: () => run.inside(`${opened}; ${timed("const app = await createQuartermaster()")}; await app.close()`) }, // prettier-ignore
    { row: "node -e 0", take: () => run.whole(["-e", "0"]) },
    { row: "qm call current_time", take: () => run.whole([qm, "call", "current_time"]), against: "node -e 0" },
    { row: "qm mcp to its first tools/list", take: () => run.firstList(), against: "node -e 0" },
  ]
  say("making the folder")
  await run.whole([qm, "call", "current_time"])
  await run.inside(`${opened}; const app = await createQuartermaster(); ${oneCall}; await app.close(); console.log(0)`)
  const times = new Map(rows.map(({ row }) => [row, []]))
  for (let turn = 0; turn < turns; turn++) {
    for (const { row, take } of turn % 2 === 0 ? rows : rows.toReversed()) {
      say(`turn ${turn + 1}, "${row}"`)
      times.get(row).push(await take())
    }
  }
  const megabytes = await run.inside(
    `${opened}; const app = await createQuartermaster(); ${oneCall}; console.log(process.memoryUsage().rss / 1e6); await app.close()`,
  )
  const middle = (row) => median(times.get(row))
  const lines = rows.map(({ row, against }) => ({
    row,
    median: middle(row),
    unit: "ms",
    ratio: against && middle(row) / middle(against),
    more: against === "node -e 0" ? middle(row) - middle(against) : undefined,
    range: range(times.get(row)),
  }))
  return {
    lines: [...lines, { row: "memory after the first call (RSS)", median: megabytes, unit: "MB" }],
    columns: { row: "row", median: "median", unit: "unit", ratio: "ratio", more: "ms more", range: "min..max" },
    legend:
      "Ratio: to importing ai, or to an empty Node. Bars: import 1.5, createQuartermaster 30 ms, qm call 120 ms more than an empty Node, qm mcp 200 ms.",
  }
}

/** Starts processes in one folder with a home of its own, so that nothing of this machine's user is read or changed. */
function runner(home) {
  const environment = { PATH: process.env.PATH, HOME: home, NODE_ENV: "production" }
  const start = (words, stdio) => spawn(process.execPath, words, { cwd: home, env: environment, stdio })
  return {
    /** The number that a module prints. It is resolved from this folder, where the peers are installed. */
    async inside(source) {
      const words = ["--input-type=module", "--import", `data:text/javascript,process.chdir(${JSON.stringify(home)})`]
      const child = spawn(process.execPath, [...words, "-e", source], {
        cwd: here("."),
        env: environment,
        stdio: ["ignore", "pipe", "inherit"],
      })
      let printed = ""
      child.stdout.on("data", (part) => (printed += part))
      const [code] = await once(child, "close")
      const figure = Number(printed)
      if (code !== 0 || !Number.isFinite(figure)) throw new Error(`It ended with ${code} and printed: ${printed}`)
      return figure
    },
    async whole(words) {
      const began = performance.now()
      const child = start(words, ["ignore", "ignore", "inherit"])
      const [code] = await once(child, "exit")
      if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}.`)
      return performance.now() - began
    },
    async firstList() {
      const began = performance.now()
      const child = start([qm, "mcp"], ["pipe", "pipe", "ignore"])
      const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
      const clientInfo = { name: "bench", version: "1" }
      send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
      let printed = ""
      for await (const part of child.stdout) {
        const before = printed
        printed += part
        const answered = (id) => printed.includes(`"id":${id}`) && !before.includes(`"id":${id}`)
        if (answered(1)) {
          send({ method: "notifications/initialized" })
          send({ id: 2, method: "tools/list" })
        }
        if (answered(2)) break
      }
      const figure = performance.now() - began
      if (!printed.includes('"id":2')) throw new Error(`qm mcp ended early and printed: ${printed.slice(0, 500)}`)
      child.kill()
      await once(child, "exit")
      return figure
    },
  }
}
