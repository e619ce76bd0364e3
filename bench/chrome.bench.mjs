/**
 * The browser's tools beside the same steps with playwright-core by hand: click, read the text, take a picture, on one page
 * of this machine, each in a browser of its own and by turns.
 */
import { once } from "node:events"
import { existsSync, mkdirSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { createQuartermaster } from "../dist/index.js"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "The browser's tools beside playwright-core by hand"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync)
const page = `<title>Bench</title><button onclick="n.textContent = ++window.count" id="b">Count</button><p id="n">0</p>
<script>window.count = 0</script>${"<p>Some text on a page, as pages have it.</p>".repeat(50)}`

export async function measureAll({ rounds, folder, say }) {
  const turns = isSmoke ? 3 : rounds * 20
  const site = createServer((_, response) => response.setHeader("content-type", "text/html").end(page))
  await once(site.listen(0, "127.0.0.1"), "listening")
  const { port } = site.address()
  const url = `http://127.0.0.1:${port}`
  say("launching two browsers")
  const ours = await openOurs(join(folder, "app"), url, port)
  const hand = await openByHand(join(folder, "profile"), url)
  const times = { ours: [], hand: [] }
  say("taking turns")
  for (let turn = 0; turn < turns + 3; turn++) {
    for (const [key, steps] of turn % 2 === 0
      ? [
          ["ours", ours],
          ["hand", hand],
        ]
      : [
          ["hand", hand],
          ["ours", ours],
        ]) {
      const began = performance.now()
      await steps.run()
      // The first turns warm up.
      if (turn >= 3) times[key].push(performance.now() - began)
    }
  }
  await ours.close()
  await hand.close()
  site.close()
  const row = (title, list) => ({ row: title, median: median(list), ratio: median(list) / median(times.hand), unit: "ms", range: range(list) }) // prettier-ignore
  return {
    lines: [
      row("chrome_click, chrome_get_text, chrome_screenshot", times.ours),
      row("playwright-core by hand", times.hand),
    ],
    columns: { row: "row", median: "median", unit: "unit", ratio: "ratio", range: "min..max" },
    legend: "Ratio: median divided by the median of the steps by hand. It should be at most 1.25.",
  }
}

async function openOurs(folder, url, port) {
  mkdirSync(join(folder, "workspace"), { recursive: true })
  const app = await createQuartermaster({
    data: { dir: join(folder, "data") },
    workspace: join(folder, "workspace"),
    modules: { chrome: { executablePath } },
    tools: { hosts: { allow: [`127.0.0.1:${port}`] } },
    rules: [{ allow: "group:chrome", because: "It is a benchmark." }],
  })
  const call = async (tool, input) => {
    const ended = await app.call({ agentId: "operator", tool, input })
    if (!ended.success) throw new Error(`${tool}: ${ended.error}`)
    return ended.result
  }
  const { browserId } = await call("chrome_launch", {})
  const { tabId } = await call("chrome_new_tab", { browserId, url })
  return {
    async run() {
      await call("chrome_click", { tabId, selector: "#b" })
      await call("chrome_get_text", { tabId })
      await call("chrome_screenshot", { tabId })
    },
    close: () => app.close(),
  }
}

async function openByHand(profile, url) {
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, viewport: { width: 1280, height: 720 } }) // prettier-ignore
  const tab = await context.newPage()
  await tab.goto(url)
  return {
    async run() {
      await tab.locator("#b").click()
      await tab.locator("body").innerText()
      await tab.screenshot({ type: "jpeg", quality: 80 })
    },
    close: () => context.close(),
  }
}
