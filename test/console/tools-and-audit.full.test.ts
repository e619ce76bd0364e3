import { afterAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/schema/define-tool.ts"
import { tool } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("the playground", () => {
  test("shows a wrong input at its field, follows a call that waits across a reload, and leads to its record", async () => {
    const { app, url, signIn } = await openConsole()
    const { page, problems } = await signIn()
    await page.goto(`${url}/tools?tool=run_command&agent=dev`)
    await page.locator("#tool-name").waitFor()
    await page.keyboard.press("Control+Enter")
    await page.getByText("Missing required parameter: command", { exact: true }).waitFor()

    await page.locator("[data-fields] textarea").first().fill("echo it works")
    // Explaining changes nothing, so it may be asked for again.
    await expect
      .poll(
        async () => {
          await page.keyboard.press("Control+e")
          return page.getByRole("heading", { name: "Would ask a person", exact: true }).isVisible()
        },
        { timeout: 30_000, interval: 1000 },
      )
      .toBe(true)
    expect(await app.approvals.list()).toEqual([])

    await page.keyboard.press("Control+Enter")
    await page.getByRole("heading", { name: "Waiting for a person" }).waitFor()
    await page.reload()
    const toCard = page.getByRole("link", { name: "Answer it in the inbox" })
    const [waiting] = await app.approvals.list()
    expect(await toCard.getAttribute("href")).toBe(`/inbox/${waiting!.callId}`)
    await app.approvals.answer(waiting!.callId, { kind: "approve" }, "sue")
    await page.getByRole("heading", { name: "Ran after a person agreed" }).waitFor()
    await page.getByText("it works", { exact: true }).waitFor()

    await page.getByRole("link", { name: "Open in the audit log" }).click()
    await page.getByRole("heading", { name: "run_command by dev" }).waitFor()
    await page.getByText("sue: approved").waitFor()
    expect(problems).toEqual([])
  }, 60_000)

  test("begins with the agent that has the most tools, and shows tool and agent again after the inbox", async () => {
    const { app, url, signIn } = await openConsole({
      org: {
        people: [{ id: "pat", name: "Pat Lee", roles: ["lead"] }],
        roles: [
          { name: "analyst", toolGroups: ["workspace"] },
          { name: "developer", toolGroups: ["workspace", "command"] },
        ],
        agents: [
          { id: "ana", role: "analyst" },
          { id: "dev", role: "developer" },
        ],
      },
    })
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/tools`)
    const agent = page.getByLabel("Call as", { exact: true })
    await expect.poll(() => agent.inputValue()).toBe("dev")
    await page
      .getByRole("navigation", { name: "Tools" })
      .getByRole("link", { name: /^run_command/ })
      .click()
    await page.locator("[data-fields] textarea").first().fill("echo it works")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("link", { name: "Answer it in the inbox" }).click()
    await page.reload()
    await page.getByRole("link", { name: "Tools" }).click()
    await page.getByRole("heading", { name: "Waiting for a person" }).waitFor()
    const [waiting] = await app.approvals.list()
    await app.approvals.answer(waiting!.callId, { kind: "approve" }, "pat")
    await page.getByRole("heading", { name: "Ran after a person agreed" }).waitFor()
    expect(await page.locator("#tool-name").innerText()).toContain("run_command")
    expect(await agent.inputValue()).toBe("dev")

    await agent.selectOption("ana")
    await page.goto(`${url}/tools`)
    await expect.poll(() => agent.inputValue()).toBe("ana")
    expect(problems).toEqual([])
  }, 60_000)

  test.each(["en", "zh-CN"])("cuts no name and no text at 1280 pixels, in %s", async (locale) => {
    const { url, signIn } = await openConsole()
    const { page } = await signIn("pat", { locale, viewport: { width: 1280, height: 800 } })
    const cut = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll("#main *")]
        .filter((part) => !part.closest(".vh") && part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1)
        .filter((part) => getComputedStyle(part).display !== "inline" && getComputedStyle(part).overflowX !== "auto")
        .map((part) => part.outerHTML.slice(0, 200))`)
    for (const tool of ["edit_file", "run_command", "get_workspace_info"]) {
      await page.goto(`${url}/tools?tool=${tool}&agent=dev`)
      await page.locator("#tool-name").waitFor()
      expect(await cut(), tool).toEqual([])
    }
    for (const path of ["/tools", "/tools/servers", "/organisation/people"]) {
      await page.goto(`${url}${path}`)
      await page.locator("h1").first().waitFor()
      expect(await cut(), path).toEqual([])
    }
  })

  test("offers agents that change the organisation only to people who may manage", async () => {
    const { url, signIn } = await openConsole()
    for (const [person, isOffered] of [
      ["pat", false],
      ["me", true],
    ] as const) {
      const { page } = await signIn(person)
      await page.goto(`${url}/tools`)
      const root = page.getByLabel("Call as").locator('option[value="root"]')
      await root.waitFor({ state: "attached" })
      expect(await root.isDisabled(), person).toBe(!isOffered)
    }
  }, 60_000)
})

