/**
 * Records a real session of the built program and draws it: a call is denied, a call is approved in another terminal, both
 * are in the audit log.
 *
 *   npm run build && node scripts/picture.mjs     writes docs/session.svg
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const home = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-picture-")))
const folder = join(home, "project")
const environment = { PATH: process.env.PATH, HOME: home, TZ: "UTC" }

const size = { width: 920, font: 13, line: 20, columns: 108, gutter: 44, padding: 14, bar: 30 }
const label =
  "An agent's call is denied by a rule. Its next call waits until it is approved in another terminal, then runs. Both are in the audit log."

/** Which lines get a number, and what the number means. The first line that matches is marked. */
const steps = [
  { word: "denied by a rule", color: "#f85149", line: /NOT EXECUTED/ },
  { word: "waits for a person", color: "#d29922", line: /waits for a person/ },
  { word: "approved elsewhere", color: "#58a6ff", line: /^\$ qm approvals approve/ },
  { word: "runs once", color: "#3fb950", line: /^← \{/ },
  { word: "in the audit log", color: "#a371f7", line: /^\$ qm audit list/ },
]

/** The agent of the picture: two calls, each printed with what the model reads. */
const agent = `
import { createQuartermaster, modelText } from ${JSON.stringify(join(root, "dist/index.js"))}
const app = await createQuartermaster()
app.on("TOOL_CALL_WAITING", () => console.log("  waits for a person …"))
async function call(tool, input) {
  console.log("→ " + tool + " " + JSON.stringify(input))
  console.log("← " + modelText(await app.call({ agentId: "dev", tool, input })))
}
await call("delete_file", { path: "data/customers.db" })
await call("write_file", { path: "notes.md", content: "Ship on Friday." })
await app.close()
`

try {
  const { first, second } = await record()
  writeFileSync(join(root, "docs/session.svg"), draw(first, second))
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** What both terminals show, as lines of text. */
async function record() {
  mkdirSync(join(folder, "data"), { recursive: true })
  writeFileSync(join(folder, "data/customers.db"), "")
  writeFileSync(join(folder, "agent.mjs"), agent)
  qm("roles", "create", "--name", "developer", "--groups", "workspace")
  qm("agents", "create", "--id", "dev", "--role", "developer")
  const rule = { deny: "delete_file", touching: "write:data/**", because: "Customer data is never deleted." }
  qm("rules", "add", JSON.stringify(rule))

  const running = spawn(process.execPath, ["agent.mjs"], { cwd: folder, env: environment })
  let printed = ""
  running.stdout.setEncoding("utf8").on("data", (text) => (printed += text))
  const ended = new Promise((resolve) => running.on("close", resolve))
  while (!printed.includes("waits for a person")) await new Promise((resolve) => setTimeout(resolve, 50))

  const second = []
  const type = (...words) => second.push(`$ qm ${words.join(" ")}`, ...qm(...words).split("\n"), "")
  type("approvals", "list")
  const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(second.join("\n"))
  type("approvals", "approve", id)
  await ended
  type("audit", "list")
  type("audit", "verify")
  const first = printed
    .trim()
    .split("\n")
    .flatMap((line) => (line.startsWith("→") ? ["", line] : [line]))
  return { first: ["$ node agent.mjs", ...first.slice(1)], second: second.slice(0, -1) }
}

function qm(...words) {
  const options = { cwd: folder, env: environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }
  return execFileSync(process.execPath, [join(root, "dist/qm.js"), ...words], options).trim()
}

function draw(first, second) {
  const top = panel("the agent", first, 0)
  const bottom = panel("another terminal", second, top.height + 14)
  const end = top.height + 14 + bottom.height
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${end + 44}" width="${size.width}" height="${end + 44}" role="img" aria-label="${label}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${size.font}">
${top.svg}
${bottom.svg}
${legend(end + 28)}
</svg>
`
}

/** A window with a title and lines. Dark on every background, with a border that shows on a dark one. */
function panel(title, lines, y) {
  const rows = lines.flatMap(wrap)
  const height = size.bar + 2 * size.padding + rows.length * size.line - 6
  const dots = ["#f85149", "#d29922", "#3fb950"].map(
    (color, index) => `<circle cx="${18 + index * 16}" cy="${y + size.bar / 2}" r="5" fill="${color}" opacity="0.85"/>`,
  )
  const texts = rows.flatMap((row, index) => drawRow(row, y + size.bar + size.padding + 10 + index * size.line))
  const svg = [
    `<rect x="0.5" y="${y + 0.5}" width="${size.width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#3d444d"/>`,
    `<line x1="0.5" x2="${size.width - 0.5}" y1="${y + size.bar}" y2="${y + size.bar}" stroke="#3d444d"/>`,
    ...dots,
    `<text x="${size.width / 2}" y="${y + size.bar / 2 + 4}" text-anchor="middle" fill="#9198a1" font-size="12">${title}</text>`,
    ...texts,
  ]
  return { svg: svg.join("\n"), height }
}

/** A long line is broken at a space or comma; its rows have the same color, and only the first can be marked. */
function wrap(line) {
  const color = colorOf(line)
  if (line.length <= size.columns) return [{ line, text: line, color }]
  const space = line.lastIndexOf(" ", size.columns)
  const at = space > size.columns / 2 ? space : line.lastIndexOf(",", size.columns)
  const rest = wrap(`  ${line.slice(at + 1).trimStart()}`)
  return [{ line, text: line.slice(0, at + 1), color }, ...rest.map(({ text }) => ({ line: "", text, color }))]
}

function drawRow({ line, text, color }, y) {
  if (text === "") return []
  const step = steps.findIndex((one) => line !== "" && one.line.test(line))
  const drawn = `<text x="${size.gutter}" y="${y}" xml:space="preserve" fill="${color}"${weightOf(text)}>${escaped(text)}</text>`
  return step < 0 ? [drawn] : [marker(step, 22, y - 4), drawn]
}

function marker(step, x, y) {
  const { color } = steps[step]
  return `<circle cx="${x}" cy="${y}" r="9" fill="${color}"/><text x="${x}" y="${y + 4}" text-anchor="middle" font-size="11" font-weight="700" fill="#0d1117">${step + 1}</text>`
}

function colorOf(text) {
  if (text.startsWith("$ ")) return "#f0f6fc"
  if (/NOT EXECUTED/.test(text)) return "#ff7b72"
  if (/waits for a person/.test(text)) return "#e3b341"
  if (/^(← \{|ok:|Answered)/.test(text)) return "#56d364"
  return /^(ID|ENDED) /.test(text) ? "#9198a1" : "#d1d7e0"
}

function weightOf(text) {
  return text.startsWith("$ ") ? ' font-weight="700"' : ""
}

/** The numbers with their words, readable on a light and on a dark page. */
function legend(y) {
  const widths = steps.map(({ word }) => 26 + word.length * 7.3)
  const gap = (size.width - 16 - widths.reduce((sum, width) => sum + width)) / (steps.length - 1)
  let x = 16
  return steps
    .map(({ word }, index) => {
      const drawn = `${marker(index, x, y)}<text x="${x + 16}" y="${y + 4}" font-size="12" fill="#7d8590">${word}</text>`
      x += Math.round(widths[index] + gap)
      return drawn
    })
    .join("\n")
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}
