import { randomBytes } from "node:crypto"
import type { BrowserContext, Page } from "playwright-core"
import type { ModuleRuntime } from "../../platform/module-runtime.ts"
import { endLeftBrowsers, makeBrowserFolder, type BrowserFolder } from "./browser-folder.ts"
import { openProxy, type GuardedProxy } from "./guarded-proxy.ts"
import { launchChromium } from "./launch.ts"
import { refusal } from "./refusal.ts"
import type { ChromeSettings } from "./settings.ts"
import { watchPage, type Tab } from "./tab.ts"

/** Whose a browser is. Another agent, and another task of the same agent, does not find it. */
export interface Owner {
  readonly agent: { readonly id: string }
  readonly taskId?: string
}

export interface Browser {
  readonly id: string
  readonly owner: string
  readonly createdAt: string
  readonly context: BrowserContext
  /** Ends the process that drives it. */
  stop(): void
  readonly folder: BrowserFolder
  readonly proxy: GuardedProxy
  readonly tabs: Map<string, Tab>
  /** Tabs that its pages opened, which no call has named yet. */
  readonly newTabs: Set<Tab>
  usedAt: number
}

/** The browsers and tabs of all agents in this process. */
export interface Browsers {
  launch(owner: Owner, args: readonly string[]): Promise<Browser>
  browser(owner: Owner, browserId: string): Browser
  tab(owner: Owner, tabId: string): Tab
  /** A tab whoever's it is, to find out which host a call on it touches. */
  anyTab(tabId: string): Tab | undefined
  openTab(browser: Browser): Promise<Tab>
  close(browser: Browser): Promise<void>
  closeAll(): Promise<void>
}

const closeMs = 3000

export function openBrowsers(runtime: ModuleRuntime, settings: ChromeSettings): Browsers {
  const browsers = new Map<string, Browser>()
  let launching = 0
  let isClosed = false
  const { dataFolder } = runtime
  const left = endLeftBrowsers(dataFolder)
  if (left > 0) runtime.log.warn(`chrome: ended ${left} browsers that a killed process had left.`)

  const maxDownloadBytes = settings.downloads === false ? 0 : settings.maxDownloadMb * 1024 * 1024
  const idleMs = settings.idleMinutes * 60_000
  const timer = setInterval(closeIdle, Math.min(idleMs, 30_000)).unref()

  function closeIdle(): void {
    for (const browser of browsers.values()) if (Date.now() - browser.usedAt >= idleMs) void close(browser)
  }

  async function close(browser: Browser): Promise<void> {
    if (!browsers.delete(browser.id)) return
    const closing = browser.context.close().catch(() => {})
    await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, closeMs).unref())])
    browser.stop()
    browser.proxy.close()
    browser.folder.remove()
  }

  function addTab(browser: Browser, page: Page): Tab {
    const tab = watchPage(newId("tab"), page, browser, maxDownloadBytes)
    browser.tabs.set(tab.id, tab)
    page.once("close", () => {
      browser.tabs.delete(tab.id)
      browser.newTabs.delete(tab)
    })
    return tab
  }

  /** A new page is a tab, whoever opened it. It is closed at once where there are too many. */
  function onPage(browser: Browser, page: Page): void {
    if (browser.tabs.size >= settings.maxTabs) return void page.close().catch(() => {})
    browser.newTabs.add(addTab(browser, page))
  }

  return {
    async launch(owner, args) {
      if (browsers.size + launching >= settings.maxBrowsers) {
        throw refusal(
          "too_many_browsers",
          `${settings.maxBrowsers} browsers are open, and no more are allowed. Close one with chrome_close, or use one that is open.`,
        )
      }
      launching++
      const id = newId("browser")
      let folder: BrowserFolder | undefined
      let proxy: GuardedProxy | undefined
      try {
        folder = makeBrowserFolder(dataFolder, id)
        proxy = await openProxy((target) =>
          runtime.hosts.connect({ ...target, listedOnly: settings.reach === "listed" }),
        )
        const { context, stop, onExit } = await launchChromium(folder, proxy.port, args, settings)
        if (isClosed) {
          await context.close()
          stop()
          throw refusal("launch_failed", "The module was unloaded while the browser started.")
        }
        const browser: Browser = {
          id,
          owner: ownerKey(owner),
          createdAt: new Date().toISOString(),
          context,
          stop,
          folder,
          proxy,
          tabs: new Map(),
          newTabs: new Set(),
          usedAt: Date.now(),
        }
        browsers.set(id, browser)
        // The page that it starts with is no tab and stays: a browser without a page ends.
        context.on("page", (page) => onPage(browser, page))
        context.once("close", () => void close(browser))
        onExit(() => void close(browser))
        return browser
      } catch (error) {
        proxy?.close()
        folder?.remove()
        throw error
      } finally {
        launching--
      }
    },

    browser(owner, browserId) {
      const found = browsers.get(browserId)
      if (found === undefined || found.owner !== ownerKey(owner)) throw notFound("browser", browserId, runtime)
      found.usedAt = Date.now()
      return found
    },

    tab(owner, tabId) {
      const tab = find(tabId)
      if (tab === undefined || tab.browser.owner !== ownerKey(owner)) throw notFound("tab", tabId, runtime)
      tab.browser.usedAt = Date.now()
      if (tab.isCrashed) {
        void tab.page.close().catch(() => {})
        tab.browser.tabs.delete(tabId)
        throw refusal("tab_crashed", "The page in this tab has crashed, and the tab is closed. Open another tab.")
      }
      return tab
    },

    anyTab: find,

    async openTab(browser) {
      if (browser.tabs.size >= settings.maxTabs) {
        throw refusal(
          "too_many_tabs",
          `The browser has ${settings.maxTabs} tabs, and no more are allowed. Close one with chrome_close_tab.`,
        )
      }
      const page = await browser.context.newPage()
      // The event came before the page itself.
      const tab = [...browser.tabs.values()].find((one) => one.page === page) ?? addTab(browser, page)
      browser.newTabs.delete(tab)
      return tab
    },

    close,

    async closeAll() {
      isClosed = true
      clearInterval(timer)
      await Promise.all([...browsers.values()].map(close))
    },
  }

  function find(tabId: string): Tab | undefined {
    for (const { tabs } of browsers.values()) {
      const tab = tabs.get(tabId)
      if (tab !== undefined) return tab
    }
    return undefined
  }
}

function ownerKey({ agent, taskId }: Owner): string {
  return JSON.stringify([agent.id, taskId ?? null])
}

function newId(kind: "browser" | "tab"): string {
  return `${kind}-${randomBytes(6).toString("hex")}`
}

function notFound(kind: "browser" | "tab", id: string, { longLived }: ModuleRuntime): Error {
  const how = kind === "browser" ? "Launch one with chrome_launch." : "chrome_list_tabs shows the tabs of a browser."
  const why = longLived
    ? "It was closed, has been idle for too long, or belongs to another agent or task."
    : "A browser lives as long as the process that launched it, and every 'qm call' is a process of its own. Use 'qm chat', 'qm serve', 'qm mcp' or a pipeline for more than one step."
  return refusal(`${kind}_not_found`, `There is no ${kind} ${id} here. ${why} ${how}`)
}
