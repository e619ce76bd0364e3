import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("whoever reads the audit log", () => {
  test("puts back what a call changed that nobody was asked about, after a card with the difference", async () => {
    const rules = [{ allow: "write_file", because: "A test writes." }]
    const { app, url, workspace, signIn } = await openConsole({ rules })
    execFileSync("git", ["init", "-q"], { cwd: workspace })
    writeFileSync(join(workspace, "a.txt"), "before\n")
    const write = (path: string) =>
      app.call({ agentId: "dev", tool: "write_file", input: { path, content: "after\n" } })
    const { callId } = await write("a.txt")
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/audit/${callId}`)
    await page.getByText("Changed 1 file: a.txt.").waitFor()
    await page.getByRole("button", { name: "Undo…" }).click()
    await page.getByRole("link", { name: "Answer it in the inbox" }).click()
    await page.getByText("before").first().waitFor()
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("after\n")
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve/ }).click()
    await expect.poll(() => readFileSync(join(workspace, "a.txt"), "utf8")).toBe("before\n")
    expect(problems).toEqual([])
  })
})
