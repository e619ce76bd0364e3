import { afterAll, describe, expect, test } from "vitest"
import { modelOf } from "../../src/agents/testing/played-model.ts"
import { sampleMaker } from "../../src/org/sample.ts"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("the first five minutes", () => {
  test("a call runs, another waits, is approved, its story is read, and an agent is talked to; the list counts along", async () => {
    const { app, url, signIn } = await openConsole({}, { models: { played: modelOf({ say: "Hello." }) } })
    const { page, problems } = await signIn("me")
    await page.getByText("0 of 6 done").waitFor()
    await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    await page.getByText("1 of 6 done").waitFor()

    await page.goto(`${url}/tools?tool=run_command&agent=dev`)
    await page.locator("[data-fields] textarea").first().fill("ls nowhere")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("link", { name: "Answer it in the inbox" }).click()
    await page.getByRole("heading", { name: "Run a command" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve/ }).click()
    await page.getByRole("log").getByText("nowhere").waitFor()
    await page.getByText("It has ended. exit 2").waitFor()

    await page.getByRole("link", { name: "Open in the audit log" }).click()
    await page.getByRole("heading", { name: "run_command by dev" }).waitFor()
    await page.goto(`${url}/inbox`)
    await page.getByText("4 of 6 done").waitFor()
    await page.getByRole("link", { name: "Begin a conversation" }).click()
    await page.getByRole("textbox", { name: "Message" }).fill("Hello.")
    await page.keyboard.press("Enter")
    await page.locator('[data-conversation][data-state="done"]').waitFor()
    await page.goto(`${url}/inbox`)
    await page.getByText("5 of 6 done").waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  test("on a phone a tool from the end of the list opens at its beginning", async () => {
    const { url, signIn } = await openConsole()
    const { page } = await signIn("me", { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true })
    await page.goto(`${url}/tools?agent=dev`)
    await page.getByRole("link", { name: /^write_file/ }).click()
    await page.locator("#tool-name").waitFor()
    await expect
      .poll(() => page.locator("#tool-name").evaluate((name) => name.getBoundingClientRect().top))
      .toBeGreaterThan(0)
    await expect
      .poll(() => page.locator("#tool-name").evaluate((name) => name.getBoundingClientRect().top))
      .toBeLessThan(400)
  })

  test("the sample is removed only after a question that says what stays, and nothing of it waits then", async () => {
    const { app, signIn } = await openConsole()
    const by = { kind: "person", id: sampleMaker } as const
    await app.org.createRole({ name: "tester", rolePrompt: "You test.", toolGroups: ["workspace"] }, by)
    await app.org.createAgent({ id: "tess", role: "tester" }, by)
    const waits = app.call({ agentId: "tess", tool: "write_file", input: { path: "notes.md", content: "x" } })
    const { page, problems } = await signIn("me")
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    const button = page.getByRole("button", { name: "Remove the sample…" })
    const dialog = page.getByRole("dialog", { name: "Remove the sample?" })
    await button.click()
    await dialog.getByText("Stays:").waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "detached" })
    expect(app.org.findAgent("tess")).toMatchObject({ status: "active" })

    await button.click()
    await dialog.getByRole("button", { name: "Remove the sample" }).click()
    await page.getByText("The sample is gone.").waitFor()
    await page.getByText("Your first five minutes").waitFor()
    await page.getByText("Call read_file as any agent.").waitFor()
    await page.getByText("0 waiting", { exact: true }).waitFor()
    expect(await waits).toMatchObject({ success: false })
    expect(problems).toEqual([])
  }, 60_000)

  test("a link that does not work is replaced by pasting the next one over it", async () => {
    const { app, url, signIn } = await openConsole()
    const { context } = await signIn("pat")
    await context.clearCookies()
    const page = await context.newPage()
    await page.goto(`${url}/signin#used-up`)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "This link does not work" }).waitFor()
    const { link } = await app.signIn.createLink({ person: "pat", isMachineUser: false })
    await page.goto(`${url}/signin#${link}`)
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.waitForURL(/inbox/)
  })
})

describe.skipIf(!hasBrowser)("what was answered", () => {
  test("is taken back for 30 seconds where it was remembered, and the next call asks again", async () => {
    const { app, signIn } = await openConsole()
    app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
    const { page, problems } = await signIn()
    const send = { agentId: "dev", tool: "send", input: {}, sessionId: "s1" }
    const first = app.call(send)
    await page.locator("#card-title").waitFor()
    await page.getByRole("radiogroup", { name: "Remember" }).getByText("This tool, this session").click()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve and remember/ }).click()
    expect(await first).toMatchObject({ success: true })
    expect(await app.call(send)).toMatchObject({ success: true })

    await page.getByRole("button", { name: /^Undo/ }).click()
    await page.getByText("The next such call asks again.").waitFor()
    expect(await app.approvals.grants()).toEqual([])
    const again = app.call(send)
    await until(async () => (await app.approvals.list()).length === 1, "it asks again")
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "reject" }, "sue")
    await again
    expect(problems).toEqual([])
  }, 60_000)

  test("runs when its caller asks again, where nobody waits for it any more", async () => {
    const { submit, signIn } = await openConsole()
    await submit("write_file", { path: "notes.md", content: "x" })
    const { page } = await signIn()
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Approve/ }).click()
    await page.getByText("It runs when they ask for it again").waitFor()
  })

  test("a result that is held is released from the playground, without what was redacted", async () => {
    const { app, url, signIn } = await openConsole()
    const result = () => ({ key: "s3cret", city: "Oslo" })
    app.registry.register(tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: result })) // prettier-ignore
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/tools?tool=leak&agent=dev`)
    await page.locator("#tool-name").waitFor()
    await page.keyboard.press("Control+Enter")
    await page.getByRole("heading", { name: "The result is held", exact: true }).waitFor()
    await page.getByRole("link", { name: "Answer it in the inbox" }).click()
    await page.getByLabel(/Path to redact/).fill("/key")
    await page.keyboard.press("Enter")
    await page.getByText("[redacted]").waitFor()
    await page.locator("#card-title").click()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Release with 1 value redacted/ }).click()
    await page.getByText("You released it.").waitFor()

    await page.getByRole("link", { name: "Tools" }).click()
    await page.getByRole("heading", { name: "Ran, and its result was released" }).waitFor()
    await page.getByText("Oslo").waitFor()
    expect(await page.locator("body").innerText()).not.toContain("s3cret")
    expect(problems).toEqual([])
  }, 60_000)
})
