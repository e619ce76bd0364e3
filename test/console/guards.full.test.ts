import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

/** A console with one call that waits, shown and awake, and what is left of it. */
async function shown(name = "send", input: unknown = {}) {
  const all = await openConsole()
  const { app, signIn } = all
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const { page, context } = await signIn()
  await page.getByText("Nothing waits for you").first().waitFor()
  const running = app.call({ agentId: "dev", tool: name, input })
  await page.locator("#card-title").waitFor()
  const waits = async () => (await app.approvals.list()).some(({ tool: waiting }) => waiting === name)
  return { ...all, page, context, running, waits }
}

/** Whether the call still waits after a moment in which an answer would have been sent. */
async function stillWaits({ page, waits }: { page: Page; waits(): Promise<boolean> }): Promise<boolean> {
  await page.waitForTimeout(500)
  return waits()
}

describe.skipIf(!hasBrowser)("a card cannot be answered by accident", () => {
  test("keys are dead for 600 milliseconds after it appears, and alive afterwards", async () => {
    const card = await shown()
    await card.page.keyboard.press("a")
    expect(await stillWaits(card)).toBe(true)
    await wakeUp(card.page)
    await card.page.keyboard.press("a")
    expect(await card.running).toMatchObject({ success: true })
  })

  test("while somebody types, letters are letters", async () => {
    const card = await shown()
    await wakeUp(card.page)
    await card.page.locator("footer.answer input.in").click()
    await card.page.keyboard.type("are you sure? a r e")
    expect(await stillWaits(card)).toBe(true)
  })

  test("a key that repeats itself, or comes with a modifier, answers nothing", async () => {
    const card = await shown()
    await card.page.keyboard.down("a")
    await wakeUp(card.page)
    // The key is still down: the browser repeats it.
    for (let time = 0; time < 3; time++) await card.page.keyboard.down("a")
    await card.page.keyboard.up("a")
    for (const combined of ["Control+a", "Alt+a", "Meta+a"]) await card.page.keyboard.press(combined)
    expect(await stillWaits(card)).toBe(true)
  })

  test("Escape answers nothing", async () => {
    const card = await shown()
    await wakeUp(card.page)
    await card.page.keyboard.press("Escape")
    expect(await stillWaits(card)).toBe(true)
  })

  test("the page never moves the focus to a card that arrives", async () => {
    const card = await shown()
    expect(await card.page.evaluate("document.activeElement === document.body")).toBe(true)
  })

  test("the card that is shown stays where it is while others come and go", async () => {
    const card = await shown()
    const title = await card.page.locator("#card-title").innerText()
    const other = card.app.call({ agentId: "dev", tool: "delete_file", input: { path: "gone.txt" } })
    void other
    await until(async () => (await card.app.approvals.list()).length === 2, "another waits")
    await card.page.locator("a[data-call]").nth(1).waitFor()
    expect(await card.page.locator("#card-title").innerText()).toBe(title)
    const items = await card.app.approvals.list()
    const late = items.find((item) => item.tool === "delete_file")!
    await card.app.approvals.answer(late.callId, { kind: "reject" }, "sue")
    await card.page.waitForTimeout(500)
    expect(await card.page.locator("#card-title").innerText()).toBe(title)
  })

  test("a destructive call wants a hold: a click and a short press do nothing, a hold of 1.2 seconds approves", async () => {
    const card = await shown("delete_file", { path: "gone.txt" })
    await wakeUp(card.page)
    const button = card.page.getByRole("button", { name: /Hold to approve/ })
    await button.click()
    expect(await stillWaits(card)).toBe(true)
    await card.page.keyboard.press("a")
    expect(await stillWaits(card)).toBe(true)
    await button.hover()
    await card.page.mouse.down()
    await card.page.waitForTimeout(1600)
    await card.page.mouse.up()
    await until(async () => !(await card.waits()), "it was approved")
    await card.running
  })

  test("an answer of somebody else closes the card with their name", async () => {
    const card = await shown()
    const [item] = await card.app.approvals.list()
    await card.app.approvals.answer(item!.callId, { kind: "reject" }, "sue")
    await card.page
      .getByText(/Sue Ito|sue/)
      .first()
      .waitFor()
    await wakeUp(card.page)
    await card.page.keyboard.press("a")
    expect(await card.running).toMatchObject({ code: "approval_rejected" })
  })

  test("the first click after the window got the focus answers nothing", async () => {
    const card = await shown()
    await wakeUp(card.page)
    await card.page.evaluate("window.dispatchEvent(new Event('blur'))")
    await card.page.waitForTimeout(100)
    await card.page.getByRole("button", { name: /^Approve/ }).click()
    expect(await stillWaits(card)).toBe(true)
    await wakeUp(card.page)
    await card.page.getByRole("button", { name: /^Approve/ }).click()
    expect(await card.running).toMatchObject({ success: true })
  })

  test("a call that nobody answered in time is shown as expired, never as a no", async () => {
    const { app, signIn } = await openConsole({ approvals: { deadline: 0.05 } })
    app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
    const { page } = await signIn()
    await page.getByText("Nothing waits for you").first().waitFor()
    const running = app.call({ agentId: "dev", tool: "send", input: {} })
    await page.locator("#card-title").waitFor()
    expect(await running).toMatchObject({ code: "approval_expired" })
    await page
      .getByText(/Nobody answered/)
      .first()
      .waitFor()
  })
})
