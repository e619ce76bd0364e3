import type { Dialog, Page } from "playwright-core"
import type { Browser } from "./browsers.ts"
import { watchDownload, type TabDownload } from "./downloads.ts"

/** A dialog that a page showed, and what was done with it. */
export interface ShownDialog {
  readonly type: string
  readonly message: string
  readonly answer: "accepted" | "dismissed"
}

/** A tab of a browser, and what happened in it since the last call on it. */
export interface Tab {
  readonly id: string
  readonly browser: Browser
  readonly page: Page
  readonly dialogs: ShownDialog[]
  readonly downloads: TabDownload[]
  /** Dialogs are dismissed unless a call says that they are to be accepted. */
  acceptsDialogs: boolean
  isCrashed: boolean
  /** Called when a download begins. */
  onDownload: (() => void) | undefined
}

const mostDialogs = 10
const mostDownloads = 10

/** Watches a page: its dialogs, downloads and crashes, and that it stays on web pages. With 0 bytes nothing is downloaded. */
export function watchPage(id: string, page: Page, browser: Browser, maxDownloadBytes: number): Tab {
  const tab: Tab = {
    id,
    browser,
    page,
    dialogs: [],
    downloads: [],
    acceptsDialogs: false,
    isCrashed: false,
    onDownload: undefined,
  }
  page.on("dialog", (dialog) => void answerDialog(tab, dialog))
  page.on("crash", () => (tab.isCrashed = true))
  page.on("download", (download) => {
    if (maxDownloadBytes === 0 || tab.downloads.length >= mostDownloads) return void download.cancel().catch(() => {})
    tab.downloads.push(watchDownload(download, browser.folder.downloads, maxDownloadBytes))
    tab.onDownload?.()
  })
  page.on("framenavigated", (frame) => {
    if (!isWebPage(frame.url())) void page.close().catch(() => {})
  })
  return tab
}

/** Pages of the web, empty pages, and what pages make themselves; no files and no pages of the browser. */
function isWebPage(url: string): boolean {
  return url === "" || /^(https?|about|blob|data|chrome-error):/i.test(url)
}

async function answerDialog(tab: Tab, dialog: Dialog): Promise<void> {
  const type = dialog.type()
  const accepts = tab.acceptsDialogs || type === "beforeunload" || type === "alert"
  if (tab.dialogs.length < mostDialogs)
    tab.dialogs.push({ type, message: dialog.message().slice(0, 1000), answer: accepts ? "accepted" : "dismissed" })
  await (accepts ? dialog.accept() : dialog.dismiss()).catch(() => {})
}
