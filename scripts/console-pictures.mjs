// Takes the README's pictures of the inbox and the chat (docs/inbox.light.png, docs/chat.dark.png, …) from a real server with
// the sample:
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
  const pages = await Promise.all(
    ["light", "dark"].map(async (colorScheme) => {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme })
      await signIn(page, server.signInLink())
      return { page, colorScheme }
    }),
  )
  const take = async (name) => {
    for (const { page, colorScheme } of pages) {
      await page.waitForTimeout(2000)
      await page.screenshot({ path: join("docs", `${name}.${colorScheme}.png`) })
    }
  }
  await take("inbox")
  const chat = await talk(first)
  for (const { page } of pages) {
    await page.goto(`${server.url}/chat/${chat}`)
    await page.getByRole("heading", { name: "Change src/greet.js" }).waitFor()
    await page.getByRole("textbox", { name: /Steer|Say more/ }).fill("Keep the old greeting too.")
  }
  await take("chat")
} finally {
  await browser.close()
  await server.remove()
}

/** A conversation in which an agent below asks for an approval. Returns its id. */
async function talk(page) {
  await page.goto(`${server.url}/chat?begin=yes`)
  await page.getByRole("combobox", { name: "Talk to" }).selectOption("root")
  await page
    .getByRole("textbox", { name: "Message" })
    .fill("Please let Lantern greet people in Spanish, and have it checked.")
  await page.keyboard.press("Enter")
  await page.getByText("Hola", { exact: true }).waitFor()
  await page.waitForTimeout(1000)
  await page.getByText("Hola", { exact: true }).click()
  await page.locator("article[data-card]").getByRole("button", { name: /^Send/ }).click()
  await page.getByRole("heading", { name: "Change src/greet.js" }).waitFor()
  return page.locator("[data-conversation]").getAttribute("data-conversation")
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
