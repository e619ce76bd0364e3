import type { Work } from "./action.ts"
import { saveDownload, type TabDownload } from "./downloads.ts"
import type { Tab } from "./tab.ts"

const mostRefused = 5
/** Time that a call waits for a download that it began. A longer one is told by a later call. */
const downloadMs = 1500

/** Reports the events around a call: dialogs, downloads, tabs that the page opened, connections that were refused. */
export async function report(tab: Tab, work: Work): Promise<Readonly<Record<string, unknown>>> {
  const { browser, dialogs, downloads } = tab
  if (downloads.length > 0) await wait(Promise.all(downloads.map(({ ended }) => ended)), downloadMs)
  const saved = await takeDownloads(tab, work)
  const newTabs = [...browser.newTabs].map(({ id, page }) => ({ tabId: id, url: page.url() }))
  browser.newTabs.clear()
  const { refused } = browser.proxy
  const told = refused
    .splice(0)
    .filter(({ code }) => code === "host_denied")
    .slice(-mostRefused)
  return {
    ...(dialogs.length === 0 ? {} : { dialogs: dialogs.splice(0) }),
    ...(saved.length === 0 ? {} : { downloads: saved }),
    ...(newTabs.length === 0 ? {} : { newTabs }),
    ...(told.length === 0
      ? {}
      : { refused: told.map(({ host, port, sentence }) => ({ address: `${host}:${port}`, because: sentence })) }),
  }
}

/** Writes the downloads that have ended into the workspace. */
export async function takeDownloads({ downloads }: Tab, { files, settings }: Work) {
  const ended: TabDownload[] = downloads.filter(({ isEnded }) => isEnded)
  for (const one of ended) downloads.splice(downloads.indexOf(one), 1)
  const saved = []
  for (const one of ended) saved.push(await saveDownload(one, files, settings))
  return saved
}

async function wait(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)))
  await Promise.race([work, late])
  clearTimeout(timer)
}
