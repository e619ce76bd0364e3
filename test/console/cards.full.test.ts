import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

const write = (path: string, content = "hello") => ({ agentId: "dev", tool: "write_file", input: { path, content } })
const isShown = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()

describe.skipIf(!hasBrowser)("a card", () => {
  test("of which a yes would not count is still rejected", async () => {
    const { app, signIn } = await openConsole({
      rules: [{ ask: "write_file", approvers: { role: "security", count: 1 }, because: "Security agrees." }],
    })
    const { page } = await signIn()
    const running = app.call(write("notes.md"))
    await isShown(page, "Your yes would not count here")
    await wakeUp(page)
    expect(await page.getByRole("button", { name: /^Approve/ }).isDisabled()).toBe(true)
    expect(await page.getByRole("button", { name: /^Edit/ }).isDisabled()).toBe(false)
    await page.getByRole("button", { name: /^Reject/ }).click()
    expect(await running).toMatchObject({ code: "approval_rejected" })
  })

  test("shows characters that hide or turn text around as codes", async () => {
    const { submit, signIn } = await openConsole()
    await submit("write_file", { path: "a\u202Etxt.md", content: "safe\u202E\nevil\u200B\n" })
    const { page } = await signIn()
    await page.getByRole("heading", { name: "Change a\\u{202e}txt.md" }).waitFor()
    await page.locator(".diff td.add", { hasText: "evil\\u{200b}" }).waitFor()
    await page.locator(".inputline summary").click()
    await page.locator(".inputline pre", { hasText: "evil\\u200b" }).waitFor()
    expect(await page.locator("body").innerText()).not.toMatch(/[\u202E\u200B]/)
  })

  test("marks tasks, sessions and reasons as said by somebody, and shows their hidden characters as codes", async () => {
    const { app, url, submit, signIn } = await openConsole()
    const said = { taskId: "T\u202E1", sessionId: "s\u200B1" }
    const { callId } = await app.call({ agentId: "dev", tool: "list_files", input: { path: "." }, ...said })
    await submit("write_file", { path: "a.md", content: "x" }, said)
    await app.setMode({ agentId: "dev", sessionId: "s\u200B`1", mode: "edits", by: "pat" })
    const { page, problems } = await signIn()
    const shown = async (selector: string, text: string) =>
      expect(await page.locator(selector, { hasText: text }).first().innerText()).toContain(text)
    await shown(".facts", "task T\\u{202e}1 said by the caller")
    await shown("[data-mode=edits]", "Session: s\\u{200b}`1 said by the caller")
    expect(await page.locator("body").innerText()).not.toMatch(/[\u202E\u200B]/)
    await app.freeze({ agentId: "dev", by: "sue", because: "It lied.\u202E" })
    await shown("[data-frozen=dev]", "It lied.\\u{202e}")
    await shown("[data-frozen=dev]", "said by sue")
    await page.goto(`${url}/audit/${callId}`)
    await shown(".facts", "task T\\u{202e}1 said by the caller")
    await shown(".kv", "s\\u{200b}1 said by the caller")
    expect(await page.locator("body").innerText()).not.toMatch(/[\u202E\u200B]/)
    expect(problems).toEqual([])
  })

  test("says for how long a yes is remembered, as chosen, and that it could not be taken back", async () => {
    const { app, signIn } = await openConsole()
    const { page, problems } = await signIn()
    const running = app.call({ agentId: "dev", tool: "move_file", input: { from: "a.md", to: "b.md" } })
    await page.getByRole("heading", { name: "Change 2 files" }).waitFor()
    await page.locator(".chip", { hasText: "30 minutes" }).click()
    await isShown(page, /touching no more than: write a.md, write b.md in the folder .*, for 30 minutes\./)
    await page.locator(".pick select").selectOption("240")
    await isShown(page, /, for 240 minutes\./)
    await page.route("**/v1/grants/*", (route) => route.abort())
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve and remember/ }).click()
    await running
    await page.getByRole("button", { name: /^Undo/ }).click()
    await isShown(page, "It is still remembered.")
    await page.unroute("**/v1/grants/*")
    await page.getByRole("button", { name: "Try again" }).click()
    await isShown(page, "Taken back.")
    expect(problems).toEqual([])
  })

  test("with a question that is out of view is not declined by a key, which scrolls to it", async () => {
    const { app, signIn } = await openConsole()
    const { page } = await signIn("pat", { viewport: { width: 1000, height: 240 } })
    const running = app.call({ agentId: "dev", tool: "ask_user", input: { question: "Which one?" }, intent: "I ask." })
    await page.locator(".q-t").waitFor({ state: "attached" })
    await wakeUp(page)
    const tops = () =>
      page.evaluate(
        "[document.querySelector('[data-found]').getBoundingClientRect().top, document.querySelector('[data-card-scroll]').getBoundingClientRect().bottom]",
      ) as Promise<[number, number]>
    const [question, view] = await tops()
    expect(question).toBeGreaterThan(view)
    await page.keyboard.press("r")
    await isShown(page, "It was out of view.")
    expect(await app.approvals.list()).toHaveLength(1)
    await page.keyboard.press("r")
    expect(await running).toMatchObject({ success: false })
  })
})

