// Takes a picture of every page and state, light and dark, in three widths, from a real server with the sample:
//   npm run screenshots -- <folder> [part of a scene's name] [part of a size]   (Chromium: CHROMIUM, or /usr/bin/chromium)
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { openSampleServer, signIn } from "./sample-server.mjs"
import { afterStop, fill, scenes } from "./scenes.mjs"

const [folder = "screenshots.tmp", only = "", onlySize = ""] = process.argv.slice(2)
const sizes = { 1440: [1440, 900], 1024: [1024, 768], 360: [360, 780] }

mkdirSync(folder, { recursive: true })
const server = await openSampleServer()
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium"
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
const failed = []

async function openPage(width, colorScheme, locale = "en-US") {
  const [, height] = sizes[width]
  const touch = width === "360" ? { hasTouch: true, isMobile: true, deviceScaleFactor: 2 } : {}
  const options = { viewport: { width: Number(width), height }, colorScheme, locale, ...touch }
  const context = await browser.newContext({ ...options, reducedMotion: "reduce" })
  context.setDefaultTimeout(8000)
  return context.newPage()
}

const look = async (page, name) => {
  // Until the keys of a card wake up and lazy parts are there.
  await page.waitForTimeout(900)
  await page.screenshot({ path: join(folder, `${name}.png`) })
}

async function take(list, pages) {
  for (const [suffix, page] of pages) {
    for (const { name, show, widths, leaves } of list) {
      if (!name.includes(only) || (widths !== undefined && !widths.some((width) => suffix.startsWith(width)))) continue
      try {
        await show(page, server)
        await look(page, `${name}.${suffix}`)
        await leaves?.(page, server)
      } catch (error) {
        failed.push(`${name}.${suffix}: ${String(error).split("\n")[0]}`)
        await look(page, `${name}.${suffix}`).catch(() => undefined)
      }
    }
  }
}

try {
  const pages = []
  for (const width of Object.keys(sizes))
    for (const colorScheme of ["light", "dark"])
      if (`${width}.${colorScheme}`.includes(onlySize))
        pages.push([`${width}.${colorScheme}`, await openPage(width, colorScheme)])
  await take(scenes.first, pages)
  for (const [, page] of pages) await signIn(page, server.signInLink())
  await take(scenes.sample, pages)
  await fill(pages[0][1], server)
  await take(scenes.busy, pages)
  const chinese = [await openPage("1440", "light", "zh-CN"), await openPage("360", "dark", "zh-CN")]
  for (const page of chinese) await signIn(page, server.signInLink())
  await take(scenes.chinese, [
    ["1440.zh", chinese[0]],
    ["360.zh", chinese[1]],
  ])
  await take(scenes.empty, pages)
  for (const [, page] of pages) await page.goto(`${server.url}/inbox`)
  await server.stop()
  await take(afterStop, pages)
} finally {
  await browser.close()
  await server.remove()
}
if (failed.length > 0) {
  console.error(`${failed.length} scenes could not be shown:\n${failed.join("\n")}`)
  process.exitCode = 1
}
