/** The console's chat in a browser: a conversation of 2,000 turns, a list of 10,000, and the server while ten of them stream. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { isSmoke } from "./smoke.mjs"
import { median, range } from "./table.mjs"

export const name = "The console's chat"

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync)
const [turns, conversations, streams] = isSmoke ? [50, 100, 2] : [2000, 10_000, 10]

export async function measureAll({ rounds, folder, processes, say }) {
  say("filling a database")
  const program = fileURLToPath(new URL("console-app.mjs", import.meta.url))
  const server = fork(program, [folder, String(turns), String(conversations)])
  processes.push(server)
  const [{ url, link, id }] = await once(server, "message")
  say("launching a browser")
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${url}/signin#${link}`)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.waitForURL((address) => !address.pathname.startsWith("/signin"))

    const times = { click: [], load: [], list: [], scroll: [] }
    for (let round = 0; round <= rounds; round++) {
      say(`round ${round}`)
      const list = await opened(page, () => page.goto(`${url}/chat`), "[data-chat]")
      const click = await opened(page, () => page.locator(`[data-chat="${id}"]`).click(), "[data-turn]")
      const scroll = await longestFrame(page, `document.querySelector("[role=log]")`)
      const load = await opened(page, () => page.goto(`${url}/chat/${id}`), "[data-turn]")
      // The first round warms up.
      if (round > 0) for (const [key, ms] of Object.entries({ list, click, load, scroll })) times[key].push(ms)
    }
    say("scrolling through the list")
    await page.goto(`${url}/chat`)
    await page.locator("[data-chat]").first().waitFor()
    const drawn = await scrollList(page)
    say("streaming")
    const longest = []
    for (let round = 0; round < rounds; round++) longest.push(await whileStreaming(server, page, url))
    const row = (title, list, bar) => ({ row: title, median: median(list), unit: "ms", range: range(list), bar })
    return {
      lines: [
        row(`opens ${turns.toLocaleString("en")} turns, by a click in the list`, times.click, "500 ms"),
        row(`opens ${turns.toLocaleString("en")} turns, with the page itself`, times.load),
        row("longest frame while it is scrolled upwards", times.scroll),
        row(`opens the list of ${conversations.toLocaleString("en")}, with the page itself`, times.list),
        { row: "lines drawn while the list is scrolled through 1,000", median: drawn, unit: "lines", bar: "windowed" },
        row(`longest block of the server while ${streams} stream, processor time`, longest.map(({ cpuMs }) => cpuMs), "50 ms"), // prettier-ignore
        row("the same on the clock, with what other processes took", longest.map(({ ms }) => ms)), // prettier-ignore
      ],
      columns: { row: "row", median: "median", unit: "unit", range: "min..max", bar: "bar" },
      legend: "From the click or the address to the first frame with the last turn.",
    }
  } finally {
    await browser.close()
    server.disconnect()
  }
}

/** Milliseconds until something is on the screen. */
async function opened(page, act, selector) {
  const from = performance.now()
  await act()
  await page.locator(selector).first().waitFor()
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
  return performance.now() - from
}

/** Scrolls upwards a screen at a time, and older turns are read on the way. The longest time between two frames. */
const longestFrame = (page, place) =>
  page.evaluate(`(async () => {
    const place = ${place}
    const frame = () => new Promise((done) => requestAnimationFrame(done))
    let last = await frame()
    let longest = 0
    for (let step = 0; step < 90; step++) {
      place.scrollTop -= 200
      const now = await frame()
      longest = Math.max(longest, now - last)
      last = now
    }
    return longest
  })()`)

/** Scrolls until 1,000 conversations were read, and returns the most lines that were in the page at once. */
const scrollList = (page) =>
  page.evaluate(`(async () => {
    const list = document.querySelector("[data-chat]").closest(".scroll")
    let most = 0
    for (let step = 0; step < 400 && list.scrollHeight < ${isSmoke ? 4000 : 50_000}; step++) {
      list.scrollTop = list.scrollHeight
      await new Promise((done) => setTimeout(done, 25))
      most = Math.max(most, document.querySelectorAll("[data-chat]").length)
    }
    return most
  })()`)

/** Lets conversations stream, one of them on the screen, and asks how long the server was blocked at most. */
async function whileStreaming(server, page, url) {
  const ids = await page.evaluate(`Promise.all(Array.from({ length: ${streams} }, async () => {
    const headers = { "content-type": "application/json", "x-quartermaster-session": localStorage.getItem("qm-session") }
    const body = JSON.stringify({ agentId: "dev", message: "Please stream." })
    const answer = await fetch("/v1/chains", { method: "POST", headers, body })
    return (await answer.json()).id
  }))`)
  await page.goto(`${url}/chat/${ids[0]}`)
  await page.locator("[data-writing]").waitFor()
  const watching = once(server, "message")
  server.send("watch")
  await watching
  await page.locator('[data-conversation][data-state="done"]').waitFor()
  const told = once(server, "message")
  server.send("tell")
  const [longest] = await told
  return longest
}
