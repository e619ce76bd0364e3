import { limited, type Action } from "./action.ts"
import { elementRefusal } from "./element-refusal.ts"
import { isTimeout, refusal } from "./refusal.ts"
import { report } from "./report.ts"
import { cleanSelector, locate } from "./selector.ts"
import type { Tab } from "./tab.ts"

type State = "attached" | "detached" | "visible" | "hidden" | "download"

export const waitFor: Action<{ tabId: string; selector?: string; state: State; timeoutMs: number }> = async (
  { tabId, selector, state, timeoutMs: timeout },
  work,
) => {
  const tab = work.browsers.tab(work.context, tabId)
  if (state === "download") {
    await downloadEnded(tab, timeout)
    return { ok: true, state, ...(await report(tab, work)) }
  }
  if (selector === undefined)
    throw refusal("selector_missing", `Waiting for ${state} needs a selector. Only state download needs none.`)
  const clean = cleanSelector(selector)
  try {
    const element = locate(tab.page, clean.selector).first()
    await limited(element.waitFor({ state, timeout, signal: work.context.signal }), timeout + 2000)
  } catch (error) {
    if (!isTimeout(error)) throw await elementRefusal(error, tab, clean.selector, timeout)
    throw refusal("wait_timeout", `${clean.selector} did not become ${state} within ${timeout} ms.`)
  }
  return { ok: true, ...clean, state, ...(await report(tab, work)) }
}

async function downloadEnded(tab: Tab, timeout: number): Promise<void> {
  const late = () => refusal("wait_timeout", `No download was complete within ${timeout} ms.`)
  const began = tab.downloads.length > 0 ? undefined : new Promise<void>((resolve) => (tab.onDownload = resolve))
  const ended = Promise.resolve(began).then(() => Promise.any(tab.downloads.map((one) => one.ended)))
  await limited(ended, timeout, late)
}
