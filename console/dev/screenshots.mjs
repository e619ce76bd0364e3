// Takes a picture of every page in both themes, wide and on a phone, with the mock as the server:
// npm run screenshots -- <folder>   (Chromium: CHROMIUM, or /usr/bin/chromium)
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { createServer } from "vite"

const folder = process.argv[2] ?? "screenshots.tmp"
const pages = {
  inbox: "/inbox",
  "card-command": "/inbox/01a1e1a9-e14e",
  "card-diff": "/inbox/01a1e1ab-0001",
  "card-result": "/inbox/01a1e1ac-0001",
  "card-alike": "/inbox/01a1e1ad-0001",
  "card-question": "/inbox/01a1e1ae-0001",
  "card-remember": "/inbox/01a1e1af-0001",
  "card-gone": "/inbox/nothing",
  "sign-in": "/signin#a-link",
  "sign-in-needed": "/signin",
}
const sizes = { wide: { width: 1440, height: 900 }, phone: { width: 360, height: 780 } }

mkdirSync(folder, { recursive: true })
const server = await createServer({ configFile: "console/vite.config.ts", mode: "mock", logLevel: "warn" })
await server.listen(0)
const base = server.resolvedUrls?.local[0]?.replace(/\/$/, "")
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
})
for (const [size, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme, locale: "en-US" })
    const page = await context.newPage()
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(base + path)
      await page.locator("h1").first().waitFor({ state: "attached" })
      // Until the keys wake up and lazy parts are there.
      await page.waitForTimeout(900)
      await page.screenshot({ path: join(folder, `${name}.${size}.${colorScheme}.png`) })
    }
    await context.close()
  }
}
await browser.close()
await server.close()
