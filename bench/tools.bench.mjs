/**
 * What the tools cost beside the programs people would use by hand, each pair in one run and by turns, through the whole
 * walk. Time is what the caller waits; CPU is of this process with its threads and of all children it has waited for.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { availableParallelism, loadavg } from "node:os"
import { join } from "node:path"

export const name = "The tools beside what one would do by hand"
export const longestMinutes = 25

const pairs = 15
const fewPairs = 5
const ctags = "/usr/bin/ctags"

/** The whole benchmark. `--rounds` below 5 makes fewer pairs, for a quick look. */
export async function measureAll({ rounds, json, folder, say }) {
  const many = rounds < 5 ? rounds : pairs
  const few = Math.min(rounds, fewPairs)
  say("making the trees")
  const tree = makeTree(join(folder, "tree"))
  const rg = ripgrep()
  const lines = []
  const add = (line) => {
    lines.push(line)
    if (!json) console.log(asText(line))
  }
  if (!json) console.log(`${name}: ${many} pairs, Node ${process.version}, ${availableParallelism()} CPUs, load ${loadavg()[0].toFixed(1)}\n`) // prettier-ignore

  say("searching")
  const house = await openHouse(join(folder, "data"), tree)
  const search = (input, least) => () => house.call("search_files", input, ({ total }) => total >= least)
  const find = (input, least) => () => house.call("find_files", input, ({ total }) => total >= least)
  const hand =
    (...options) =>
    () =>
      run(rg, ["--no-config", ...options, "."], tree)
  const besides = { more: 25, cpu: 1.2 }
  add(
    await pair("search_files, 1,000 matches", search({ pattern: "needle" }, 1000), "rg", hand("needle"), many, besides),
  )
  add(await pair("search_files, no match", search({ pattern: "nowhere_at_all" }, 0), "rg", hand("nowhere_at_all"), many, besides)) // prettier-ignore
  add(await pair("search_files, 2,000,000 matches", search({ pattern: "compute" }, 2_000_000), "rg", hand("compute"), few, besides)) // prettier-ignore
  add(await pair("find_files, all 100,000", find({ pattern: "**/*" }, 100_000), "rg --files", hand("--files"), many, besides)) // prettier-ignore
  add(await pair("find_files, 20,000 *.ts", find({ pattern: "**/*.ts" }, 20_000), "rg --files -g", hand("--files", "-g", "*.ts"), many, besides)) // prettier-ignore
  add(await pair("find_files, one folder", find({ pattern: "pkg7/**/*.md" }, 1000), "rg --files -g", hand("--files", "-g", "pkg7/**/*.md"), many, besides)) // prettier-ignore

  say("reading a small file")
  const small = "pkg1/src/mod1/file_1.js"
  const reads = (work) => async () => {
    for (let count = 0; count < 1000; count += 1) await work()
  }
  const read = () => house.call("read_file", { path: small }, ({ size }) => size > 0)
  for (let warm = 0; warm < 3; warm += 1) await reads(read)()
  add(await pair("read_file, small, 1,000 times", reads(read), "fs.promises.readFile", reads(() => readFile(join(tree, small), "utf8")), many, { ratio: 1.2 })) // prettier-ignore
  await house.close()

  say("reading a large file")
  const large = join(folder, "large")
  const count = await makeLargeFile(large)
  const reader = await openHouse(join(folder, "data-large"), large)
  const part = (input, text) => () =>
    reader.call("read_file", { path: "large.log", ...input }, ({ content }) => content.includes(text))
  const near = count - 1000
  const tail = part({ tail: 100 }, `line ${count - 1} `)
  const offset = part({ offset: near, limit: 100 }, `line ${near - 1} `)
  for (const warm of [tail, offset]) await warm()
  const file = join(large, "large.log")
  add(await pair("read_file, tail of 1 GB", tail, "tail", () => run("tail", ["-n", "100", file]), many, { ratio: 2, plus: 20, memory: 64 })) // prettier-ignore
  add(await pair("read_file, near the end of 1 GB", offset, "sed -n", () => run("sed", ["-n", `${near},${near + 99}p;${near + 99}q`, file]), few, { ratio: 1.5, memory: 64 })) // prettier-ignore
  await reader.close()

  say("asking for code")
  for (const line of await measureCode(folder, few)) add(line)
  if (json) for (const line of lines) console.log(JSON.stringify({ bench: "tools", ...line }))
  else console.log(legend)
}

