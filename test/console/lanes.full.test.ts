import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

const write = (path: string, content = "x") => ({ agentId: "dev", tool: "write_file", input: { path, content } })

describe.skipIf(!hasBrowser)("beside what waits", () => {
  test("a refused call says why and what would change it, and a suggestion becomes a rule", async () => {
    const { app, signIn } = await openConsole({ rules: [{ deny: "delete_file", because: "Nothing is deleted here." }] })
    await app.call({ agentId: "dev", tool: "delete_file", input: { path: "old.txt" } })
    for (const name of ["a", "b", "c", "d", "e"]) {
      const running = app.call(write("notes.md", name))
      await until(async () => (await app.approvals.list()).length === 1, "it waits")
      const [item] = await app.approvals.list()
      await app.approvals.answer(item!.callId, { kind: "approve" }, "pat")
      expect(await running).toMatchObject({ success: true })
    }
    const { page, problems } = await signIn("me")
    await page.getByRole("button", { name: /delete_file/ }).click()
    const why = page.getByRole("dialog", { name: "delete_file by dev" })
    await why.getByText("Nothing is deleted here.").waitFor()
    await why.getByText("What would change it").waitFor()
    await why.getByRole("button", { name: "Leave it" }).click()
    await why.waitFor({ state: "detached" })

    await page.getByText("5 yes, never no:").waitFor()
    await page.getByRole("button", { name: "Make it a rule…" }).click()
    const dialog = page.getByRole("dialog", { name: "Make it a rule?" })
    await dialog.getByText("write_file", { exact: true }).waitFor()
    await dialog.getByLabel("Why, for those who read the rules").fill("Notes are harmless.")
    await dialog.getByRole("button", { name: "Add the rule" }).click()
    await page.getByText("The rule counts from now on.").waitFor()
    expect(app.rules.list()).toContainEqual(expect.objectContaining({ because: "Notes are harmless." }))
    expect(await app.call(write("notes.md", "f"))).toMatchObject({ success: true })
    expect(problems).toEqual([])
  })

  test("the digest says what happened since somebody last looked", async () => {
    const { app, url, signIn } = await openConsole()
    app.registry.register(tool({ name: "look", effect: "read", execute: () => "seen" }))
    const { context, page } = await signIn()
    expect(await page.locator("[data-digest]").count()).toBe(0)
    await app.call({ agentId: "dev", tool: "look", input: {} })
    await context.addInitScript("localStorage.setItem('qm-last-visit', String(Date.now() - 3_600_000))")
    const later = await context.newPage()
    await later.goto(`${url}/inbox`)
    await later
      .locator("[data-digest]", { hasText: "While you were away, 1 h: 1 ran, 0 waited, 0 were refused" })
      .waitFor()
    await later.getByRole("button", { name: "Close the digest" }).click()
    await later.locator("[data-digest]").waitFor({ state: "detached" })
  })
})

describe.skipIf(!hasBrowser)("one key away", () => {
  test("everyone is frozen with a reason, and thawed; the palette leads to pages and to what waits", async () => {
    const { app, url, signIn } = await openConsole()
    const { page, problems } = await signIn()
    const list = { agentId: "dev", tool: "list_files", input: { path: "." } }
    await page.getByText("Nothing waits for you").first().waitFor()
    await page.keyboard.press("Shift+F")
    const dialog = page.getByRole("dialog", { name: "Freeze everyone?" })
    await dialog.getByLabel("Reason, for those who look later").fill("Something is odd.")
    expect(app.frozen()).toEqual([])
    await dialog.getByRole("button", { name: "Freeze" }).click()
    const strip = page.locator('[data-frozen="everyone"]', { hasText: "Something is odd." })
    await strip.waitFor()
    expect(await app.call(list)).toMatchObject({ code: "frozen" })
    await strip.getByRole("button", { name: "Thaw everyone" }).click()
    await strip.waitFor({ state: "detached" })
    expect(await app.call(list)).toMatchObject({ success: true })

    await dialog.waitFor({ state: "detached" })
    await page.keyboard.press("Control+k")
    await page.getByRole("textbox", { name: "Go to…" }).fill("audit")
    await page.getByRole("dialog").locator("[data-selected]", { hasText: "Audit" }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(`${url}/audit`)
    // While the palette closes, its field still takes the keys.
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const running = app.call(write("found.md"))
    await until(async () => (await app.approvals.list()).length === 1, "it waits")
    const [item] = await app.approvals.list()
    await page.keyboard.press("Control+k")
    await page.getByRole("textbox", { name: "Go to…" }).fill("found.md")
    await page.getByRole("dialog").getByText("Change found.md").click()
    await page.waitForURL(`${url}/inbox/${item!.callId}`)
    expect(await app.approvals.list()).toHaveLength(1)
    await app.approvals.answer(item!.callId, { kind: "reject" }, "pat")
    await running
    expect(problems).toEqual([])
  })
})
