import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, test } from "vitest"

const folder = "dist/console"
const page = readFileSync(join(folder, "index.html"), "utf8")
const text = (name: string) => readFileSync(join(folder, name), "utf8")
const compressed = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(text(name), { level: 9 }).length, 0)

/** The scripts that the page names, and what they import before anything is shown. */
function firstScripts(): Set<string> {
  const found = new Set<string>()
  const follow = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    for (const [, next] of text(name).matchAll(/(?:^|[;}])import(?:[^"'()]*?from)?["']\.\/([^"']+\.js)["']/g))
      follow(`assets/${next}`)
  }
  for (const [, name] of page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)) follow(String(name))
  return found
}

test("the first page has at most 300 KB of JavaScript, compressed", () => {
  const bytes = compressed(firstScripts())
  console.log(`first page: ${Math.round(bytes / 1000)} KB of JavaScript, compressed`)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(300_000)
})

test("the page has no inline script, no inline style, a place for the nonce, and none of the mock", () => {
  expect(page).not.toMatch(/<script(?![^>]*src=)[^>]*>/)
  expect(page).not.toMatch(/<style|style="/)
  expect(page).toContain('<meta name="qm-nonce" content="__QM_NONCE__"')
  const scripts = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".js"))
  for (const name of scripts) expect(text(join("assets", name)), name).not.toContain("lantern.example")
})
