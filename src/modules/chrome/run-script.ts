import { limited, type Action } from "./action.ts"
import { elementRefusal } from "./element-refusal.ts"
import { firstLine, refusal } from "./refusal.ts"
import { report } from "./report.ts"

export const evaluate: Action<{ tabId: string; script: string; timeoutMs: number }> = async (
  { tabId, script, timeoutMs },
  work,
) => {
  const tab = work.browsers.tab(work.context, tabId)
  const { page } = tab
  const late = () => refusal("evaluate_timeout", `The script did not end within ${timeoutMs} ms. If the page no longer answers, close its tab.`) // prettier-ignore
  const run = (code: string) => limited(page.evaluate(code) as Promise<unknown>, timeoutMs, late)
  try {
    const result = await run(script).catch((error: unknown) => {
      // Statements with return are no expression.
      if (!/Illegal return|SyntaxError/.test(String(error))) throw error
      return run(`(async () => {\n${script}\n})()`)
    })
    return { ok: true, result: result === undefined ? null : result, ...(await report(tab, work)) }
  } catch (error) {
    const known = await elementRefusal(error, tab, "body", timeoutMs)
    if ((known as { code?: string }).code !== "element_refused") throw known
    throw refusal("evaluate_error", `The script failed: ${firstLine(error)}`)
  }
}
