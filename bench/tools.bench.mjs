/**
 * What the tools cost beside the programs people would use by hand, each pair in one run and by turns, through the whole
 * lifecycle. Time is what the caller waits; CPU is of this process with its threads and of all children it has waited for.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { join } from "node:path"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "The tools beside what one would do by hand"
export const longestMinutes = 25

const pairs = 15
const fewPairs = 5
const files = isSmoke ? 2000 : 100_000
const filesOfPackage = files / 20
const sources = isSmoke ? 100 : 5000
const largeBytes = isSmoke ? 1e6 : 1e9
const smallReads = isSmoke ? 20 : 1000
const ctags = "/usr/bin/ctags"

/** The whole benchmark. `--rounds` below 5 makes fewer pairs, for a quick look. */
export async function measureAll({ rounds, folder, say }) {
  const many = rounds < 5 ? rounds : pairs
  const few = Math.min(rounds, fewPairs)
  say("making the trees")
  const tree = makeTree(join(folder, "tree"))
  const rg = ripgrep()
  const lines = []
  const add = (line) => lines.push(line)

  say("searching")
  const app = await openApp(join(folder, "data"), tree)
  const search = (input, least) => () => app.call("search_files", input, ({ total }) => total >= least)
  const find = (input, least) => () => app.call("find_files", input, ({ total }) => total >= least)
  const hand =
    (...options) =>
    () =>
      run(rg, ["--no-config", ...options, "."], tree)
  const besides = { more: 25, cpu: 1.2 }
  add(
    await pair(
      "search_files, 1,000 matches",
      search({ pattern: "needle" }, files / 100),
      "rg",
      hand("needle"),
      many,
      besides,
    ),
  )
  add(await pair("search_files, no match", search({ pattern: "nowhere_at_all" }, 0), "rg", hand("nowhere_at_all"), many, besides)) // prettier-ignore
  add(await pair("search_files, 2,000,000 matches", search({ pattern: "compute" }, files * 20), "rg", hand("compute"), few, besides)) // prettier-ignore
  add(await pair("find_files, all 100,000", find({ pattern: "**/*" }, files), "rg --files", hand("--files"), many, besides)) // prettier-ignore
  add(await pair("find_files, 20,000 *.ts", find({ pattern: "**/*.ts" }, files / 5), "rg --files -g", hand("--files", "-g", "*.ts"), many, besides)) // prettier-ignore
  add(await pair("find_files, one folder", find({ pattern: "pkg7/**/*.md" }, filesOfPackage / 5), "rg --files -g", hand("--files", "-g", "pkg7/**/*.md"), many, besides)) // prettier-ignore

  say("reading a small file")
  const small = "pkg1/src/mod1/file_1.js"
  const reads = (work) => async () => {
    for (let count = 0; count < smallReads; count += 1) await work()
  }
  const read = () => app.call("read_file", { path: small }, ({ size }) => size > 0)
  for (let warm = 0; warm < 3; warm += 1) await reads(read)()
  add(await pair("read_file, small, 1,000 times", reads(read), "fs.promises.readFile", reads(() => readFile(join(tree, small), "utf8")), many, { ratio: 1.2 })) // prettier-ignore
  await app.close()

  say("reading a large file")
  const large = join(folder, "large")
  const count = await makeLargeFile(large)
  const reader = await openApp(join(folder, "data-large"), large)
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
  return { lines, columns, legend }
}

/** Warm: an index that is there. Cold: a new app each time, with an empty index. */
async function measureCode(folder, few) {
  const tree = makeSources(join(folder, "sources"))
  const ask = (app) => app.call("code_query", { query: "value_7_3", type: "all" }, ({ total }) => total > 0)
  const app = await openApp(join(folder, "data-code"), tree)
  const lines = []
  try {
    await ask(app)
    const warm = []
    for (let turn = 0; turn < pairs; turn += 1) warm.push((await measured(() => ask(app))).ms)
    lines.push(
      judged({ row: "code_query, warm, 5,000 files", ours: median(warm), range: range(warm), bounds: { most: 30 } }),
    )
  } finally {
    await app.close()
  }
  let number = 0
  const cold = async () => {
    const fresh = await openApp(join(folder, `data-cold-${(number += 1)}`), tree)
    try {
      return await measured(() => ask(fresh))
    } finally {
      await fresh.close()
    }
  }
  const row = "code_query, cold, 5,000 files"
  if (!existsSync(ctags)) {
    const alone = []
    for (let turn = 0; turn < few; turn += 1) alone.push((await cold()).ms)
    return [...lines, judged({ row, hand: "ctags is not installed", ours: median(alone), range: range(alone) })]
  }
  const byHand = () => measured(() => run(ctags, ["-R", "-f", "/dev/null", "."], tree))
  lines.push(compare(row, "ctags -R", await byTurns(cold, byHand, few), { ratio: 1.5 }))
  return lines
}

/** A governed call that must succeed and be right. */
async function openApp(data, workspace) {
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
    range: range(ours.map((figure) => figure.ms)),
    theirs: ms(theirs),
    ratio: ms(ours) / ms(theirs),
    moreMs: median(ours.map((figure, index) => figure.ms - theirs[index].ms)),
    cpuRatio: sum(ours, "cpu") / sum(theirs, isProgram ? "children" : "cpu"),
    megabytes: Math.max(...ours.map(({ megabytes }) => megabytes)),
    bounds,
  })
}

/** The line with its bar, and whether it is held. */
function judged({ bounds = {}, ...line }) {
  const { most, more, cpu, ratio, plus, memory } = bounds
  const bars = [
    [most, `${most} ms`, line.ours > most],
    [more, `+${more} ms`, line.moreMs > more],
    [cpu, `CPU ${cpu}`, line.cpuRatio > cpu],
    [ratio, `${ratio}${plus === undefined ? "" : ` and ${plus} ms`}`, line.ours > line.theirs * ratio + (plus ?? 0)],
    [memory, `${memory} MB`, line.megabytes > memory],
  ].filter(([bound]) => bound !== undefined)
  const missed = bars.filter(([, , isMissed]) => isMissed).map(([, text]) => text)
  const held = missed.length === 0 ? "yes" : `no: ${missed.join(", ")}`
  return { ...line, bar: bars.map(([, text]) => text).join(", "), held: isSmoke || bars.length === 0 ? "" : held }
}

const columns = {
  row: "row",
  ours: "ours ms",
  range: "min..max",
  hand: "by hand",
  theirs: "ms",
  ratio: "ratio",
  moreMs: "ms more",
  cpuRatio: "CPU ratio",
  megabytes: "MB",
  bar: "bar",
  held: "held",
}

const legend = `Times are medians. Ms more: the median of the differences. CPU ratio: of ours with its children, all pairs together, by
CPU of the other. MB: the most memory held beyond what was held before.`

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
  for (let number = 0; number < files; number += 1) {
    const folder = join(root, `pkg${Math.floor(number / filesOfPackage)}`, "src", `mod${Math.floor(number / 100) % 50}`)
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
  for (let size = 0; size < largeBytes;) {
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
  for (let number = 0; number < sources; number += 1) {
    const folder = join(root, `part${Math.floor(number / 100)}`)
    if (number % 100 === 0) mkdirSync(folder, { recursive: true })
    const kind = kinds[number % kinds.length]
    const start = kind === "go" ? "package part\n" : ""
    const text = start + Array.from({ length: 8 }, (_, index) => languages[kind](number, index)).join("\n")
    writeFileSync(join(folder, `file_${number}.${kind}`), text)
  }
  return root
}
