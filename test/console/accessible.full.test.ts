import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { afterAll, describe, expect, test } from "vitest"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

describe.skipIf(!hasBrowser)("the console is accessible", () => {
  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 360],
  ] as const)("axe finds nothing on any page, %s at %i pixels", async (colorScheme, width) => {
    const { submit, signIn, url, app } = await openConsole()
    await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    await submit("run_command", { command: "ls -l && rm -r old | tee log" })
    await submit("write_file", { path: "notes.md", content: "x\ny\n" })
    await submit("ask_user", { question: "Which colour?", options: ["red", "blue"] })
    const { page, problems } = await signIn("me", { colorScheme, viewport: { width, height: 900 } })
    const found: string[] = []
    const check = async (where: string) => {
      await page.waitForTimeout(800)
      // Not by a script tag: the page's policy forbids it, as it should.
      await page.evaluate(axe)
      const { violations } = await page.evaluate<{ violations: Violation[] }>(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })",
      )
      for (const { id, nodes } of violations)
        found.push(`${where}: ${id} ${nodes[0]!.target.join(" ")}: ${nodes[0]!.failureSummary}`)
    }
    await check("inbox")
    for (const { callId } of await app.approvals.list()) {
      await page.goto(`${url}/inbox/${callId}`)
      await check(`card ${callId}`)
    }
    await page.keyboard.press("Control+k")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Shift+F")
    await page.keyboard.press("Escape")
    for (const path of ["/tools", "/tools/read_file", "/audit"]) {
      await page.goto(`${url}${path}`)
      await check(path)
    }
    expect(found).toEqual([])
    expect(problems).toEqual([])
  })
})
