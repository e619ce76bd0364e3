import type { Locator, Page } from "playwright-core"

/** A selector as it is used, and as it was given where that differs. */
export interface CleanSelector {
  readonly selector: string
  readonly originalSelector?: string
}

/** Models often put quotes around a selector. They are taken off, and the result says so. */
export function cleanSelector(given: string): CleanSelector {
  let selector = given.trim()
  for (;;) {
    const inside = /^(\\?["'`])(.*)\1$/s.exec(selector)?.[2]
    if (inside === undefined || inside.trim() === "") break
    selector = inside.trim()
  }
  return selector === given ? { selector } : { selector, originalSelector: given }
}

/** `e12`, `f1e3`, `ref=e12` and `[ref=e12]` are references of `chrome_snapshot`. */
export function referenceIn(selector: string): string | undefined {
  return /^\[?(?:ref=)?((?:f\d+)?e\d+)\]?$/.exec(selector)?.[1]
}

/** The elements that a selector or reference means. */
export function locate(page: Page, selector: string): Locator {
  const reference = referenceIn(selector)
  return reference === undefined ? page.locator(selector) : page.getByRef(reference)
}
