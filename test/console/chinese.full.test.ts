import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { tool } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"
import { latinSentences } from "./latin.ts"

afterAll(closeBrowser)

describe.skipIf(!hasBrowser)("in Chinese", () => {
  test("a card says all in Chinese: its title, why it asks, how a command runs, and why it is asked again", async () => {
    const { app, url, workspace, submit, signIn } = await openConsole({ tools: { shell: { sandbox: "off" } } })
    app.registry.register(tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: () => ({ a: 1 }) })) // prettier-ignore
    const command = await submit("run_command", {
      command: "ls -l docs",
      cwd: "docs",
      timeoutMs: 5000,
      env: { A: "b" },
    })
    const question = await submit("ask_user", { question: "选哪个？", options: ["红", "蓝"] })
    const held = await submit("leak", {})
    const file = await submit("write_file", { path: "notes.md", content: "x" })
    await app.approvals.answer(file.callId, { kind: "approve" }, "sue")
    writeFileSync(join(workspace, "notes.md"), "meanwhile\n")
    await submit("write_file", { path: "notes.md", content: "x" })

    const { page, problems } = await signIn("pat", { locale: "zh-CN" })
    const shows = async (callId: string, title: string) => {
      await page.goto(`${url}/inbox/${callId}`)
      await page.locator("#card-title", { hasText: title }).waitFor()
      expect(await latinSentences(page, "section.pane"), title).toEqual([])
    }
    await shows(command.callId, "运行 1 条命令")
    await page.getByText("时限：5000 毫秒").waitFor()
    await shows(question.callId, "dev 提问")
    await shows(held.callId, "向 dev 放行 leak 的结果")
    await page.getByText("leak 的结果须由人放行，模型才能看到。").waitFor()
    await shows(file.callId, "修改 notes.md")
    await page.locator("[data-strip]", { hasText: "sue 已批准第 1 版。此后：notes.md 已改变。" }).waitFor()
    await page.getByRole("button", { name: /^批准/ }).waitFor()
    expect(problems).toEqual([])
  })

  test("what went wrong is said in Chinese: in a form, in a dialog, and when a call was refused", async () => {
    const { url, signIn } = await openConsole({ rules: [{ deny: "delete_file", because: "不删除。" }] })
    const { page } = await signIn("me", { locale: "zh-CN" })
    await page.goto(`${url}/organisation/people`)
    await page.locator('input[name="id"]').fill("pat")
    await page.locator(".making button[type=submit]").first().click()
    await page.getByRole("alert").filter({ hasText: "短名“pat”已属于某个人或智能体。请另选一个。" }).waitFor()

    await page.goto(`${url}/tools?tool=run_command&agent=dev`)
    await page.locator("#tool-name").waitFor()
    await page.keyboard.press("Control+Enter")
    await page.getByText("缺少必填参数：command").first().waitFor()
    expect(await latinSentences(page, "#outcome")).toEqual([])

    await page.goto(`${url}/tools?tool=delete_file&agent=dev`)
    await page.locator("#tool-name").waitFor()
    await page.locator("[data-fields] input, [data-fields] textarea").first().fill("old.txt")
    await page.keyboard.press("Control+Enter")
    await page.getByText("有规则拒绝：不删除。").first().waitFor()
    expect(await latinSentences(page, "#outcome")).toEqual([])
  })

  test("an edit that cannot be used says so in Chinese", async () => {
    const { app, signIn } = await openConsole()
    const running = app.call({ agentId: "dev", tool: "write_file", input: { path: "a.md", content: "x" } })
    const { page } = await signIn("pat", { locale: "zh-CN" })
    await page.locator("#card-title").waitFor()
    await wakeUp(page)
    await page.keyboard.press("e")
    await page.getByRole("button", { name: "JSON" }).click()
    await page.locator("form.edit textarea").fill('{ "path": 5, "content": "x" }')
    await page.locator("form.edit button[type=submit]").click()
    await page.locator("[data-strip]", { hasText: "pat 给出的输入不能使用：" }).waitFor()
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "reject" }, "pat")
    await running
  })

  test("the pages that govern say all in Chinese", async () => {
    const { app, url, submit, signIn } = await openConsole()
    await app.org.createRole({ name: "tester", toolGroups: ["data"] }, { kind: "person", id: "me" })
    await app.rules.add({ allow: "no_such_tool", because: "不用。" }, "me")
    await submit("write_file", { path: "notes.md", content: "x" })
    const { page, problems } = await signIn("me", { locale: "zh-CN" })
    // What groups are and why a built-in rule stands is written where they are made, in one language.
    const told = new Set([...app.listGroups().map(({ description }) => description), ...app.rules.list().map(({ because }) => because)]) // prettier-ignore
    for (const [path, there] of [
      ["/organisation", "[data-agent='dev']"],
      ["/organisation/agents/dev", "[data-panel='dev']"],
      ["/organisation/roles", "[data-group]"],
      ["/organisation/roles/root", "[data-group]"],
      ["/organisation/departments", "main form"],
      ["/organisation/people", "main form"],
      ["/rules", "[data-rule]"],
      ["/rules?id=new", "main form"],
      ["/rules?tab=remembered", "main b"],
      ["/rules?tab=why", "main form"],
      ["/activity", "[data-lane]"],
    ] as const) {
      await page.goto(`${url}${path}`)
      await page.locator(there).first().waitFor()
      expect(
        (await latinSentences(page, "main")).filter((text) => !told.has(text)),
        path,
      ).toEqual([])
    }
    expect(problems).toEqual([])
  })
})