describe.skipIf(!hasBrowser)("the audit page", () => {
  test("offers a call again without what its record has only masked", async () => {
    const { app, url, signIn } = await openConsole()
    const input = z.object({ user: z.string(), password: z.string() })
    const about = { name: "enter", group: "test", description: "Sign in.", effect: "read" } as const
    app.registry.register(defineTool({ ...about, input, execute: () => "welcome" }))
    const given = { user: "ana", password: "correct horse 7" }
    const { callId } = await app.call({ agentId: "dev", tool: "enter", input: given })
    const { page, problems } = await signIn()
    await page.goto(`${url}/audit/${callId}`)
    await page.getByRole("link", { name: "Call again…" }).click()
    await page.getByText("Left empty, because the record has it only masked or cut: password.").waitFor()
    const fields = page.locator("[data-fields] textarea, [data-fields] input")
    const values = () => fields.evaluateAll((all) => all.map((each) => (each as { value?: string }).value))
    await expect.poll(values).toEqual(["ana", ""])
    expect(problems).toEqual([])
  }, 60_000)

  test("keeps its filters in the address, shows new calls when asked, and verifies", async () => {
    const { app, url, signIn } = await openConsole()
    app.registry.register(tool({ name: "look", effect: "read", execute: () => "seen" }))
    await app.call({ agentId: "dev", tool: "look", input: {} })
    await app.call({ agentId: "dev", tool: "read_file", input: { path: "no/such.txt" } })
    const { page, problems } = await signIn()
    await page.goto(`${url}/audit`)
    const rows = page.locator("main tbody tr")
    await expect.poll(() => rows.count()).toBe(2)
    await page.locator("figure canvas").first().waitFor()

    await page.getByLabel("Tool", { exact: true }).selectOption("look")
    await page.waitForURL(/tool=look/)
    await expect.poll(() => rows.count()).toBe(1)
    await app.call({ agentId: "dev", tool: "look", input: {} })
    await page.getByRole("button", { name: "1 new call, show it" }).click()
    await expect.poll(() => rows.count()).toBe(2)

    await page.getByRole("button", { name: "Verify now" }).click()
    await page.getByText("Verified").waitFor()
    await rows.first().getByRole("link").click()
    await page.getByText("Nobody had to be asked.").waitFor()
    await page.getByText("The role developer of dev has a group with this tool, and nothing hid it.").waitFor()
    await page.getByText("look has the effect read, which runs unasked. No guard, limit or rule objected.").waitFor()

    await page.setViewportSize({ width: 1024, height: 600 })
    const edge = (part: string, side: "top" | "bottom") =>
      page.locator(part).evaluate((element, name) => element.getBoundingClientRect()[name], side)
    await expect.poll(async () => (await edge("aside", "top")) - (await edge("main .steps", "bottom"))).toBeGreaterThanOrEqual(0) // prettier-ignore
    expect(problems).toEqual([])
  }, 60_000)

  test("on a phone shows the calls first, and the charts when asked", async () => {
    const { app, url, signIn } = await openConsole()
    await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    const { page, problems } = await signIn("pat", { viewport: { width: 390, height: 844 }, hasTouch: true })
    await page.goto(`${url}/audit`)
    await page.locator("main tbody tr").waitFor()
    expect(await page.locator("figure").count()).toBe(0)
    await page.getByRole("button", { name: "Charts" }).click()
    await page.locator("figure canvas").first().waitFor()
    expect(problems).toEqual([])
  }, 60_000)
})
