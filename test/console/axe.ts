import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"
import { expect } from "vitest"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** Waits until something is shown, nothing is loading and nothing moves: a colour in between has no contrast. */
async function settled(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor()
  const isStill = `document.querySelector(".sk, [aria-busy=true]") === null &&
    document.getAnimations().every(({ playState, effect }) => playState !== "running" || effect.getComputedTiming().endTime === Infinity)`
  await expect.poll(() => page.evaluate<boolean>(isStill), { timeout: 10_000 }).toBe(true)
}

/** What axe finds wrong with one page after another. */
export function axeChecker(page: Page) {
  const found: string[] = []
  return {
    found,
    /** Looks at the page once what the selector means is shown. */
    async check(where: string, selector: string) {
      await settled(page, selector)
      let violations = await axeViolations(page)
      // What is only there for a moment, such as a colour in between, is gone when it is looked at again.
      if (violations.length > 0) {
        await settled(page, selector)
        violations = await axeViolations(page)
      }
      found.push(...violations.map((violation) => `${where}: ${violation}`))
    },
  }
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
