/**
 * Runs one benchmark: `node bench/run.mjs <name> [--json] [--rounds 5]`.
 *
 * `<name>.bench.mjs` exports `name`, `rows`, `reference` and `floor`; `<name>.ours.mjs`, where it exists, adds `rows`.
 * Every row has a process of its own that lives through all rounds (rows with the same `group` share one), because
 * a library that once entered an AsyncLocalStorage makes every later `await` of its process dearer.
 * A benchmark that measures in another way exports `measureAll` instead of rows, and prints its table itself.
 * In each round every row runs once, one process at a time, each round beginning with another row; before each the
 * disk is given time to write what the row before has left, and the processes of all other rows are stopped.
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
import { execFile, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"

const longestMinutes = 5
const here = fileURLToPath(new URL(".", import.meta.url))
const temporary = join(here, ".tmp")

const { name, json, rounds } = readArguments()
if (!existsSync(join(here, "node_modules"))) stop("The peers are not installed. Run: npm ci --prefix bench")
const bench = await load(name)

/** What the harness is doing, so that a timeout can say so. */
let doing = "starting"
const processes = []
mkdirSync(temporary, { recursive: true })
const folder = mkdtempSync(join(temporary, "run-"))
const minutes = bench.own?.longestMinutes ?? longestMinutes
setTimeout(() => end(1, `${name} took longer than ${minutes} minutes (${doing}).`), minutes * 60_000).unref()
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => end(130, `Stopped by ${signal}.`))

try {
  if (bench.own === undefined) print(summarize(await measureAll()))
  else await bench.own.measureAll({ rounds, json, folder, processes, say: (what) => (doing = what) })
  end(0)
} catch (error) {
  end(1, `${name} failed (${doing}): ${error.message}`)
}

function readArguments() {
  const known = readdirSync(here).flatMap((file) => /^(.+)\.bench\.mjs$/.exec(file)?.[1] ?? [])
  const usage = `Usage: node bench/run.mjs <${known.join(" | ")}> [--json] [--rounds 5]`
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: "boolean", default: false },
        rounds: { type: "string", default: "5" },
      },
    })
    const rounds = Number(values.rounds)
    if (positionals.length === 1 && known.includes(positionals[0]) && Number.isInteger(rounds) && rounds > 0) {
      return { name: positionals[0], json: values.json, rounds }
    }
  } catch (error) {
    stop(`${error.message}\n${usage}`)
  }
  return stop(usage)
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
  if (modules[0].measureAll !== undefined) return { own: modules[0] }
  const rows = modules.flatMap((module, index) => module.rows.map((row) => ({ ...row, file: files[index] })))
  const { reference, floor } = modules[0]
  const names = rows.map(({ row }) => row)
  for (const row of names) if (names.indexOf(row) !== names.lastIndexOf(row)) stop(`Two rows are named "${row}".`)
  for (const row of [reference, floor, ...rows.map((each) => each.reference ?? reference)]) {
    if (!names.includes(row)) stop(`There is no row "${row}" to compare with.`)
  }
  return { title: modules[0].name, rows, reference, floor }
}

/** Lets what the row before has written reach the disk, so that no row pays for another one's bytes. */
async function settleDisk() {
  await new Promise((resolve) => execFile("sync", resolve))
  await new Promise((resolve) => setTimeout(resolve, 250))
}

/** @returns {Promise<Map<string, number[]>>} the figures of each row, one per round. */
async function measureAll() {
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

function summarize(figures) {
  const median = (row) => {
    const sorted = figures.get(row).toSorted((one, other) => one - other)
    const middle = sorted.length >> 1
    return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
  return bench.rows.map(({ row, unit, reference = bench.reference }) => ({
    row,
    unit,
    reference,
    median: median(row),
    ratio: median(row) / median(reference),
    overFloor: median(row) / median(bench.floor),
    least: Math.min(...figures.get(row)),
    most: Math.max(...figures.get(row)),
  }))
}

function print(results) {
  if (json) {
    for (const { row, median, unit, ratio } of results) {
      console.log(JSON.stringify({ bench: name, row, median: rounded(median), unit, ratio: rounded(ratio) }))
    }
    return
  }
  const references = [...new Set(results.map(({ reference }) => reference))]
  const mark = (reference) => String.fromCharCode(97 + references.indexOf(reference))
  const table = results.map(({ row, median, unit, reference, ratio, overFloor, least, most }) => [
    row,
    figure(median),
    unit,
    `${figure(ratio)} ${mark(reference)}`,
    figure(overFloor),
    `${figure(least)}..${figure(most)}`,
  ])
  const header = ["row", "median", "unit", "ratio", "by floor", "min..max"]
  const widths = header.map((title, column) => Math.max(...[header, ...table].map((cells) => cells[column].length)))
  const line = (cells) =>
    cells
      .map((cell, column) =>
        column === 0 || column === 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
      )
      .join("  ")
  console.log(
    `${bench.title}: ${rounds} rounds, Node ${process.version}, ${cpus().length} CPUs, load ${loadavg()[0].toFixed(1)}\n`,
  )
  console.log([header, ...table].map(line).join("\n"))
  console.log("\nratio = median divided by the median of the reference row; below 1 takes less time")
  for (const reference of references) console.log(`  ${mark(reference)} = ${reference}`)
  console.log(`by floor = median divided by the median of "${bench.floor}"\n`)
  for (const { row, describe } of bench.rows) console.log(`${row.padEnd(widths[0])}  ${describe}`)
}

/** Three digits that count; more would be noise. */
function rounded(number) {
  return Number(number.toPrecision(3))
}

function figure(number) {
  return String(rounded(number))
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
