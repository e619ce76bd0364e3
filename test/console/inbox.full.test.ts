import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, expectGone, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

const write = (path: string) => ({ agentId: "dev", tool: "write_file", input: { path, content: "hello\n" } })
const approve = { name: /^Approve/ }

describe.skipIf(!hasBrowser)("the inbox in a real browser", () => {
  test("a call that waits appears by itself, is approved by a click, runs, and is gone", async () => {
    const { app, workspace, signIn } = await openConsole()
    const { page, problems } = await signIn()
    await page.getByText("Nothing waits for you").first().waitFor()
    const running = app.call({ ...write("notes.md"), intent: "I keep notes." })
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await page.getByText("I keep notes.").waitFor()
    await wakeUp(page)
    await page.getByRole("button", approve).click()
    expect(await running).toMatchObject({ success: true })
    expect(readFileSync(join(workspace, "notes.md"), "utf8")).toBe("hello\n")
    await expectGone(page, (await running).callId)
    expect(problems).toEqual([])
  })

  test("an input is edited at approval, and the call runs with the change", async () => {
    const { app, workspace, signIn } = await openConsole()
    const { page, problems } = await signIn()
    const running = app.call(write("first.md"))
    await page.getByRole("heading", { name: "Change first.md" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Edit/ }).click()
    await page.getByLabel("path", { exact: false }).first().fill("second.md")
    await page.locator("form.edit button[type=submit]").click()
    await page.getByRole("heading", { name: "Change second.md" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", approve).click()
    expect(await running).toMatchObject({ success: true })
    expect([existsSync(join(workspace, "first.md")), existsSync(join(workspace, "second.md"))]).toEqual([false, true])
    expect(problems).toEqual([])
  })

  test("an edit of a call that nobody waits for says when it is checked, with the new input, and comes back", async () => {
    const { app, signIn } = await openConsole()
    const { page, problems } = await signIn()
    await app.call(write("first.md"), { waitMs: 0 })
    await page.getByRole("heading", { name: "Change first.md" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Edit/ }).click()
    await page.getByLabel("path", { exact: false }).first().fill("second.md")
    await page.locator("form.edit button[type=submit]").click()
    const said = "You edited it. It is checked and decided again when its caller comes back for it, within 10 minutes"
    await page.getByRole("status").filter({ hasText: said }).waitFor()
    await page.locator(".changes ins", { hasText: "second.md" }).waitFor()
    await page.locator(".inputline summary", { hasText: "path second.md" }).waitFor()
    await app.call(write("first.md"), { waitMs: 0 })
    await page.getByRole("heading", { name: "Change second.md" }).waitFor()
    await page.getByRole("status").filter({ hasText: "Now revision 2." }).waitFor()
    expect(problems).toEqual([])
  })

  test("a call that is asked again says who approved what and what has changed since", async () => {
    const { app, workspace, signIn } = await openConsole()
    const { page } = await signIn()
    await app.call(write("notes.md"), { waitMs: 0 })
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "approve" }, "sue")
    writeFileSync(join(workspace, "notes.md"), "meanwhile\n")
    await app.call(write("notes.md"), { waitMs: 0 })
    const said = "Now revision 2. sue approved revision 1. Since then notes.md has changed."
    await page.getByRole("status").filter({ hasText: said }).waitFor()
  })

  test("a value of a held result is redacted, and the agent gets the rest", async () => {
    const { app, signIn } = await openConsole()
    const result = () => ({ key: "s3cret", city: "Oslo" })
    app.registry.register(tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: result })) // prettier-ignore
    const { page } = await signIn()
    const running = app.call({ agentId: "dev", tool: "leak", input: {} })
    await page.getByRole("heading", { name: /Release a result/ }).waitFor()
    await page.getByLabel(/Path to redact/).fill("/key")
    await page.keyboard.press("Enter")
    await wakeUp(page)
    await page.getByRole("button", { name: /^Release/ }).click()
    const ended = await running
    expect(ended.result).toMatchObject({ city: "Oslo" })
    expect(JSON.stringify(ended)).not.toContain("s3cret")
  })

  test("of two people who answer at once one counts, and the other is told who was first", async () => {
    const { app, signIn } = await openConsole()
    const running = app.call(write("one.md"))
    const [pat, sue] = [await signIn("pat"), await signIn("sue")]
    for (const { page } of [pat, sue]) await page.getByRole("heading", { name: "Change one.md" }).waitFor()
    await wakeUp(sue.page)
    await Promise.all(
      [pat, sue].map(({ page }) =>
        page
          .getByRole("button", approve)
          .click({ timeout: 2000 })
          .catch(() => {}),
      ),
    )
    const { callId } = await running
    const answers = (await app.audit.show(callId)).flatMap((entry) => (entry.kind === "answered" ? [entry] : []))
    expect(answers).toHaveLength(1)
    const isPat = answers[0]!.by === "pat"
    const strip = ({ page }: typeof pat, hasText: string | RegExp) =>
      page.locator("[data-strip]", { hasText }).waitFor()
    await strip(isPat ? pat : sue, "You approved it.")
    await strip(isPat ? sue : pat, isPat ? /Pat Lee (was first|approved it)/ : /Sue Ito (was first|approved it)/)
  })

  test("when the server stops and starts again, the page reconnects by itself and nothing is lost", async () => {
    const { app, signIn, restart } = await openConsole()
    const { page } = await signIn()
    const before = app.call(write("before.md"))
    await page.getByRole("heading", { name: "Change before.md" }).waitFor()
    let during: Promise<unknown> | undefined
    await restart(async () => {
      during = app.call({ agentId: "dev", tool: "ask_user", input: { question: "Still there?" } })
      await until(async () => (await app.approvals.list()).length === 2, "both wait")
    })
    await page.getByText("Still there?").first().waitFor({ timeout: 20_000 })
    expect(await page.locator("a[data-call]").count()).toBe(2)
    for (const { callId } of await app.approvals.list()) await app.approvals.answer(callId, { kind: "reject" }, "pat")
    await Promise.all([before, during])
  })

  test("eight tabs of one browser are all live", async () => {
    const { app, signIn, url } = await openConsole()
    const { page, context } = await signIn()
    const pages = [page]
    while (pages.length < 8) {
      const next = await context.newPage()
      await next.goto(`${url}/inbox`)
      pages.push(next)
    }
    const running = app.call(write("tabs.md"))
    for (const each of pages) await each.getByText("tabs.md").first().waitFor({ timeout: 15_000 })
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "reject" }, "pat")
    await running
    for (const each of pages) await expectGone(each, item!.callId)
  })

  test("an id that never was is told apart from a call that no longer waits", async () => {
    const { app, url, submit, signIn } = await openConsole()
    await submit("write_file", { path: "notes.md", content: "x" })
    const [waiting] = await app.approvals.list()
    await app.approvals.answer(waiting!.callId, { kind: "reject" }, "sue")
    const { page, problems } = await signIn()
    await page.goto(`${url}/inbox/nope`)
    await page.getByRole("heading", { name: "There is no such call" }).waitFor()
    expect(await page.getByRole("link", { name: "Open in the audit log" }).count()).toBe(0)
    await page.goto(`${url}/inbox/${waiting!.callId}`)
    await page.getByRole("heading", { name: "This call no longer waits" }).waitFor()
    await page.getByRole("link", { name: "Open in the audit log" }).waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  test("on a phone nothing is wider than the screen, in the list and in the card", async () => {
    const { submit, signIn } = await openConsole()
    await submit("run_command", { command: `echo ${"a-long-word-".repeat(40)} && rm -r old | tee log` })
    await submit("write_file", { path: "a/very/long/path/".repeat(5) + "notes.md", content: "x\n".repeat(5) })
    const { page } = await signIn("pat", { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true })
    const fits = () => page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    await page.locator("a[data-call]").first().waitFor()
    expect(await fits()).toBe(true)
    await page.locator("a[data-call]").first().click()
    await page.locator("#card-title").waitFor()
    expect(await fits()).toBe(true)
  })

  test("everything is done with the keyboard alone", async () => {
    const { app, signIn } = await openConsole()
    const send = { agentId: "dev", tool: "send", input: {} }
    app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
    const calls = [app.call(write("one.md")), app.call(send)]
    await until(async () => (await app.approvals.list()).length === 2, "both wait")
    const { page } = await signIn()
    await page.locator("#card-title").waitFor()
    const title = () => page.locator("#card-title").innerText()
    const first = await title()
    await page.keyboard.press("j")
    await expect.poll(title).not.toBe(first)
    await wakeUp(page)
    await page.keyboard.press("a")
    const [one] = await Promise.race(calls.map(async (call, place) => [place, await call] as const))
    await expect.poll(async () => (await app.approvals.list()).length).toBe(1)
    await wakeUp(page)
    await page.keyboard.press("k")
    await wakeUp(page)
    await page.keyboard.press("n")
    await page.keyboard.type("Not now.")
    await page.keyboard.press("Escape")
    await page.keyboard.press("r")
    expect(await calls[1 - one]).toMatchObject({
      code: "approval_rejected",
      error: expect.stringContaining("Not now."),
    })
  })
})
