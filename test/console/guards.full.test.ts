import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { tool, until } from "../../src/testing/test-app.ts"
import { atTheMoment, closeBrowser, expectGone, hasBrowser, openConsole, wakeUp, watchAnswers } from "./browser.ts"

afterAll(closeBrowser)

/** A console with one call that waits, shown and awake, and what is left of it. */
async function shown(name = "send", input: unknown = {}, before: (page: Page) => Promise<void> = async () => {}) {
  const all = await openConsole()
  const { app, signIn } = all
  app.registry.register(
    tool({ name: "send", effect: "communicate", input: z.object({ lines: z.array(z.string()).default([]) }) as never, execute: () => "sent" }), // prettier-ignore
  )
  const { page, context } = await signIn()
  const answers = watchAnswers(page)
  await page.getByText("Nothing waits for you").first().waitFor()
  await before(page)
  const running = app.call({ agentId: "dev", tool: name, input })
  await page.locator("#card-title").waitFor()
  const waits = async () => (await app.approvals.list()).some(({ tool: waiting }) => waiting === name)
  return { ...all, page, context, running, waits, answers }
}

type Shown = Pick<Awaited<ReturnType<typeof shown>>, "answers" | "waits">

/** Whether no answer was sent, and the call still waits. */
async function stillWaits({ answers, waits }: Shown): Promise<boolean> {
  return (await answers.none()) && (await waits())
}

/** Presses a key again and again for most of the time in which keys sleep, by the clock of the page. */
const pressA = `
  const began = performance.now()
  const timer = setInterval(() => {
    if (performance.now() - began < 450)
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }))
    else {
      clearInterval(timer)
      window.pressed = true
    }
  }, 20)`
const pressed = (page: Page) => expect.poll(() => page.evaluate("window.pressed === true")).toBe(true)

describe.skipIf(!hasBrowser)("a card cannot be answered by accident", () => {
  test("keys are dead for 600 milliseconds after it appears, and alive afterwards", async () => {
    const card = await shown("send", {}, (page) => atTheMoment(page, "footer.answer", pressA))
    await pressed(card.page)
    expect(await stillWaits(card)).toBe(true)
    await wakeUp(card.page)
    await card.page.keyboard.press("a")
    expect(await card.running).toMatchObject({ success: true })
  })

  test("keys are dead again after the shown card changes", async () => {
    const card = await shown("send", { lines: ["first"] })
    await wakeUp(card.page)
    await atTheMoment(card.page, '[data-card][data-revision="2"]', pressA)
    const [item] = await card.app.approvals.list()
    await card.app.approvals.answer(item!.callId, { kind: "edit", input: { lines: ["second"] } }, "sue")
    await card.page.locator('[data-card][data-revision="2"]').waitFor()
    await pressed(card.page)
    expect(await stillWaits(card)).toBe(true)
    await wakeUp(card.page)
    await card.page.keyboard.press("a")
    expect(await card.running).toMatchObject({ success: true })
  })

  test("keys for a card out of view only bring it into view", async () => {
    const card = await shown("send", { lines: Array.from({ length: 200 }, (_, at) => `line ${at}`) })
    await card.page.setViewportSize({ width: 1440, height: 500 })
    await card.page.locator(".inputline summary").click()
    const inView = () =>
      card.page.evaluate<boolean>(`{
        const view = document.querySelector("[data-card-scroll]").getBoundingClientRect()
        document.querySelector("[data-found]").getBoundingClientRect().bottom > view.top
      }`)
    await wakeUp(card.page)
    for (const key of ["a", "r"]) {
      await card.page.locator("[data-card-scroll]").evaluate((view) => view.scrollTo(0, view.scrollHeight))
      expect(await inView(), key).toBe(false)
      await card.page.keyboard.press(key)
      expect([await stillWaits(card), await inView()], key).toEqual([true, true])
    }
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
    await wakeUp(card.page)
    // As the browser repeats a key that went down before the card was there.
    for (let time = 0; time < 3; time++)
      await card.page.locator("body").dispatchEvent("keydown", { key: "a", repeat: true })
    for (const combined of ["Control+a", "Alt+a", "Meta+a"]) await card.page.keyboard.press(combined)
    expect(await stillWaits(card)).toBe(true)
  })

  test("Escape answers nothing", async () => {
    const card = await shown()
    await wakeUp(card.page)
    await card.page.keyboard.press("Escape")
    expect(await stillWaits(card)).toBe(true)
  })

  test.each([
    ["the dialog to freeze", "Shift+F"],
    ["the palette", "Control+k"],
  ])("a click on the backdrop of %s closes it and answers nothing, also above a button", async (_, keys) => {
    const card = await shown()
    await wakeUp(card.page)
    const { x, y, width, height } = (await card.page.getByRole("button", { name: /^Approve/ }).boundingBox())!
    await card.page.keyboard.press(keys)
    const dialog = card.page.locator('[role="dialog"]')
    await dialog.waitFor()
    await card.page.mouse.click(x + width / 2, y + height / 2)
    await dialog.waitFor({ state: "detached" })
    expect(await stillWaits(card)).toBe(true)
    expect(card.app.frozen()).toEqual([])
  })

  test("the page never moves the focus to a card that arrives", async () => {
    const card = await shown()
    expect(await card.page.evaluate("document.activeElement === document.body")).toBe(true)
  })

  test("the card that is shown stays where it is while others come and go", async () => {
    const card = await shown()
    await wakeUp(card.page)
    const places = async () => ({
      title: await card.page.locator("#card-title").innerText(),
      card: await card.page.locator("article.card").boundingBox(),
      approve: await card.page.getByRole("button", { name: /^Approve/ }).boundingBox(),
    })
    const before = await places()
    expect([before.card, before.approve]).not.toContain(null)
    const other = card.app.call({ agentId: "dev", tool: "delete_file", input: { path: "gone.txt" } })
    await card.page.locator("a[data-call]").nth(1).waitFor()
    expect(await places()).toEqual(before)
    const late = (await card.app.approvals.list()).find((item) => item.tool === "delete_file")!
    await card.app.approvals.answer(late.callId, { kind: "reject" }, "sue")
    await other
    await expectGone(card.page, late.callId)
    expect(await places()).toEqual(before)
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

  test.each([
    ["Escape", "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))"],
    ["leaving the button", "document.querySelector('.is-held').dispatchEvent(new PointerEvent('pointerout', { bubbles: true, relatedTarget: document.body }))"], // prettier-ignore
    ["another window", "window.dispatchEvent(new Event('blur'))"],
    ["letting go", "document.querySelector('.is-held').dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))"], // prettier-ignore
  ])("a hold that %s ends answers nothing", async (_, script) => {
    const card = await shown("delete_file", { path: "gone.txt" })
    await wakeUp(card.page)
    await atTheMoment(card.page, ".btn-hold.is-held", script)
    await card.page.getByRole("button", { name: /Hold to approve/ }).hover()
    await card.page.mouse.down()
    await card.page.getByText("Not held long enough").waitFor()
    // The button stays down for longer than a hold takes.
    await card.page.waitForTimeout(1500)
    expect(await stillWaits(card)).toBe(true)
  })

  test("an answer of somebody else closes the card with their name", async () => {
    const card = await shown()
    const [item] = await card.app.approvals.list()
    await card.app.approvals.answer(item!.callId, { kind: "reject" }, "sue")
    await card.page.locator("[data-strip]", { hasText: "Sue Ito rejected it." }).waitFor()
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