/** Warm: an index that is there. Cold: a new house each time, with nothing kept. */
async function measureCode(folder, few) {
  const tree = makeSources(join(folder, "sources"))
  const ask = (house) => house.call("code_query", { query: "value_7_3", type: "all" }, ({ total }) => total > 0)
  const house = await openHouse(join(folder, "data-code"), tree)
  const lines = []
  try {
    await ask(house)
    const warm = []
    for (let turn = 0; turn < pairs; turn += 1) warm.push((await measured(() => ask(house))).ms)
    lines.push(judged({ row: "code_query, warm, 5,000 files", ours: median(warm), most: 30 }))
  } finally {
    await house.close()
  }
  let number = 0
  const cold = async () => {
    const fresh = await openHouse(join(folder, `data-cold-${(number += 1)}`), tree)
    try {
      return await measured(() => ask(fresh))
    } finally {
      await fresh.close()
    }
  }
  if (!existsSync(ctags)) return [...lines, { row: "code_query, cold: universal-ctags is not installed" }]
  const byHand = () => measured(() => run(ctags, ["-R", "-f", "/dev/null", "."], tree))
  lines.push(compare("code_query, cold, 5,000 files", "ctags -R", await byTurns(cold, byHand, few), { ratio: 1.5 }))
  return lines
}

/** A governed call that must succeed and be right. */
async function openHouse(data, workspace) {
  const { createQuartermaster } = await import("../dist/index.js")
  const system = await createQuartermaster({
    data: { dir: data },
    workspace,
    org: { roles: [{ name: "worker" }], agents: [{ id: "worker", role: "worker" }] },
  })
  return {
    async call(tool, input, isRight) {
      const ended = await system.call({ agentId: "worker", tool, input })
      if (!ended.success) throw new Error(`${tool} failed: ${ended.error}`)
      if (!isRight(ended.result))
        throw new Error(`${tool} answered wrongly: ${JSON.stringify(ended.result).slice(0, 300)}`)
      return ended.result
    },
    close: () => system.close(),
  }
}

async function pair(row, ours, handName, hand, count, bounds) {
  await ours()
  await hand()
  return compare(
    row,
    handName,
    await byTurns(
      () => measured(ours),
      () => measured(hand),
      count,
    ),
    bounds,
  )
}

async function byTurns(ours, hand, count) {
  const figures = { ours: [], hand: [] }
  for (let turn = 0; turn < count; turn += 1) {
    const both = [["ours", ours], ["hand", hand]] // prettier-ignore
    for (const [who, work] of turn % 2 === 0 ? both : both.toReversed()) figures[who].push(await work())
  }
  return figures
}

/** Milliseconds, CPU milliseconds of ourselves and of children, and how much more memory was held meanwhile. */
async function measured(work) {
  globalThis.gc?.()
  const before = { cpu: cpuMs(), memory: process.memoryUsage.rss() }
  let most = before.memory
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5)
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  clearInterval(watch)
  most = Math.max(most, process.memoryUsage.rss())
  const after = cpuMs()
  return {
    ms,
    cpu: after.own - before.cpu.own + after.children - before.cpu.children,
    children: after.children - before.cpu.children,
    megabytes: (most - before.memory) / 1e6,
  }
}

/** A program by hand costs what its own process costs, not what it costs us to start it. */
function compare(row, hand, { ours, hand: theirs }, bounds) {
  const ms = (figures) => median(figures.map((figure) => figure.ms))
  const sum = (figures, field) => figures.reduce((total, figure) => total + figure[field], 0)
  const isProgram = sum(theirs, "children") > 0
  return judged({
    row,
    hand,
    ours: ms(ours),
    theirs: ms(theirs),
    ratio: ms(ours) / ms(theirs),
    moreMs: median(ours.map((figure, index) => figure.ms - theirs[index].ms)),
    cpuRatio: sum(ours, "cpu") / sum(theirs, isProgram ? "children" : "cpu"),
    megabytes: Math.max(...ours.map(({ megabytes }) => megabytes)),
    bounds,
  })
}

function judged({ bounds = {}, most, ...line }) {
  const tooMuch = []
  if (most !== undefined && line.ours > most) tooMuch.push(`over ${most} ms`)
  if (bounds.more !== undefined && line.moreMs > bounds.more) tooMuch.push(`more than ${bounds.more} ms slower`)
  if (bounds.cpu !== undefined && line.cpuRatio > bounds.cpu) tooMuch.push(`CPU over ${bounds.cpu} times`)
  if (bounds.ratio !== undefined && line.ours > line.theirs * bounds.ratio + (bounds.plus ?? 0))
    tooMuch.push(`over ${bounds.ratio} times${bounds.plus === undefined ? "" : ` and ${bounds.plus} ms`}`)
  if (bounds.memory !== undefined && line.megabytes > bounds.memory) tooMuch.push(`over ${bounds.memory} MB`)
  const figures = Object.entries(line).map(([key, value]) => [key, typeof value === "number" ? rounded(value) : value])
  return { ...Object.fromEntries(figures), verdict: tooMuch.length === 0 ? "ok" : tooMuch.join(", ") }
}

