/**
 * What a hook costs on every call of a tool: `qm hook` for a call that is allowed, with a server and without, beside a hook
 * that does nothing and an empty Node. Each figure is the wall time of a new process, as a coding agent starts it.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "A coding agent's hook"
export const longestMinutes = 10

const qm = fileURLToPath(new URL("../dist/qm.js", import.meta.url))
const nothing = "process.stdin.resume().on('end', () => process.exit())"

const configuration = `org:
  roles: [{ name: coder, toolGroups: [workspace, command, clients] }]
  agents: [{ id: dev, role: coder }]
`

export async function measureAll({ rounds, folder, processes, say }) {
  const turns = isSmoke ? 1 : rounds * 12
  const home = join(folder, "home")
  const project = join(folder, "project")
  for (const each of [home, project]) mkdirSync(each, { recursive: true })
  writeFileSync(join(project, "quartermaster.yml"), configuration)
  writeFileSync(join(project, "a.txt"), "hello\n")
  const cwd = realpathSync(project)
  const environment = { PATH: process.env.PATH, HOME: home }
  const start = (words, stdio = "pipe") => spawn(process.execPath, words, { cwd, env: environment, stdio })
  let calls = 0
  const payload = (event) =>
    JSON.stringify({
      session_id: "bench",
      cwd,
      permission_mode: "default",
      hook_event_name: event,
      tool_name: "Read",
      tool_input: { file_path: join(cwd, "a.txt") },
      tool_use_id: `call-${calls}`,
      tool_response: { file: { content: "hello" } },
    })
  const timed = async (words, stdin, wanted) => {
    const began = performance.now()
    const child = start(words)
    let out = ""
    child.stdout.on("data", (chunk) => (out += chunk))
    child.stderr.resume()
    child.stdin.end(stdin)
    await once(child, "close")
    const took = performance.now() - began
    if (wanted !== undefined && !out.includes(wanted)) throw new Error(`The hook answered ${out || "nothing"}.`)
    return took
  }
  const hook = [qm, "hook", "claude", "--agent", "dev"]
  const before = () => (calls++, timed(hook, payload("PreToolUse"), '"allow"'))
  const after = () => timed(hook, payload("PostToolUse"))
  say("making the folder")
  await timed([qm, "trust", "--yes"], "")
  await before()
  const times = new Map()
  const take = async (row, work) => times.set(row, [...(times.get(row) ?? []), await work()])
  for (let turn = 0; turn < Math.ceil(turns / 4); turn++) {
    say(`turn ${turn + 1}, without a server`)
    await take("qm hook, without a server", before)
  }
  const server = start([qm, "serve", "--port", "0"])
  processes.push(server)
  server.stderr.resume()
  await new Promise((resolve) => {
    let seen = ""
    server.stdout.on("data", (chunk) => (seen += chunk).includes("Press Ctrl-C") && resolve())
  })
  await before()
  for (let turn = 0; turn < turns; turn++) {
    say(`turn ${turn + 1}`)
    await take("node -e 0", () => timed(["-e", "0"], ""))
    await take("a hook that does nothing", () => timed(["-e", nothing], payload("PreToolUse")))
    await take("qm hook before a call", before)
    await take("qm hook after a call", after)
  }
  server.kill()
  await once(server, "exit")
  const p95 = (row) => times.get(row).toSorted((one, other) => one - other)[Math.floor(times.get(row).length * 0.95)]
  const lines = [...times].map(([row, taken]) => ({
    row,
    median: median(taken),
    unit: "ms",
    p95: p95(row),
    more: row.startsWith("qm") ? p95(row) - p95("node -e 0") : undefined,
    range: range(taken),
  }))
  return {
    lines,
    columns: { row: "row", median: "median", unit: "unit", p95: "p95", more: "p95 more", range: "min..max" },
    legend: "With a server. 'p95 more': than an empty Node's p95. Bar: 60 ms more.",
  }
}
