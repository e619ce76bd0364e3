import { afterAll, describe, expect, test } from "vitest"
import { tool, until } from "../../src/testing/test-app.ts"
import { axeChecker } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

/** Unfolds everyone and waits until that was painted. */
const drawing = `new Promise((resolve) => {
  [...document.querySelectorAll("button")].find((button) => button.textContent === "Unfold everyone").click()
  const look = () =>
    document.querySelector("[data-agent='a999']") === null
      ? requestAnimationFrame(look)
      : requestAnimationFrame(() => setTimeout(resolve))
  look()
})`

const manager = { kind: "person", id: "me" } as const

describe.skipIf(!hasBrowser)("whoever governs", () => {
  test("sees what a change of a role means before saving, and the agent sees exactly that afterwards", async () => {
    const { app, url, signIn } = await openConsole()
    await app.org.createRole({ name: "tester", toolGroups: ["data"] }, manager)
    await app.org.createAgent({ id: "tess", role: "tester" }, manager)
    const names = () => app.visibleTools("tess").map(({ name }) => name)
    const before = new Set(names())
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/organisation/roles`)
    await page.locator("[data-role='tester']").click()
    await page.locator("[data-group='system']").getByRole("checkbox").check()
    const preview = page.locator("[data-preview='tess']")
    await preview.getByText(/tess gains \d+ tools/).waitFor()
    const gained = await preview.locator("code").allInnerTexts()
    expect(names().length).toBe(before.size)
    await page.getByRole("button", { name: /Save role/ }).click()
    await page.getByText("Saved.").waitFor()
    expect(
      names()
        .filter((name) => !before.has(name))
        .toSorted(),
    ).toEqual(gained.toSorted())
    expect(problems).toEqual([])
  })

  test("is told when a role changed in another tab, keeps what was typed, and writes it over only when asked again", async () => {
    const { app, url, signIn } = await openConsole()
    const { role } = await app.org.createRole(
      { name: "tester", toolGroups: ["data"], rolePrompt: "You test." },
      manager,
    )
    const { page } = await signIn("me")
    await page.goto(`${url}/organisation/roles`)
    await page.locator("[data-role='tester']").click()
    const prompt = page.getByLabel("Prompt")
    await prompt.fill("You test everything.")
    await app.org.updateRole(role.id, { rolePrompt: "You test little." }, manager)
    await page.getByRole("button", { name: /Save role/ }).click()
    await page.getByText("Somebody changed this role meanwhile.").waitFor()
    expect(await prompt.inputValue()).toBe("You test everything.")
    await page.getByRole("button", { name: /Save role/ }).click()
    await page.getByText("Saved.").waitFor()
    expect(app.org.listRoles().find(({ id }) => id === role.id)?.rolePrompt).toBe("You test everything.")
  })

  test("freezes an agent from the tree and thaws it again", async () => {
    const { app, url, signIn } = await openConsole()
    const { page } = await signIn("me")
    await page.goto(`${url}/organisation`)
    await page.locator("[data-agent='dev']").click()
    await app.org.createAgent({ id: "kid", role: "developer", parentId: "dev" }, manager)
    await page.getByRole("button", { name: "Freeze dev and 1 below" }).click()
    await page.locator("[data-agent='dev'][data-activity='frozen']").waitFor()
    await page.locator("[data-agent='kid'][data-activity='frozen']").waitFor()
    const call = (agentId: string) => app.call({ agentId, tool: "list_files", input: {} })
    expect(await call("dev")).toMatchObject({ code: "frozen" })
    expect(await call("kid")).toMatchObject({ code: "frozen" })
    await page.getByRole("button", { name: "Thaw dev" }).click()
    await page.locator("[data-agent='kid']:not([data-activity='frozen'])").waitFor()
    expect(await call("dev")).toMatchObject({ success: true })
    expect(await call("kid")).toMatchObject({ success: true })
  })

  test("sees what another role means for an agent before it is given, and talks to that agent", async () => {
    const { app, url, signIn } = await openConsole()
    await app.org.createRole({ name: "counter", toolGroups: ["data"] }, manager)
    for (const id of ["kim", "lea"]) await app.org.createAgent({ id, role: "developer" }, manager)
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/organisation/agents/kim`)
    await page.getByRole("button", { name: "Change role" }).click()
    await page.getByLabel("Role", { exact: true }).selectOption("counter")
    const change = page.locator("[data-preview='kim']")
    await change.getByText("write_file").waitFor()
    expect(app.org.view("kim")?.role.name).toBe("developer")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await until(async () => app.org.view("kim")?.role.name === "counter", "it has the role")
    for (const id of ["kim", "lea"]) {
      await page.goto(`${url}/organisation/agents/${id}`)
      await page.getByRole("link", { name: "Talk to it" }).click()
      await until(async () => (await page.getByLabel("Talk to").inputValue()) === id, `${id} is chosen`)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
    await page.goto(`${url}/organisation/roles/${app.org.view("lea")!.role.id}`)
    await page.getByText("write_file").first().waitFor({ state: "attached" })
    expect(await page.evaluate("document.documentElement.scrollHeight <= innerHeight")).toBe(true)
    expect(problems).toEqual([])
  })

  test("tries a rule on examples and records, saves it, sees it in why, and removes it", async () => {
    const { app, url, signIn } = await openConsole()
    app.registry.register(
      tool({ name: "send", group: "test", permission: { level: "sensitive" }, execute: () => "sent" }),
    )
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/rules?id=new`)
    await page.getByRole("button", { name: "deny", exact: true }).click()
    await page.getByLabel("Tools", { exact: true }).fill("send")
    await page.getByLabel("Agents", { exact: true }).fill("dev")
    await page.getByLabel("Because", { exact: true }).fill("Nothing is sent today.")
    await page.getByRole("button", { name: "Add an example" }).click()
    await page.locator("[data-outcome='deny']").waitFor()
    await page.getByRole("button", { name: "Try it" }).click()
    await page.getByText("recorded calls tried").waitFor()
    expect(await app.why({ agentId: "dev", tool: "send", input: {} })).toMatchObject({ verdict: "ask" })
    await page.getByRole("button", { name: /Save rule/ }).click()
    await page.getByText("The rule counts from now on.").waitFor()
    expect(await app.why({ agentId: "dev", tool: "send", input: {} })).toMatchObject({ verdict: "deny" })
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    await page.getByRole("button", { name: /Click again/ }).click()
    await page.getByText("The rule is gone.").waitFor()
    expect(await app.why({ agentId: "dev", tool: "send", input: {} })).toMatchObject({ verdict: "ask" })
    expect(problems).toEqual([])
  })

  test("sees a call in the lanes and in the table of the activity while it waits and when it has ended", async () => {
    const { app, url, signIn, submit } = await openConsole()
    const { page } = await signIn("me")
    await page.goto(`${url}/activity`)
    const waiting = await submit("write_file", { path: "a.txt", content: "x" })
    await page.locator(`[data-call='${waiting.callId}'][data-verdict='waits']`).waitFor()
    await page.locator("[data-lane='dev']").waitFor()
    await app.approvals.answer(waiting.callId, { kind: "reject" }, "me")
    await app.resume(waiting.callId)
    await page.locator(`[data-call='${waiting.callId}'][data-verdict='not_approved']`).waitFor()
  })

  test("draws a thousand agents, finds one of them, and moves nothing when one changes", async () => {
    const { app, url, signIn } = await openConsole()
    for (let made = 0; made < 1000; made++)
      await app.org.createAgent(
        { id: `a${made}`, role: "developer", parentId: made < 20 ? "dev" : `a${made % 20}` },
        manager,
      )
    const { page } = await signIn("me")
    await page.goto(`${url}/organisation`)
    const dev = page.locator("[data-agent='dev']")
    await dev.waitFor()
    // The time of the page's own thread: others use this machine too. The first round also compiles what draws.
    const meter = await page.context().newCDPSession(page)
    await meter.send("Performance.enable", { timeDomain: "threadTicks" })
    const spent = async () => {
      const { metrics } = await meter.send("Performance.getMetrics")
      return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value
    }
    const times: number[] = []
    for (let round = 0; round < 6; round++) {
      if (round > 0) await page.getByRole("button", { name: "Fold everyone", exact: true }).click()
      const before = await spent()
      await page.evaluate(drawing)
      times.push((await spent()) - before)
    }
    expect(await page.locator("[data-agent]").count()).toBe(1003)
    console.log(`a thousand agents are drawn in ${times.map(Math.round).join(", ")} ms`)

    await page.locator("[data-agent='a777']").scrollIntoViewIfNeeded()
    const places = () =>
      page.locator("[data-agent]").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y))
    const before = await places()
    await app.freeze({ agentId: "dev", by: "me" })
    await page.locator("[data-agent='a777'][data-activity='frozen']").waitFor()
    expect(await places()).toEqual(before)
    // One that is new above what is looked at pushes nothing away.
    const y = () => page.locator("[data-agent='a777']").evaluate((one) => one.getBoundingClientRect().y)
    const stood = await y()
    await app.org.createAgent({ id: "new", role: "developer", parentId: "a3" }, manager)
    await page.locator("[data-agent='new']").waitFor()
    await until(async () => Math.abs((await y()) - stood) < 2, "it stands where it stood")
    await page.getByLabel("Find an agent").fill("a777")
    await page.locator("[data-agent='a777']").waitFor()
    await until(async () => (await page.locator("[data-agent]").count()) < 10, "only what was found is shown")
  }, 120_000)

  test("an agent, a role or a rule that ends in another tab says so, and what was typed stays", async () => {
    const { app, url, signIn } = await openConsole()
    await app.org.createAgent({ id: "kim", role: "developer" }, manager)
    const { role } = await app.org.createRole({ name: "tester", toolGroups: ["data"] }, manager)
    const { id } = await app.rules.add({ deny: "write_file", because: "Not today." }, "me")
    const { page } = await signIn("me")

    await page.goto(`${url}/organisation/agents/kim`)
    await page.getByRole("button", { name: "Message" }).click()
    const message = page.getByLabel("Message to kim")
    await message.fill("Begin with the tests.")
    await app.org.terminateAgent("kim", manager)
    await page.getByText("This agent has ended meanwhile.").waitFor()
    expect(await message.inputValue()).toBe("Begin with the tests.")
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true)

    await page.goto(`${url}/organisation/roles/${role.id}`)
    await page.getByLabel("Prompt").fill("You test.")
    await app.org.deleteRole(role.id, manager)
    await page.getByText("Somebody has deleted this role meanwhile.").waitFor()
    expect(await page.getByLabel("Prompt").inputValue()).toBe("You test.")

    await page.goto(`${url}/rules?id=${id}`)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByLabel("Because", { exact: true }).fill("Not tomorrow either.")
    await app.rules.remove(id, "me")
    await page.getByText("saving adds it as a new rule").waitFor()
    await page.getByRole("button", { name: /Save rule/ }).click()
    await page.getByText("The rule counts from now on.").waitFor()
    expect(app.rules.list()).toContainEqual(expect.objectContaining({ because: "Not tomorrow either." }))
  })

  test("a rule in shadow shows what it would have changed, and counts once it is saved as a rule", async () => {
    const { app, url, signIn } = await openConsole()
    await app.call({ agentId: "dev", tool: "list_files", input: {} })
    const { page } = await signIn("me")
    await page.goto(`${url}/rules?id=new`)
    await page.getByRole("button", { name: "deny", exact: true }).click()
    await page.getByLabel("Tools", { exact: true }).fill("list_files")
    await page.getByText("Say why").waitFor()
    await page.getByLabel("Because", { exact: true }).fill("Nobody lists.")
    await page.getByRole("button", { name: "Try as shadow" }).click()
    await page.getByText("The rule is tried in shadow.").waitFor()
    await page.locator("[data-pane]").getByRole("row", { name: /dev/ }).waitFor()
    expect(await app.why({ agentId: "dev", tool: "list_files", input: {} })).toMatchObject({ verdict: "allow" })
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("button", { name: /Save rule/ }).click()
    await page.getByText("The rule counts from now on.").waitFor()
    expect(await app.why({ agentId: "dev", tool: "list_files", input: {} })).toMatchObject({ verdict: "deny" })
  })

  test("a suggestion from answers is tried at once, saved, and holds", async () => {
    const { app, url, signIn } = await openConsole()
    const write = (content: string) => ({ agentId: "dev", tool: "write_file", input: { path: "notes.md", content } })
    for (const content of ["a", "b", "c", "d", "e"]) {
      const running = app.call(write(content))
      await until(async () => (await app.approvals.list()).length === 1, "it waits")
      await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "pat")
      await running
    }
    const { page, problems } = await signIn("me")
    await page.goto(`${url}/rules`)
    await page.locator("[data-suggestion='0']").click()
    await page.locator("form").getByText("recorded calls tried").waitFor()
    expect(await page.locator("form tbody tr").count()).toBe(5)
    await page.locator("form [data-outcome='allow']").first().waitFor()
    await page.getByRole("button", { name: /Save rule/ }).click()
    await page.getByText("The rule counts from now on.").waitFor()
    expect(await app.call(write("f"))).toMatchObject({ success: true })
    expect(problems).toEqual([])
  })

  test("of ten thousand rules only those in view are drawn, and one of them is found", async () => {
    const rules = Array.from({ length: 10_000 }, (_, at) => ({ deny: `tool_${at}`, because: `Number ${at}.` }))
    const { url, signIn } = await openConsole({ rules })
    const { page } = await signIn("me")
    await page.goto(`${url}/rules`)
    await page.locator("[data-rule]").first().waitFor()
    await page.getByText("10001 rules").waitFor()
    expect(await page.locator("[data-rule]").count()).toBeLessThan(60)
    await page.getByLabel("Find a rule").fill("Number 7777.")
    await page.getByText("tool_7777").first().waitFor()
    expect(await page.locator("[data-rule]").count()).toBe(1)
  }, 60_000)

  test("goes to agents, roles, rules and calls with Ctrl K", async () => {
    const { app, url, signIn } = await openConsole({ rules: [{ deny: "delete_file", because: "Nothing is deleted." }] })
    const { id = "" } = app.org.listRoles().find(({ name }) => name === "developer") ?? {}
    await app.call({ agentId: "dev", tool: "list_files", input: { path: "." } })
    const { page } = await signIn("me")
    for (const [typed, label, address] of [
      ["dev", "dev", `${url}/organisation/agents/dev`],
      ["develop", "developer", `${url}/organisation/roles/${id}`],
      ["deleted", "deny delete_file", `${url}/rules?id=`],
      ["list_f", "list_files \\.", `${url}/audit/`],
    ] as const) {
      await page.goto(`${url}/tools`)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page.keyboard.press("Control+k")
      await page.getByPlaceholder("Go to…").fill(typed)
      const found = page.locator(".mantine-Spotlight-actionLabel", { hasText: new RegExp(`^${label}$`) })
      await found.click()
      await page.waitForURL((shown) => shown.href.startsWith(address))
    }
  })

  test("with the keyboard alone an agent is frozen and thawed, and a role is given a group", async () => {
    const { app, url, signIn } = await openConsole()
    await app.org.createRole({ name: "tester", toolGroups: ["data"] }, manager)
    await app.org.createAgent({ id: "tess", role: "tester" }, manager)
    const { page } = await signIn("me")
    await page.goto(`${url}/organisation`)
    const tabTo = async (selector: string) => {
      for (let tabs = 0; tabs < 80; tabs++) {
        if (await page.locator(`${selector}:focus`).count()) return
        await page.keyboard.press("Tab")
      }
      throw new Error(`Tab never reaches ${selector}.`)
    }
    await page.locator("[data-agent='tess']").waitFor()
    await tabTo("[data-agent='tess']")
    await page.keyboard.press("Enter")
    await page.locator("[data-panel='tess']").waitFor()
    await page.keyboard.press("f")
    await page.locator("[data-agent='tess'][data-activity='frozen']").waitFor()
    await page.keyboard.press("f")
    await page.locator("[data-agent='tess']:not([data-activity='frozen'])").waitFor()

    await page.goto(`${url}/organisation/roles`)
    await page.locator("[data-role='tester']").waitFor()
    await tabTo("[data-role='tester']")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "tester" }).waitFor()
    await tabTo("[data-group='system'] input")
    await page.keyboard.press("Space")
    await page.locator("[data-preview='tess']").waitFor()
    await page.keyboard.press("Control+s")
    await page.getByText("Saved.").waitFor()
    expect(app.visibleTools("tess").map(({ name }) => name)).toContain("current_time")
  })

  test("shows hidden characters that agents and people wrote as codes", async () => {
    const { app, url, signIn } = await openConsole()
    await app.rules.add({ deny: "write_file", because: "No\u202Ew." }, "me")
    await app.org.sendMessage({ from: "user", to: "dev", payload: "Be\u202Egin.", userId: "me" })
    const { page } = await signIn("me")
    for (const [path, shown] of [
      ["/organisation/agents/dev", "Be\\u{202e}gin."],
      ["/rules", "No\\u{202e}w."],
    ] as const) {
      await page.goto(url + path)
      await page.getByText(shown).first().waitFor()
      expect(await page.evaluate("document.body.innerText.includes('\\u202E')"), path).toBe(false)
    }
  })

  test("who may not manage looks and is told why they may not change", async () => {
    const { url, signIn } = await openConsole()
    const { page, problems } = await signIn("pat")
    await page.goto(`${url}/organisation`)
    await page.locator("[data-agent='dev']").click()
    await page.getByText("your rights have no manage").waitFor()
    expect(await page.getByRole("button", { name: "Terminate…" }).isDisabled()).toBe(true)
    await page.goto(`${url}/rules`)
    await page.locator("[data-rule]").first().waitFor()
    expect(await page.getByRole("link", { name: "New rule" }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test.each(["light", "dark"] as const)("has pages that axe finds nothing in, in the %s theme", async (colorScheme) => {
    const { url, signIn, submit } = await openConsole()
    await submit("write_file", { path: "a.txt", content: "x" })
    const { page } = await signIn("me", { colorScheme })
    const { check, found } = axeChecker(page)
    for (const [path, there] of [
      ["/organisation", "[data-agent='dev']"],
      ["/organisation/agents/dev", "[data-panel='dev']"],
      ["/organisation/roles", "[data-group]"],
      ["/organisation/departments", "main form"],
      ["/rules", "[data-rule]"],
      ["/rules?id=new", "main form"],
      ["/rules?tab=remembered", "main"],
      ["/rules?tab=why", "main form"],
      ["/activity", "[data-lane]"],
      ["/documents", "main form"],
    ] as const) {
      await page.goto(`${url}${path}`)
      await check(path, there)
    }
    expect(found).toEqual([])
  })

  test("has pages that fit a phone of 360 pixels", async () => {
    const { url, signIn } = await openConsole()
    const { page } = await signIn("me", { viewport: { width: 360, height: 780 }, hasTouch: true })
    for (const path of [
      "/organisation",
      "/organisation/agents/dev",
      "/organisation/roles",
      "/rules",
      "/rules?id=new",
      "/activity",
    ]) {
      await page.goto(`${url}${path}`)
      await page.locator("main h1").first().waitFor({ state: "attached" })
      await until(async () => (await page.evaluate("document.documentElement.scrollWidth")) === 360, `${path} fits`)
    }
  })
})
