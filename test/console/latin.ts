import type { Page } from "playwright-core"

/** Three words of a Latin language in a row, in what a part of the page says. Code, paths, people's words and lines of configuration may have them. */
export async function latinSentences(page: Page, part: string): Promise<string[]> {
  const texts = await page.evaluate<string[]>(`{
    const texts = []
    const walk = document.createTreeWalker(document.querySelector(${JSON.stringify(part)}), NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode())
      if (node.parentElement.closest("code, pre, kbd, q, .says, .change") === null) texts.push(node.data)
    texts
  }`)
  return texts.filter((text) => /[A-Za-z']+(?:,? [A-Za-z']+){2}/.test(text))
}
