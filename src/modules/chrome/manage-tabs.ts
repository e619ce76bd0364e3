import type { Frame, Page } from "playwright-core"
import type { Action, Work } from "./action.ts"
import { limited } from "./action.ts"
import { firstLine, isTimeout, refusal } from "./refusal.ts"
import { report } from "./report.ts"
import type { Tab } from "./tab.ts"
import { webUrl } from "./web-url.ts"

type WaitUntil = "load" | "domcontentloaded" | "networkidle0" | "networkidle2"

export const launch: Action<{ args?: string[] }> = async ({ args = [] }, { browsers, context, runtime }) => {
  const { id, createdAt } = await browsers.launch(context, args)
  const note = "This browser is closed when this process ends, and every 'qm call' is a process of its own."
  return { ok: true, browserId: id, createdAt, ...(runtime.longLived ? {} : { note }) }
}

export const close: Action<{ browserId: string }> = async ({ browserId }, { browsers, context }) => {
  await browsers.close(browsers.browser(context, browserId))
  return { ok: true, browserId }
}

export const newTab: Action<{ browserId: string; url?: string }> = async ({ browserId, url }, work) => {
  const { browsers, context } = work
  const browser = browsers.browser(context, browserId)
  const address = url === undefined ? undefined : webUrl(url)
  const tab = await browsers.openTab(browser)
  const about = { ok: true, tabId: tab.id, browserId }
  if (address === undefined) return { ...about, url: tab.page.url() }
  try {
    const loaded = await load(tab, address, { waitUntil: "load", timeoutMs: 30_000 }, work)
    return { ...about, ...loaded }
  } catch (error) {
    await limited(tab.page.close(), 2000).catch(() => {})
    browser.tabs.delete(tab.id)
    throw error
  }
}

export const closeTab: Action<{ tabId: string }> = async ({ tabId }, { browsers, context }) => {
  const tab = browsers.tab(context, tabId)
  const { browser } = tab
  await limited(tab.page.close(), 2000).catch(() => {})
  browser.tabs.delete(tabId)
  return { ok: true, tabId }
}

export const listTabs: Action<{ browserId: string }> = async ({ browserId }, { browsers, context }) => {
  const browser = browsers.browser(context, browserId)
  browser.newTabs.clear()
  const tabs = [...browser.tabs.values()].map(async ({ id, page, isCrashed }) => ({
    tabId: id,
    url: page.url(),
    title: isCrashed ? "" : await limited(page.title(), 1000).catch(() => ""),
    ...(isCrashed ? { crashed: true } : {}),
  }))
  return { ok: true, browserId, tabs: await Promise.all(tabs) }
}

export const navigate: Action<{ tabId: string; url: string; waitUntil: WaitUntil; timeoutMs: number }> = async (
  { tabId, url, ...how },
  work,
) => {
  const address = webUrl(url)
  const tab = work.browsers.tab(work.context, tabId)
  return { ok: true, ...(await load(tab, address, how, work)) }
}

/** Loads a page. An address that leads to a download is one that was reached. */
async function load(tab: Tab, url: string, how: { waitUntil: WaitUntil; timeoutMs: number }, work: Work) {
  const { page, browser } = tab
  const { timeoutMs: timeout } = how
  if (url !== "about:blank") browser.proxy.allow(url)
  browser.proxy.refused.splice(0)
  const waitUntil = how.waitUntil.startsWith("networkidle") ? "networkidle" : (how.waitUntil as "load")
  let status: number | undefined
  const errorPage = watchErrorPage(page)
  try {
    status = (await page.goto(url, { waitUntil, timeout, signal: work.context.signal }))?.status()
  } catch (error) {
    const isDownload = /Download is starting|ERR_ABORTED/.test(String(error)) && (await downloadBegan(tab))
    if (isTimeout(error)) await stopLoading(tab)
    else if (!isDownload) await errorPage.shown()
    if (!isDownload) throw navigationRefusal(error, tab, timeout)
  } finally {
    errorPage.stop()
  }
  const title = await limited(page.title(), 2000).catch(() => "")
  return { url: page.url(), title, ...(status === undefined ? {} : { status }), ...(await report(tab, work)) }
}

/** While a page is loading, nothing can be done with the one before it. */
async function stopLoading({ page, browser }: Tab): Promise<void> {
  const stopping = browser.context.newCDPSession(page).then(async (session) => {
    await session.send("Page.stopLoading")
    await session.detach()
  })
  await limited(stopping, 1000).catch(() => {})
}

/** The browser's error page comes a moment later, and would interrupt the next navigation. */
function watchErrorPage(page: Page): { shown(): Promise<unknown>; stop(): void } {
  let onShown = () => {}
  const shown = new Promise<void>((resolve) => (onShown = resolve))
  const look = (frame: Frame) => {
    if (frame === page.mainFrame() && frame.url().startsWith("chrome-error:")) onShown()
  }
  page.on("framenavigated", look)
  return { shown: () => limited(shown, 1000).catch(() => {}), stop: () => void page.off("framenavigated", look) }
}

function downloadBegan(tab: Tab): Promise<boolean> {
  if (tab.downloads.length > 0) return Promise.resolve(true)
  return limited(new Promise<boolean>((resolve) => (tab.onDownload = () => resolve(true))), 1000).catch(() => false)
}

function navigationRefusal(error: unknown, { page, browser }: Tab, timeout: number): Error {
  if (isTimeout(error)) {
    const at = page.url()
    return refusal(
      "navigation_timeout",
      `The page did not load within ${timeout} ms. The tab is at ${at}; try again with a longer timeoutMs, or waitUntil domcontentloaded.`,
      { url: at },
    )
  }
  const [refused] = browser.proxy.refused.slice(-1)
  if (refused !== undefined && /ERR_SOCKS|ERR_PROXY|ERR_TUNNEL|ERR_EMPTY_RESPONSE/.test(String(error)))
    return refusal(refused.code, refused.sentence)
  return refusal("navigation_failed", `The page could not be loaded: ${firstLine(error)}`)
}
