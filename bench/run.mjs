/**
 * Runs one benchmark: `npm run bench -- <name> [--json] [--rounds 5] [--smoke]`. With `--smoke` and no name, all of them.
 *
 * `<name>.bench.mjs` exports `name`, `rows`, `reference` and `floor`; `<name>.ours.mjs`, where it exists, adds `rows`.
 * Every row has a process of its own that lives through all rounds (rows with the same `group` share one), because
 * a library that once entered an AsyncLocalStorage makes every later `await` of its process dearer.
 * A benchmark that measures in another way exports `measureAll` instead of rows; it returns its lines, each with
 * a `row` and figures, the `columns` of the table (title by field), and a `legend`.
 * In each round every row runs once, one process at a time, each round beginning with another row; before each the
 * disk is given time to write what the row before has left, and the processes of all other rows are stopped.
 * `--smoke` asks only whether every row still runs and yields a number: little data, one round, nothing asserted.
 *
 * @typedef {object} Row
 * @property {string} row the name, unique in the benchmark
 * @property {string} unit of the figure, for example "µs/call"
 * @property {string} describe one sentence: what is measured
 * @property {string} [reference] the row its ratio is taken against, instead of the benchmark's `reference`
 * @property {string} [group] rows of one file with the same group share a process
 * @property {(place: { folder: string }) => unknown} [prepare] once, before everything; the folder is the process's
 *   own, on the file system of the repository, and removed at the end
 * @property {() => Promise<number>} run the figure of one round; called once more before the first round to warm up
 * @property {() => unknown} [close] once, at the end
 */
import { execFile, fork, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { markdown, median, range, rounded } from "./table.mjs"

const longestMinutes = 5
const here = fileURLToPath(new URL(".", import.meta.url))
const temporary = join(here, ".tmp")

const { name, known, json, smoke, rounds, argument } = readArguments()
if (!existsSync(join(here, "node_modules"))) stop("The peers are not installed. Run: npm ci --prefix bench")
if (name === undefined) smokeAll()
if (smoke) process.env.QM_BENCH_SMOKE = "1"
const bench = await load(name)

/** What the harness is doing, so that a timeout can say so. */
let doing = "starting"
const processes = []
mkdirSync(temporary, { recursive: true })
const folder = mkdtempSync(join(temporary, "run-"))
const minutes = bench.longestMinutes ?? longestMinutes
setTimeout(() => end(1, `${name} took longer than ${minutes} minutes (${doing}).`), minutes * 60_000).unref()
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => end(130, `Stopped by ${signal}.`))

try {
  const say = (what) => (doing = what)
  await bench.setUp?.({ argument, folder, smoke, say })
  print(
    bench.measureAll === undefined
      ? summarize(await measureRows())
      : await bench.measureAll({ rounds, folder, processes, say }),
  )
  end(0)
} catch (error) {
  end(1, `${name} failed (${doing}): ${error.stack}`)
}

function readArguments() {
  const known = readdirSync(here).flatMap((file) => /^(.+)\.bench\.mjs$/.exec(file)?.[1] ?? [])
  const usage = `Usage: npm run bench -- <${known.join(" | ")}> [--json] [--rounds 5] [--smoke]\n       npm run bench -- before <git ref>\n       npm run bench -- --smoke`
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        smoke: { type: "boolean", default: false },
        rounds: { type: "string" },
      },
    })
    const { json, smoke } = values
    const [name, argument, ...more] = positionals
    const rounds = Number(values.rounds ?? (smoke ? 1 : 5))
    const isNamed = name === undefined ? smoke : known.includes(name)
    if (isNamed && more.length === 0 && Number.isInteger(rounds) && rounds > 0) {
      return { name, known, json, smoke, rounds, argument }
    }
  } catch (error) {
    stop(`${error.message}\n${usage}`)
  }
  return stop(usage)
}

/** Each in a process of its own, so that one that crashes does not keep the others from being looked at. */
function smokeAll() {
  const failed = known.filter((each) => {
    console.log(`\n== ${each}`)
    const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), each, "--smoke"], {
      stdio: "inherit",
    })
    return status !== 0
  })
  const which = failed.length === 0 ? "" : ` These failed: ${failed.join(", ")}.`
  console.log(`\n${known.length - failed.length} of ${known.length} benches passed.${which}`)
  process.exit(failed.length === 0 ? 0 : 1)
}

/** The benchmark with its rows; each row knows the file it is from, so that a child loads only that file. */
async function load(name) {
  const files = [`${name}.bench.mjs`, `${name}.ours.mjs`]
    .map((file) => join(here, file))
    .filter((file) => existsSync(file))
  const modules = []
  for (const file of files) {
    try {
      modules.push(await import(pathToFileURL(file).href))
    } catch (error) {
      stop(`${file.slice(here.length)} could not be loaded. Is dist/ built (npm run build)?\n${error.stack}`)
    }
  }
  if (modules[0].measureAll !== undefined) return { ...modules[0], title: modules[0].name }
  const rows = modules.flatMap((module, index) => module.rows.map((row) => ({ ...row, file: files[index] })))
  const { reference, floor } = modules[0]
  const names = rows.map(({ row }) => row)
  for (const row of names) if (names.indexOf(row) !== names.lastIndexOf(row)) stop(`Two rows are named "${row}".`)
  for (const row of [reference, floor, ...rows.map((each) => each.reference ?? reference)]) {
    if (!names.includes(row)) stop(`There is no row "${row}" to compare with.`)
  }
  return { title: modules[0].name, setUp: modules[0].setUp, rows, reference, floor }
}

