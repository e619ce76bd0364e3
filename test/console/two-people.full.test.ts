import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

/** What the network console of the browser shows in red. */
function failuresOf(...pages: Page[]): string[] {
  const failed: string[] = []
  for (const page of pages)
    page.on("response", (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${new URL(response.url()).pathname}`)
    })
  return failed
}

const strip = (page: Page, hasText: string) => page.locator("[data-strip]", { hasText }).waitFor()
const row = (page: Page) => page.locator("a[data-call]").first()
const twoPeople = { rules: [{ ask: "write_file", approvers: { count: 2 }, because: "Two look at it." }] }

describe.skipIf(!hasBrowser)("a call that two people must approve", () => {
  test("shows after each answer who has agreed, and at the end who approved it, without a failed request", async () => {
    const { app, signIn } = await openConsole(twoPeople)
    const [pat, sue] = [(await signIn("pat")).page, (await signIn("sue")).page]
    const failed = failuresOf(pat, sue)
    const running = app.call({ agentId: "dev", tool: "write_file", input: { path: "a.md", content: "x" } })
    for (const page of [pat, sue]) await page.getByRole("heading", { name: "Change a.md" }).waitFor()
    await row(pat).getByText("2 people").waitFor()
    await wakeUp(pat)
    await pat.getByRole("button", { name: /^Approve/ }).click()
    await strip(pat, "You agreed. 1 of 2 have agreed.")
    await pat.getByText("You have agreed. Somebody else must agree too").waitFor()
    for (const page of [pat, sue]) {
      await row(page).getByText("1 of 2 agreed").waitFor()
      await page.locator(".votes", { hasText: "pat agreed" }).getByText("1 more person").waitFor()
    }
    await wakeUp(sue)
    await sue.getByRole("button", { name: /^Approve/ }).click()
    expect(await running).toMatchObject({ success: true })
    await strip(sue, "You approved it.")
    await strip(pat, "Pat Lee, Sue Ito approved it.")
    for (const page of [pat, sue]) {
      await row(page).getByText("approved", { exact: true }).waitFor()
      for (const old of ["1 more person", "1 of 2 agreed"]) expect(await page.getByText(old).count(), old).toBe(0)
    }
    expect(failed).toEqual([])
  })

  test("says to whoever agreed that it changed since, and then that it was rejected", async () => {
    const { app, signIn } = await openConsole(twoPeople)
    const { page } = await signIn("pat")
    const failed = failuresOf(page)
    const running = app.call({ agentId: "dev", tool: "write_file", input: { path: "a.md", content: "x" } })
    await page.getByRole("heading", { name: "Change a.md" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve/ }).click()
    await strip(page, "You agreed.")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "edit", input: { path: "b.md", content: "x" } }, "sue")
    await page.getByRole("heading", { name: "Change b.md" }).waitFor()
    await strip(page, "Now revision 2.")
    await app.approvals.answer(item!.callId, { kind: "reject" }, "sue")
    await running
    await strip(page, "Sue Ito rejected it.")
    await row(page).getByText("rejected", { exact: true }).waitFor()
    expect(failed).toEqual([])
  })

  test("is not called answered in the list when its caller took it back", async () => {
    const { app, signIn } = await openConsole()
    const { page } = await signIn("pat")
    const stopping = new AbortController()
    const input = { path: "a.md", content: "x" }
    const running = app.call({ agentId: "dev", tool: "write_file", input, signal: stopping.signal })
    await page.getByRole("heading", { name: "Change a.md" }).waitFor()
    stopping.abort()
    await running
    await row(page).getByText("cancelled", { exact: true }).waitFor()
    await strip(page, "This call no longer waits.")
  })
})
