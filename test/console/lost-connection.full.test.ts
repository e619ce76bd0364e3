import { afterAll, describe, expect, test } from "vitest"
import { deferred, tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

/** A console in whose playground a tool is shown that runs until `end` is called, and counts how often it ran. */
async function withSlowTool() {
  const all = await openConsole()
  const ended = deferred()
  let runs = 0
  const slow = tool({
    name: "slow",
    effect: "read",
    execute: async () => {
      runs++
      await ended.promise
      return "it ran"
    },
  })
  all.app.registry.register(slow)
  const { page, problems } = await all.signIn()
  await page.goto(`${all.url}/tools?tool=slow&agent=dev`)
  await page.locator("#tool-name").waitFor()
  await page.keyboard.press("Control+Enter")
  await until(() => runs === 1, "it runs")
  return { ...all, page, problems, end: () => ended.resolve(), runs: () => runs }
}

describe.skipIf(!hasBrowser)("a call of the playground", () => {
  test("ends once when the server stops meanwhile: the page tries again", async () => {
    const { page, restart, end, runs } = await withSlowTool()
    await restart(() => page.getByText("Trying again. However often").waitFor())
    end()
    await page.getByRole("heading", { name: "Ran", exact: true }).waitFor({ timeout: 20_000 })
    await page.getByText("it ran").waitFor()
    expect(await page.getByText("Trying again. However often").count()).toBe(0)
    expect(runs()).toBe(1)
  }, 60_000)

  test("is asked for again, not made again, by a page that is loaded anew", async () => {
    const { page, end, runs } = await withSlowTool()
    await page.reload()
    await page.getByRole("heading", { name: "Running", exact: true }).waitFor()
    end()
    await page.getByText("it ran").waitFor()
    expect(runs()).toBe(1)
    expect(await page.evaluate("sessionStorage.getItem('qm-playground-call')")).toBe(null)
  }, 60_000)
})

test.skipIf(!hasBrowser)(
  "a page stays when what it shows cannot be read again",
  async () => {
    const { url, restart, signIn } = await openConsole()
    const { page } = await signIn()
    await page.goto(`${url}/tools?tool=read_file&agent=dev`)
    await page.locator("#tool-name").waitFor()
    let refused = 0
    await page.route("**/v1/tools", (route) => {
      refused++
      return route.fulfill({ status: 500, contentType: "application/problem+json", body: '{"detail":"No."}' })
    })
    await restart()
    await until(() => refused > 0, "it was read again")
    await page.getByText("No connection for").waitFor({ state: "detached" })
    expect(await page.locator("#tool-name").innerText()).toContain("read_file")
  },
  60_000,
)

test.skipIf(!hasBrowser)(
  "each version of a tool can be shown and called",
  async () => {
    const { app, url, signIn } = await openConsole()
    for (const version of ["1.0.0", "2.0.0"])
      app.registry.register(tool({ name: "bake", version, effect: "read", execute: () => `baked by ${version}` }))
    const { page } = await signIn()
    await page.goto(`${url}/tools?tool=bake&agent=dev`)
    const versions = page.locator("aside a", { hasText: /^bake@/ })
    await expect.poll(() => versions.count()).toBe(2)
    for (const version of ["2.0.0", "1.0.0"]) {
      await versions.filter({ hasText: version }).click()
      await page.locator("[aria-labelledby=tool-name] .facts", { hasText: version }).waitFor()
      expect(await page.locator("aside a[aria-current]").allInnerTexts()).toEqual([expect.stringContaining(version)])
      await page.keyboard.press("Control+Enter")
      await page.getByText(`baked by ${version}`).waitFor()
    }
  },
  60_000,
)