function asText({ row, hand, ours, theirs, ratio, moreMs, cpuRatio, megabytes, verdict }) {
  const first = row.padEnd(34)
  if (theirs === undefined) return `${first}${ours === undefined ? "" : `${ours} ms`.padStart(12)}  ${verdict ?? ""}`
  const times =
    `${ours} ms`.padStart(12) + `${theirs} ms`.padStart(12) + `  ${ratio} times, ${moreMs} ms more`.padEnd(32)
  return `${first}${times}CPU ${cpuRatio} times, ${megabytes} MB  by ${hand}: ${verdict}`
}

const legend = `
Columns: what ours takes, what it takes by hand (medians); their ratio; the median of the differences; CPU of ours with its
children, all pairs together, by CPU of the other; the most memory held beyond what was held before.`

function cpuMs() {
  const { user, system } = process.cpuUsage()
  const text = readFileSync("/proc/self/stat", "utf8")
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  return { own: (user + system) / 1000, children: (Number(fields[13]) + Number(fields[14])) * 10 }
}

async function run(program, options, cwd) {
  const child = spawn(program, options, { cwd, stdio: ["ignore", "pipe", "inherit"] })
  child.stdout.resume()
  const [code] = await once(child, "close")
  if (code !== 0 && code !== 1) throw new Error(`${program} ended with ${code}.`)
}

function ripgrep() {
  const chooser = createRequire(import.meta.url).resolve("@vscode/ripgrep")
  return createRequire(chooser).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`)
}

/** 100,000 files of five kinds in 1,000 folders, about a kilobyte each; every hundredth has a needle. */
function makeTree(root) {
  mkdirSync(join(root, ".git"), { recursive: true })
  writeFileSync(join(root, ".gitignore"), "ignored/\n*.log\n")
  const kinds = ["ts", "js", "md", "json", "py"]
  for (let number = 0; number < 100_000; number += 1) {
    const folder = join(root, `pkg${Math.floor(number / 5000)}`, "src", `mod${Math.floor(number / 100) % 50}`)
    if (number % 100 === 0) mkdirSync(folder, { recursive: true })
    let text = ""
    for (let line = 0; line < 20; line += 1) text += `export const value_${number}_${line} = compute(${line}, "${"abc".repeat(line % 7)}")\n` // prettier-ignore
    if (number % 100 === 99) text += "// needle in the haystack\n"
    writeFileSync(join(folder, `file_${number % 100}.${kinds[number % 5]}`), text)
  }
  return root
}

/** @returns {Promise<number>} how many lines it has. */
async function makeLargeFile(folder) {
  mkdirSync(folder, { recursive: true })
  const out = createWriteStream(join(folder, "large.log"))
  let lines = 0
  for (let size = 0; size < 1e9;) {
    let text = ""
    for (let count = 0; count < 10_000; count += 1) text += `line ${lines++} ${"x".repeat(80 + (lines % 40))}\n`
    size += text.length
    if (!out.write(text)) await once(out, "drain")
  }
  out.end()
  await once(out, "finish")
  return lines
}

/** 5,000 files of seven languages with functions, classes and variables. */
function makeSources(root) {
  const languages = {
    ts: (n, i) => `export function value_${n}_${i}(a: number): number {\n  const inner_${i} = a + ${i}\n  return inner_${i}\n}\nexport class Thing_${n}_${i} {\n  size = ${i}\n  grow(): void {}\n}\n`,
    js: (n, i) => `export function value_${n}_${i}(a) {\n  return a + ${i}\n}\nexport class Thing_${n}_${i} {\n  grow() {}\n}\n`,
    py: (n, i) => `def value_${n}_${i}(a):\n    return a + ${i}\n\nclass Thing_${n}_${i}:\n    def grow(self):\n        pass\n`,
    go: (n, i) => `func value_${n}_${i}(a int) int {\n\treturn a + ${i}\n}\ntype Thing_${n}_${i} struct {\n\tsize int\n}\n`,
    rs: (n, i) => `pub fn value_${n}_${i}(a: i32) -> i32 {\n    a + ${i}\n}\npub struct Thing_${n}_${i} {\n    size: i32,\n}\n`,
    java: (n, i) => `class Thing_${n}_${i} {\n  int size;\n  int value_${n}_${i}(int a) {\n    return a + ${i};\n  }\n}\n`,
    c: (n, i) => `int value_${n}_${i}(int a) {\n  return a + ${i};\n}\nstruct thing_${n}_${i} {\n  int size;\n};\n`,
  } // prettier-ignore
  const kinds = Object.keys(languages)
  for (let number = 0; number < 5000; number += 1) {
    const folder = join(root, `part${Math.floor(number / 100)}`)
    if (number % 100 === 0) mkdirSync(folder, { recursive: true })
    const kind = kinds[number % kinds.length]
    const start = kind === "go" ? "package part\n" : ""
    const text = start + Array.from({ length: 8 }, (_, index) => languages[kind](number, index)).join("\n")
    writeFileSync(join(folder, `file_${number}.${kind}`), text)
  }
  return root
}

function median(figures) {
  const sorted = figures.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function rounded(number) {
  return Number(number.toPrecision(3))
}
