// Takes the README's pictures of the inbox (docs/inbox.light.png, docs/inbox.dark.png) from a real server with the sample:
//   npm run pictures
// Pictures of every page and state, from made-up data: npm run screenshots
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { chromium } from "playwright-core"

const out = resolve("docs")
const qm = resolve("dist/qm.js")
const root = mkdtempSync(join(tmpdir(), "quartermaster-screenshots-"))
for (const name of ["home", "work"]) mkdirSync(join(root, name))
const options = { cwd: join(root, "work"), env: { PATH: process.env["PATH"], HOME: join(root, "home") } }
const server = spawn(process.execPath, [qm, "serve", "--sample", "--port", "0", "--json"], options)
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
try {
  await new Promise((done) => server.stdout.once("data", done))
  await takePictures()
} finally {
  await browser.close()
  server.kill()
  await new Promise((done) => server.once("close", done))
  rmSync(root, { recursive: true, force: true })
}

function signInLink() {
  return JSON.parse(execFileSync(process.execPath, [qm, "open", "--json"], options).toString()).url
}

/** Calls of the sample's agents that wait, so that the inbox has one of each kind. */
async function makeCalls(page) {
  const call = (agentId, tool, input, intent) =>
    page.evaluate(
      ([name, body]) =>
        fetch(`/v1/tools/${name}/call`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-quartermaster": "1" },
          body: JSON.stringify(body),
        }).then((answer) => answer.status),
      [tool, { agentId, input, intent, wait: 0, taskId: "release-0.9" }],
    )
  const command = "npm ci --ignore-scripts && npm run build && rm -r dist/legacy && git status --short"
  await call("dev", "run_command", { command, network: true }, "The old bundle must be gone before the release.")
  await call("dev", "delete_file", { path: "docs/notes.md" }, "The notes moved to the wiki.")
  await call("ana", "http_get", { url: "https://files.example/report.json" }, "I read last month's report.")
  await call("dev", "move_file", { from: "docs/notes.md", to: "docs/todo.md" }, "It is a list of tasks.")
  await call("tess", "ask_user", { question: "Which Node version do we test with?", options: ["20", "22", "24"] }, "")
}

async function takePictures() {
  const first = await browser.newPage()
  await signIn(first)
  await makeCalls(first)
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme })
    await signIn(page)
    await page.waitForTimeout(2000)
    await page.screenshot({ path: join(out, `inbox.${colorScheme}.png`) })
    await page.close()
  }
}

async function signIn(page) {
  await page.goto(signInLink())
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL((address) => address.pathname !== "/signin")
}
