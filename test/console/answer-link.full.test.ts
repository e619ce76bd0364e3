import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import type { Page } from "playwright-core"
import { tool } from "../../src/testing/test-app.ts"
import { axeViolations } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

const pin = "739164"

/** A served app with something of each risk to wait for. */
async function opening() {
  const scene = await openConsole()
  const { app, submit } = scene
  app.registry.register(
    tool({
      name: "announce",
      effect: "read",
      permission: { requireExecutionApproval: true },
      execute: () => "announced",
    }),
  )
  const wait = async (name: string, input: unknown, more = {}) => (await submit(name, input, more)).callId
  return {
    ...scene,
    low: (more = {}) => wait("announce", {}, { intent: "The release is out.", ...more }),
    medium: () => wait("write_file", { path: "notes.md", content: "one\ntwo\n" }, { intent: "I keep notes." }),
    high: () => wait("delete_file", { path: "old.txt" }),
  }
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 }).innerText()
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).tap()

/** Nothing is cut off at the right, whatever the width. */
async function expectFits(page: Page): Promise<void> {
  const { width } = page.viewportSize()!
  const boxes = await Promise.all((await page.locator("body *:visible").all()).map((each) => each.boundingBox()))
  expect(boxes.filter((box) => box !== null && box.x + box.width > width + 1)).toEqual([])
}

describe.skipIf(!hasBrowser)("an answer link on a phone", () => {
  test("low risk is approved by a tap, without a cookie and a script, and the link works once", async () => {
    const { app, low, phone, linkTo } = await opening()
    const callId = await low()
    const link = await linkTo(callId)
    const { page, context, problems } = await phone()
    await page.goto(link)
    expect(await heading(page)).toBe("Call announce")
    await page.getByText("“The release is out.”").waitFor()
    expect(await app.approvals.show(callId)).toBeDefined()
    await expectFits(page)
    await press(page, "Approve once")
    await expect.poll(() => heading(page)).toBe("Approved")
    expect(await app.resume(callId)).toMatchObject({ result: "announced" })
    await page.goto(link)
    expect(await heading(page)).toBe("This link was used")
    await page.getByText("Pat Lee approved it just now.").waitFor()
    expect(await context.cookies()).toEqual([])
    expect(problems).toEqual([])
  })

  test("medium risk asks for the PIN: a wrong one answers nothing, Enter after the right one approves", async () => {
    const { app, workspace, medium, phone, linkTo } = await opening()
    await app.pins.set("pat", pin, "pat")
    const callId = await medium()
    const { page, problems } = await phone()
    await page.goto(await linkTo(callId))
    await page.getByText("+one").waitFor()
    await press(page, "Approve once")
    expect(await app.approvals.show(callId)).toBeDefined()
    await page.getByLabel("Your PIN").fill("111222")
    await press(page, "Approve once")
    await page.getByText("This PIN is wrong. 2 more tries.").waitFor()
    expect(await app.approvals.show(callId)).toBeDefined()
    await expectFits(page)
    await page.getByLabel("Your PIN").fill(pin)
    await page.keyboard.press("Enter")
    await expect.poll(() => heading(page)).toBe("Approved")
    expect(await app.resume(callId)).toMatchObject({ success: true })
    expect(existsSync(join(workspace, "notes.md"))).toBe(true)
    expect(problems).toEqual([])
  })

  test("medium risk without a PIN and high risk are not approved here, but rejected", async () => {
    const { app, medium, high, phone, linkTo } = await opening()
    for (const [callId, sentence] of [
      [await medium(), "Medium risk needs a PIN, and you have none."],
      [await high(), "What has high risk is approved in the console only."],
    ] as const) {
      const { page, problems } = await phone()
      await page.goto(await linkTo(callId))
      await page.getByText(sentence).waitFor()
      expect(await page.getByRole("button").allInnerTexts()).toEqual(["Reject"])
      expect(await page.getByRole("link", { name: "Open the console" }).getAttribute("href")).toBe(`/inbox/${callId}`)
      await expectFits(page)
      await press(page, "Reject")
      await expect.poll(() => heading(page)).toBe("Rejected")
      expect(await app.resume(callId)).toMatchObject({ code: "approval_rejected" })
      expect(problems).toEqual([])
    }
  })

  test("what changed while the page was open is not answered, and the page says who was first", async () => {
    const { app, medium, low, phone, linkTo } = await opening()
    await app.pins.set("pat", pin, "pat")
    const edited = await medium()
    const { page, problems } = await phone()
    await page.goto(await linkTo(edited))
    await app.approvals.answer(edited, { kind: "edit", input: { path: "other.md", content: "x" } }, "sue", 1)
    await app.resume(edited, { waitMs: 0 })
    await page.getByLabel("Your PIN").fill(pin)
    await press(page, "Approve once")
    await expect.poll(() => heading(page)).toBe("It has changed")
    await page.getByText("Sue Ito edited the input.").waitFor()
    expect(await app.approvals.show(edited)).toMatchObject({ revision: 2 })
    const taken = await low()
    await page.goto(await linkTo(taken))
    await app.approvals.answer(taken, { kind: "reject" }, "sue", 1)
    await press(page, "Approve once")
    await expect.poll(() => heading(page)).toBe("It no longer waits")
    await page.getByText("Sue Ito rejected it just now, before this link was used.").waitFor()
    expect(problems).toEqual([])
  })

  test.each(["light", "dark"] as const)("axe finds nothing on the pages, %s", async (colorScheme) => {
    const { app, low, medium, high, phone, linkTo, submit } = await opening()
    await app.pins.set("pat", pin, "pat")
    const { callId: question } = await submit("ask_user", { question: "Which colour?", options: ["red", "blue"] })
    const { page, problems } = await phone({ colorScheme, javaScriptEnabled: true })
    const links = await Promise.all([await low(), await medium(), await high(), question].map((id) => linkTo(id)))
    for (const address of [...links, links[0]!.replace(/.{5}$/, "wrong")]) {
      await page.goto(address)
      expect(await axeViolations(page)).toEqual([])
    }
    expect(problems).toEqual([])
  })

  test("a question is answered with one of its options, in Chinese, in the dark, at 360 pixels", async () => {
    const { app, submit, phone, linkTo } = await opening()
    const { callId } = await submit("ask_user", { question: "Which colour?", options: ["red", "blue"] })
    const viewport = { width: 360, height: 740 }
    const { page, problems } = await phone({ locale: "zh-CN", colorScheme: "dark", viewport })
    await page.goto(await linkTo(callId))
    expect(await page.locator("html").getAttribute("lang")).toBe("zh-CN")
    const surface = await page.evaluate<string>("getComputedStyle(document.querySelector('form')).backgroundColor")
    expect(surface).toBe("rgb(21, 25, 24)")
    await expectFits(page)
    await page.getByLabel("blue").check()
    await press(page, "答复")
    await expect.poll(() => heading(page)).toBe("已答复")
    expect(JSON.stringify(await app.resume(callId))).toContain("blue")
    expect(problems).toEqual([])
  })
})
