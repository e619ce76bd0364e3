import { afterAll, describe, expect, test } from "vitest"
import { axeChecker } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("the console is accessible", () => {
  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 360],
    ["dark", 360],
  ] as const)("axe finds nothing on any page, %s at %i pixels", async (colorScheme, width) => {
    const { submit, signIn, url, app } = await openConsole()
    const ran = await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    await submit("run_command", { command: "ls -l && rm -r old | tee log" })
    await submit("write_file", { path: "notes.md", content: "x\ny\n" })
    await submit("ask_user", { question: "Which colour?", options: ["red", "blue"] })
    const { page, problems } = await signIn("me", { colorScheme, viewport: { width, height: 900 } })
    const { check, found } = axeChecker(page)
    const goTo = async (path: string, selector: string) => {
      await page.goto(`${url}${path}`)
      await check(path, selector)
    }
    await check("inbox", "a[data-call]")
    await page.locator("button.me:visible, button.tab-more:visible").click()
    await check("menu", "[role=menu]")
    await page.keyboard.press("Escape")
    for (const { callId } of await app.approvals.list()) await goTo(`/inbox/${callId}`, "#card-title")
    await page.keyboard.press("Control+k")
    await check("palette", "[role=dialog]")
    await page.keyboard.press("Escape")
    await page.locator("[role=dialog]").waitFor({ state: "detached" })
    await page.keyboard.press("Shift+F")
    await check("freeze", "[role=dialog]")
    await page.keyboard.press("Escape")
    await goTo("/tools", "#main a[href*='tool=']")
    await goTo("/tools?tool=edit_file&agent=dev", "#tool-name")
    await goTo("/tools/servers", ".play-empty")
    await goTo("/audit", "main tbody tr")
    await goTo(`/audit/${ran.callId}`, ".steps")
    await goTo("/organisation/people", ".tbl tbody tr")
    await goTo("/nowhere", "h1")
    expect(found).toEqual([])
    expect(problems).toEqual([])
  })
})
