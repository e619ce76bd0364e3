import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** What axe finds wrong on the page that is shown, one line each. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Not by a script tag: the page's policy forbids it, as it should.
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{ violations: Violation[] }>(
    "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })",
  )
  return violations.map(({ id, nodes }) => `${id} ${nodes[0]!.target.join(" ")}: ${nodes[0]!.failureSummary}`)
}