/** Lets what the row before has written reach the disk, so that no row pays for another one's bytes. */
async function settleDisk() {
  if (smoke) return
  await new Promise((resolve) => execFile("sync", resolve))
  await new Promise((resolve) => setTimeout(resolve, 250))
}

/** @returns {Promise<Map<string, number[]>>} the figures of each row, one per round. */
async function measureRows() {
  const groups = new Map()
  for (const row of bench.rows) {
    const key = `${row.file} ${row.group ?? row.row}`
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  const processOf = new Map()
  for (const rows of groups.values()) {
    doing = `preparing "${rows[0].row}"`
    const child = await start(rows)
    for (const { row } of rows) processOf.set(row, child)
    await child.alone("prepare")
  }
  const figures = new Map(bench.rows.map(({ row }) => [row, []]))
  for (let round = 0; round < rounds; round += 1) {
    const first = Math.floor((round * bench.rows.length) / rounds)
    for (const { row } of [...bench.rows.slice(first), ...bench.rows.slice(0, first)]) {
      doing = `round ${round + 1}, "${row}"`
      await settleDisk()
      figures.get(row).push(await processOf.get(row).alone("run", row))
    }
  }
  doing = "closing"
  for (const child of new Set(processOf.values())) await child.alone("close")
  return figures
}

/** What the child prints goes to our stderr, so that `--json` stays clean. */
async function start(rows) {
  const own = mkdtempSync(join(folder, "row-"))
  const child = fork(join(here, "child.mjs"), [rows[0].file, own, ...rows.map(({ row }) => row)], {
    stdio: ["ignore", 2, 2, "ipc"],
    execArgv: [],
    env: quietEnvironment(),
  })
  processes.push(child)
  const ended = new Promise((_, reject) => {
    child.once("error", reject)
    child.once("exit", (code, signal) => reject(new Error(`its process ended early (${signal ?? code}).`)))
  })
  ended.catch(() => {})
  const answer = async () => {
    const [{ figure, error }] = await Promise.race([once(child, "message"), ended])
    if (error !== undefined) throw new Error(error)
    return figure
  }
  await answer()
  child.kill("SIGSTOP")
  return {
    /** Only the process that is measured runs: the others would collect their garbage on its cores. */
    async alone(task, row) {
      child.kill("SIGCONT")
      const answered = answer()
      child.send({ task, row }, () => {})
      const figure = await answered
      if (task !== "close") child.kill("SIGSTOP")
      return figure
    },
  }
}

/** Without the switches that make a peer trace, or Node load more. */
function quietEnvironment() {
  const loud = /^(LANGSMITH|LANGCHAIN|OPENAI|OTEL|NODE|DEBUG)(_|$)/
  const quiet = Object.entries(process.env).filter(([key]) => !loud.test(key))
  return { ...Object.fromEntries(quiet), NODE_ENV: "production" }
}

/** The lines of a benchmark of rows, in the form in which `measureAll` gives its own. */
function summarize(figures) {
  const references = [...new Set(bench.rows.map(({ reference = bench.reference }) => reference))]
  const mark = (reference) => String.fromCharCode(97 + references.indexOf(reference))
  const middle = (row) => median(figures.get(row))
  const lines = bench.rows.map(({ row, unit, reference = bench.reference }) => ({
    row,
    median: middle(row),
    unit,
    ratio: middle(row) / middle(reference),
    against: mark(reference),
    overFloor: middle(row) / middle(bench.floor),
    range: range(figures.get(row)),
  }))
  const columns = { row: "row", median: "median", unit: "unit", ratio: "ratio", against: "to", overFloor: "by floor", range: "min..max" } // prettier-ignore
  const legend = [
    "Ratio: median divided by the median of the reference row; below 1 takes less time.",
    ...references.map((reference) => `To ${mark(reference)}: ${reference}.`),
    `By floor: median divided by the median of "${bench.floor}".`,
    "",
    ...bench.rows.map(({ row, describe }) => `${row}: ${describe}`),
  ]
  return { lines, columns, legend: legend.join("\n") }
}

/** A row that has no number, or one that is none, is a failure: it would look like a row that was measured. */
function print({ lines, columns, legend }) {
  for (const line of lines) {
    const numbers = Object.values(line).filter((value) => typeof value === "number")
    if (numbers.length === 0 || !numbers.every(Number.isFinite)) {
      throw new Error(`"${line.row}" has no number, or one that is none: ${JSON.stringify(line)}`)
    }
  }
  if (json) {
    for (const line of lines) {
      const figures = Object.entries(line).map(([key, value]) => [
        key,
        typeof value === "number" ? rounded(value) : value,
      ])
      console.log(JSON.stringify({ bench: name, ...Object.fromEntries(figures) }))
    }
    return
  }
  const how = smoke ? "only to see that it runs; the figures mean nothing" : `${rounds} rounds`
  const load = loadavg()[0].toFixed(1)
  console.log(`${bench.title}: ${how}, Node ${process.version}, ${cpus().length} CPUs, load ${load}\n`)
  const used = Object.entries(columns).filter(([key]) => lines.some((line) => line[key] !== undefined))
  console.log(markdown(used.map(([, title]) => title), lines.map((line) => used.map(([key]) => line[key])))) // prettier-ignore
  if (!smoke) console.log(`\n${legend}`)
}

/** Ends the children, removes the folder, then the process: a loaded library may hold it open. */
function end(code, message) {
  if (message !== undefined) console.error(message)
  for (const child of processes) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  try {
    rmdirSync(temporary)
  } catch {
    // Another run still has its folder in there.
  }
  process.exit(code)
}

function stop(message) {
  console.error(message)
  process.exit(2)
}