describe.skipIf(!hasBrowser)("the table of calls of one kind", () => {
  test("shows what is the same and what differs, and keeps the answers that did not count", async () => {
    const { app, signIn } = await openConsole()
    const paths = ["ana.md", "bo.md", "cy.md"]
    for (const path of paths) await app.call(write(path), { waitMs: 0 })
    const { page } = await signIn()
    await page.getByRole("heading", { name: "write_file by dev, 3 alike" }).waitFor()
    await page.locator(".alike-same", { hasText: "hello" }).waitFor()
    const yes = (path: string) =>
      page.locator(".alike tbody tr", { hasText: path }).getByRole("button", { name: "Yes" })
    for (const path of paths) await yes(path).click()
    const waiting = await app.approvals.list()
    const idOf = (path: string) => waiting.find(({ input }) => (input as { path: string }).path === path)!.callId
    await page.route(`**/v1/approvals/${idOf("bo.md")}/answer`, (route) => route.abort())
    await page.route(`**/v1/approvals/${idOf("ana.md")}/answer`, async (route) => {
      await app.approvals.answer(idOf("ana.md"), { kind: "reject" }, "sue")
      await route.continue()
    })
    await wakeUp(page)
    await page.getByRole("button", { name: "Send 3 answers" }).click()
    await isShown(page, "Your answer could not be sent.")
    await isShown(page, /was first/)
    expect(await yes("bo.md").getAttribute("aria-pressed")).toBe("true")
    await until(async () => (await app.approvals.list()).length === 1, "two were answered")
    await page.unroute(`**/v1/approvals/${idOf("bo.md")}/answer`)
    await wakeUp(page)
    await page.getByRole("button", { name: "Send 1 answer" }).click()
    await until(async () => (await app.approvals.list()).length === 0, "all were answered")
  })
})

test.skipIf(!hasBrowser)("a tab that was left open tells what happened meanwhile", async () => {
  const { app, signIn } = await openConsole()
  app.registry.register(tool({ name: "look", effect: "read", execute: () => "seen" }))
  const { page } = await signIn()
  await isShown(page, "Nothing waits for you")
  const becomes = (state: string) =>
    page.evaluate(
      `Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" }); document.dispatchEvent(new Event("visibilitychange"))`,
    )
  await becomes("hidden")
  await app.call({ agentId: "dev", tool: "look", input: {} })
  await becomes("visible")
  expect(await page.getByText("While you were away").count()).toBe(0)
  await becomes("hidden")
  await page.evaluate("localStorage.setItem('qm-last-visit', String(Date.now() - 20 * 60_000))")
  await becomes("visible")
  await isShown(page, "While you were away")
})
