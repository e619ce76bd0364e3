// Takes the README's pictures of the inbox (docs/inbox.light.png, docs/inbox.dark.png) from a real server with the sample:
//   npm run pictures
// Pictures of every page and state: npm run screenshots
import { join } from "node:path"
import { chromium } from "playwright-core"
import { call, openSampleServer, signIn } from "../console/dev/sample-server.mjs"

const server = await openSampleServer()
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
try {
  const first = await browser.newPage()
  await signIn(first, server.signInLink())
  await makeCalls(first)
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme })
    await signIn(page, server.signInLink())
    await page.waitForTimeout(2000)
    await page.screenshot({ path: join("docs", `inbox.${colorScheme}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
  await server.remove()
}

/** Calls of the sample's agents that wait, so that the inbox has one of each kind. */
async function makeCalls(page) {
  const command = "npm ci --ignore-scripts && npm run build && rm -r dist/legacy && git status --short"
  await call(page, "dev", "run_command", { command, network: true }, "The old bundle must be gone before the release.")
  await call(page, "dev", "delete_file", { path: "docs/notes.md" }, "The notes moved to the wiki.")
  await call(page, "ana", "http_get", { url: "https://files.example/report.json" }, "I read last month's report.")
  await call(page, "dev", "move_file", { from: "docs/notes.md", to: "docs/todo.md" }, "It is a list of tasks.")
  await call(
    page,
    "tess",
    "ask_user",
    { question: "Which Node version do we test with?", options: ["20", "22", "24"] },
    "",
  )
}
