import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { axeChecker } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("what appears while somebody works is accessible", () => {
  test.each([
    ["light", 1440, "en"],
    ["dark", 360, "en"],
    ["light", 1440, "zh-CN"],
  ] as const)("axe finds nothing in any of it, %s at %i pixels, %s", async (colorScheme, width, locale) => {
    const { app, url, submit, signIn } = await openConsole({ rules: [{ deny: "delete_file", because: "Never here." }] })
    app.registry.register(tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: () => ({ key: "s3cret" }) })) // prettier-ignore
    for (const name of ["a", "b", "c", "d", "e"]) {
      const running = app.call({
        agentId: "dev",
        tool: "write_file",
        input: { path: "notes.md", content: name },
      })
      await until(async () => (await app.approvals.list()).length === 1, "it waits")
      const [item] = await app.approvals.list()
      await app.approvals.answer(item!.callId, { kind: "approve" }, "pat")
      await running
    }
    await app.call({ agentId: "dev", tool: "delete_file", input: { path: "old.txt" } })
    const held = await submit("leak", {})
    const alike = [
      await submit("write_file", { path: "a.md", content: "x" }),
      await submit("write_file", { path: "b.md", content: "x" }),
    ]
    const file = await submit("run_command", { command: "ls -l" })
    const { page, problems } = await signIn("me", { colorScheme, locale, viewport: { width, height: 900 } })
    const { check, found } = axeChecker(page)

    await page.goto(`${url}/inbox`)
    await page.locator("[data-refused] li button").click()
    await check("refused", "[role=dialog] .strip")
    await page.keyboard.press("Escape")
    await page.locator("[role=dialog]").waitFor({ state: "detached" })
    await page.locator("[data-suggestion] button").first().click()
    await check("rule", "[role=dialog] form")
    await page.keyboard.press("Escape")
    await page.locator("[role=dialog]").waitFor({ state: "detached" })

    await page.goto(`${url}/inbox/${held.callId}`)
    await page.locator(".addpath input").fill("/key")
    await page.keyboard.press("Enter")
    await check("held", "mark.red")
    await page.goto(`${url}/inbox/${alike[0]!.callId}`)
    await check("alike", "[data-alike]")
    await page.goto(`${url}/inbox/${file.callId}?one=yes`)
    await page.locator("#card-title").waitFor()
    await wakeUp(page)
    await page.keyboard.press("e")
    await check("edit", "form.edit")

    await page.goto(`${url}/tools?tool=read_file&agent=dev`)
    await page.locator("[data-fields] input, [data-fields] textarea").first().fill("no/such.txt")
    await page.keyboard.press("Control+Enter")
    await check("outcome", "#outcome a[href^='/audit/']")
    await page.context().clearCookies()
    await page.goto(`${url}/signin#nothing`)
    await check("sign in", "section button")
    await page.locator("section button").click()
    await check("bad link", "section code")
    expect(found).toEqual([])
    expect(problems).toEqual([])
  })
})
