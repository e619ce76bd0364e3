import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { z } from "zod"
import { tool, until } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

const send = tool({
  name: "send",
  effect: "communicate",
  input: z.object({ to: z.string() }) as never,
  execute: ({ to }: { to: string }) => `sent to ${to}`,
})

/** Selects a word as a person does, by a double click on it. */
async function selectWord(page: Page, pointer: string, word: string): Promise<void> {
  const { x, y } = await page.evaluate<{ x: number; y: number }>(`{
    const box = document.querySelector('[data-pointer="${pointer}"]')
    const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
    let node = texts.nextNode()
    while (!node.data.includes("${word}")) node = texts.nextNode()
    const range = document.createRange()
    range.setStart(node, node.data.indexOf("${word}"))
    range.setEnd(node, node.data.indexOf("${word}") + ${word.length})
    const { left, top, width, height } = range.getBoundingClientRect()
    ;({ x: left + width / 2, y: top + height / 2 })
  }`)
  await page.mouse.dblclick(x, y)
}

describe.skipIf(!hasBrowser)("an answer", () => {
  test("to a question is a choice, a text of one's own, or a form", async () => {
    const { app, url, signIn } = await openConsole()
    const form = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
    app.registry.register(
      tool({ name: "where", question: () => ({ question: "Where to?", form }), execute: (_, { answer }) => answer }),
    )
    const { page, problems } = await signIn()
    const ask = async (name: string, input: unknown) => {
      const running = app.call({ agentId: "dev", tool: name, input })
      await until(async () => (await app.approvals.list()).length === 1, "the question waits")
      const [item] = await app.approvals.list()
      await page.goto(`${url}/inbox/${item!.callId}`)
      // The first click after the page was opened may only wake the window.
      await page.locator(`[data-card="${item!.callId}"] .question .q-t`).click()
      return { running }
    }
    const sendButton = page.getByRole("button", { name: "Send", exact: true })
    const given = async ({ running }: Awaited<ReturnType<typeof ask>>) => {
      await wakeUp(page)
      await sendButton.click()
      return (await running).result
    }
    const colour = { question: "Which colour?", options: ["red", "blue"] }
    const choice = await ask("ask_user", colour)
    expect(await sendButton.isDisabled()).toBe(true)
    await page.getByText("blue", { exact: true }).click()
    expect(await given(choice)).toMatchObject({ answer: "blue" })

    const own = await ask("ask_user", { question: "Which name?" })
    await page.getByLabel("Your answer").fill("Green")
    expect(await given(own)).toMatchObject({ answer: "Green" })

    const filled = await ask("where", {})
    expect(await sendButton.isDisabled()).toBe(true)
    await page.locator(".question").getByLabel("city", { exact: false }).first().fill("Oslo")
    expect(await given(filled)).toEqual({ city: "Oslo" })
    expect(problems).toEqual([])
  })

  test("to a held result leaves out the words that were selected, and the value that was", async () => {
    const { app, signIn } = await openConsole()
    const result = () => ({ note: "the key is s3cret today", city: "Oslo", rest: "stays" })
    app.registry.register(tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: result })) // prettier-ignore
    const { page, problems } = await signIn()
    const running = app.call({ agentId: "dev", tool: "leak", input: {} })
    await page.getByRole("heading", { name: /Release a result/ }).waitFor()
    await selectWord(page, "/note", "s3cret")
    await page.getByRole("toolbar").getByRole("button", { name: "Redact", exact: true }).click()
    await page.locator('[data-pointer="/note"]', { hasText: "the key is [redacted] today" }).waitFor()
    await selectWord(page, "/city", "Oslo")
    await page.getByRole("toolbar").waitFor()
    await page.getByRole("toolbar").getByRole("button", { name: "Every /city" }).click()
    await page.locator('mark[data-pointer="/city"]').waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: /^Release with 2 values redacted/ }).click()
    const ended = await running
    expect(ended.result).toEqual({ note: "the key is [redacted] today", city: "[redacted]", rest: "stays" })
    expect(JSON.stringify(ended)).not.toMatch(/s3cret|Oslo/)
    expect(problems).toEqual([])
  })

  test("to calls of one kind is given in one table, line by line", async () => {
    const { app, signIn } = await openConsole()
    const calls = ["a.md", "b.md", "c.md"].map((path) =>
      app.call({ agentId: "dev", tool: "write_file", input: { path, content: "x" } }),
    )
    await until(async () => (await app.approvals.list()).length === 3, "all wait")
    const { page, problems } = await signIn()
    const line = (path: string) => page.locator("[data-alike] tbody tr", { hasText: path })
    await line("c.md").waitFor()
    await line("a.md").getByRole("button", { name: "Yes" }).click()
    await line("b.md").getByRole("button", { name: "No" }).click()
    await page.getByText("1 not answered").waitFor()
    await wakeUp(page)
    await page.getByRole("button", { name: "Send 2 answers" }).click()
    expect(await calls[0]).toMatchObject({ success: true })
    expect(await calls[1]).toMatchObject({ code: "approval_rejected" })
    expect((await app.approvals.list()).map(({ input }) => input)).toEqual([{ path: "c.md", content: "x" }])
    await line("a.md").waitFor({ state: "detached" })
    await line("c.md").getByRole("button", { name: "Yes" }).click()
    await wakeUp(page)
    await page.getByRole("button", { name: "Send 1 answer" }).click()
    expect(await calls[2]).toMatchObject({ success: true })
    expect(problems).toEqual([])
  })

  test("is remembered for the task, for some minutes, or as a rule", async () => {
    const { app, url, signIn } = await openConsole()
    app.registry.register(send)
    const { page, problems } = await signIn("me")
    const answer = async (name: string, input: unknown, scope: string, button: RegExp, taskId = "t1") => {
      const running = app.call({ agentId: "dev", tool: name, input, taskId })
      await until(async () => (await app.approvals.list()).length === 1, "it waits")
      const [item] = await app.approvals.list()
      await page.goto(`${url}/inbox/${item!.callId}`)
      await page.getByRole("radiogroup", { name: "Remember" }).getByText(scope, { exact: true }).click()
      await wakeUp(page)
      await page.getByRole("button", { name: button }).click()
      expect(await running).toMatchObject({ success: true })
    }
    const again = (name: string, input: unknown, taskId: string) =>
      app.call({ agentId: "dev", tool: name, input, taskId }, { waitMs: 0 })

    await answer("send", { to: "ann" }, "This task", /^Approve and remember/)
    expect(await app.approvals.grants()).toMatchObject([{ scope: "task" }])
    expect(await again("send", { to: "bob" }, "t1")).toMatchObject({ success: true })

    await answer("send", { to: "cid" }, "30 minutes", /^Approve and remember/, "t2")
    expect((await app.approvals.grants()).map(({ scope }) => scope).sort()).toEqual(["minutes", "task"])
    expect(await again("send", { to: "dan" }, "t3")).toMatchObject({ success: true })

    const rules = app.rules.list().length
    await answer("run_command", { command: "echo one" }, "With a rule…", /^Approve and add the rule/)
    expect(app.rules.list()).toHaveLength(rules + 1)
    expect(problems).toEqual([])
  })
})
