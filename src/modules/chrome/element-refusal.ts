import { limited } from "./action.ts"
import { firstLine, isTimeout, Refusal, refusal } from "./refusal.ts"
import { locate, referenceIn } from "./selector.ts"
import type { Tab } from "./tab.ts"

/** Why something could not be done with an element, as the model is told. */
export async function elementRefusal(problem: unknown, tab: Tab, selector: string, timeout: number): Promise<Error> {
  if (problem instanceof Refusal) return problem
  const text = problem instanceof Error ? problem.message : String(problem)
  if (tab.isCrashed || /crashed/i.test(text))
    return refusal("tab_crashed", "The page in this tab has crashed. Close the tab and open another one.")
  if (/has been closed|Target closed/i.test(text))
    return refusal("tab_not_found", "The tab was closed meanwhile. chrome_list_tabs shows the tabs that are open.")
  if (/not a valid selector|Unexpected token|Unknown engine|while parsing/i.test(text))
    return refusal("invalid_selector", `${selector} is not a selector: ${firstLine(problem)}`)
  const isMissing = isTimeout(problem) && (await limited(locate(tab.page, selector).count(), 1000).catch(() => 0)) === 0
  if (isMissing || /Ref .* not found/i.test(text)) return notFound(selector, timeout)
  if (!isTimeout(problem)) return refusal("element_refused", `${selector}: ${firstLine(problem)}`)
  return refusal(
    "element_not_ready",
    `${selector} is on the page, but ${reasonIn(text)} within ${timeout} ms. chrome_snapshot or chrome_screenshot shows why.`,
  )
}

export function notFound(selector: string, timeout: number): Refusal {
  const hint =
    referenceIn(selector) === undefined
      ? "chrome_snapshot shows what is there."
      : "The page has changed since; take another chrome_snapshot."
  return refusal("element_not_found", `Nothing on the page matches ${selector} within ${timeout} ms. ${hint}`)
}

function reasonIn(text: string): string {
  if (/intercepts pointer events/.test(text)) return "something covers it and did not go away"
  if (/not enabled|disabled/.test(text)) return "it did not become enabled"
  if (/not visible|hidden/.test(text)) return "it did not become visible"
  return "it did not become ready"
}
