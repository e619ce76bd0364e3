/**
 * Checks the proofs that docs/contributing/requirements.md names for its rows:
 *
 *   - S1-27 A sensitive tool asks every time.
 *     - `src/call/steps/approve.test.ts`: a sensitive tool asks every time
 *
 *   node scripts/requirements.mjs [--report <folder>] [--open]
 *
 * Without `--report` a proof counts when its file contains its title. With it the tests must have run and passed:
 * the folder holds what vitest wrote there (QM_TEST_REPORT=<folder>). Exit 1 when a proof does not hold, or when a row
 * has neither a proof nor a line "Not built, because …" in docs/designs.md. `--open` lists the latter.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))
const id = /(?:S\d+R?|C|D)-\d+(?:\.\d+)?/
const { values: options } = parseArgs({ options: { report: { type: "string" }, open: { type: "boolean" } } })

const rows = readRows(readFileSync(join(root, "docs/contributing/requirements.md"), "utf8"))
const excused = readExcused(readFileSync(join(root, "docs/designs.md"), "utf8"))
const tests = options.report === undefined ? undefined : readReport(options.report)
const problems = rows.flatMap((row) =>
  row.proofs.flatMap((proof) => problemWith(proof) ?? []).map((why) => `${row.id}: ${why}`),
)
const open = rows.filter((row) => row.proofs.length === 0 && !excused.has(row.id))

for (const problem of problems) console.error(problem)
if (options.open === true) for (const row of open) console.log(`${row.id} ${row.sentence}`)
const proved = rows.filter((row) => row.proofs.length > 0).length
console.log(
  `${rows.length} rows: ${proved} proved, ${rows.length - proved - open.length} excused, ${open.length} open; ${problems.length} proofs do not hold.`,
)
process.exitCode = problems.length > 0 ? 1 : 0

/** Rows with the proofs that are indented below them. */
function readRows(text) {
  const rows = []
  for (const line of text.split("\n")) {
    const row = new RegExp(`^- (${id.source}) (.*)$`).exec(line)
    const proof = /^ {2}- `([^`]+)`: (.+)$/.exec(line)
    if (row !== null) rows.push({ id: row[1], sentence: row[2], proofs: [] })
    else if (proof !== null) rows.at(-1).proofs.push({ file: proof[1], title: proof[2] })
  }
  return rows
}

/** Ids that begin a line under a heading "Not built, because …". */
function readExcused(text) {
  const sections = text.split(/^(?=#)/m).filter((section) => /^#+ Not built, because/.test(section))
  const lines = sections.flatMap((section) => section.split("\n").slice(1))
  const beginning = new RegExp(`^[\\s*|-]*((?:[\\[\`*]*${id.source}[\\]\`*]*[,;\\s]*(?:and\\s+)?)+)`)
  return new Set(lines.flatMap((line) => beginning.exec(line)?.[1].match(new RegExp(id, "g")) ?? []))
}

/** Every test that ran, by file: its names from the outermost describe to its own, and how it ended. */
function readReport(folder) {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
  return Map.groupBy
    ? Map.groupBy(lines.map(JSON.parse), ({ file }) => file)
    : groupByFile(lines.map((line) => JSON.parse(line)))
}

function groupByFile(all) {
  const groups = new Map()
  for (const test of all) groups.set(test.file, [...(groups.get(test.file) ?? []), test])
  return groups
}

function problemWith({ file, title }) {
  if (!existsSync(join(root, file))) return `there is no file ${file}.`
  if (tests === undefined)
    return readFileSync(join(root, file), "utf8").includes(title) ? undefined : `${file} has no test "${title}".`
  // A contract suite runs in the files that import it.
  const inFile = file.endsWith(".contract.ts") ? [...tests.values()].flat() : (tests.get(file) ?? [])
  const named = inFile.filter(({ names }) => names.some((name) => name.includes(title) || asPattern(title).test(name)))
  if (named.length === 0) return `no test "${title}" of ${file} ran.`
  const bad = named.find(({ state }) => state !== "passed")
  return bad === undefined ? undefined : `"${title}" of ${file} ${bad.state}.`
}

/** `%s`, `%j`, `$name` and `${…}` in a title stand for anything. A cell of a table is a part of the title that ran. */
function asPattern(title) {
  const parts = title.split(/%[sdifjoOp#$]|\$\{[^}]*\}|\$[\w.]+/)
  return new RegExp(
    `^${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("%%", "%")).join("[^]*")}$`,
  )
}
