import { afterAll, describe, expect, test } from "vitest"
import { axeViolations } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("the console is accessible", () => {
  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 360],
  ] as const)("axe finds nothing on any page, %s at %i pixels", async (colorScheme, width) => {
    const { submit, signIn, url, app } = await openConsole()
    const ran = await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    await submit("run_command", { command: "ls -l && rm -r old | tee log" })
    await submit("write_file", { path: "notes.md", content: "x\ny\n" })
    await submit("ask_user", { question: "Which colour?", options: ["red", "blue"] })
    const { page, problems } = await signIn("me", { colorScheme, viewport: { width, height: 900 } })
    const found: string[] = []
    const check = async (where: string) => {
      await page.waitForTimeout(800)
      found.push(...(await axeViolations(page)).map((violation) => `${where}: ${violation}`))
    }
    await check("inbox")
    await page.locator("button.me:visible, button.tab-more:visible").click()
    await check("menu")
    await page.keyboard.press("Escape")
    for (const { callId } of await app.approvals.list()) {
      await page.goto(`${url}/inbox/${callId}`)
      await check(`card ${callId}`)
    }
    await page.keyboard.press("Control+k")
    await check("palette")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Shift+F")
    await check("freeze")
    await page.keyboard.press("Escape")
    const tool = "/tools?tool=edit_file&agent=dev"
    for (const path of ["/tools", tool, "/tools/servers", "/audit", `/audit/${ran.callId}`, "/people", "/nowhere"]) {
      await page.goto(`${url}${path}`)
      await check(path)
    }
    expect(found).toEqual([])
    expect(problems).toEqual([])
  })
})
