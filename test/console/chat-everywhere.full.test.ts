import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { temporaryFolder } from "../../src/testing/test-app.ts"
import { axeChecker } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp } from "./browser.ts"
import { latinSentences } from "./latin.ts"

afterAll(closeBrowser)

const words = Array.from({ length: 400 }, (_, at) => `w${at}`).join(" ")

function config() {
  const script = join(temporaryFolder(), "script.yml")
  writeFileSync(
    script,
    `
- { think: 想, say: "1, 2", call: { list_files: { path: . } } }
- { say: "\`\`\`ts\\nconst a = 1\\n\`\`\`\\n\\n| a | b |\\n|-|-|\\n| 1 | 2 |", call: { write_file: { path: notes.md, content: "one\\n" } } }
- { say: "${words}", pace: 60 }
`,
  )
  return { models: { default: "played", played: { provider: "scripted" as const, script } } }
}

describe.skipIf(!hasBrowser)("chats and documents", () => {
  test("are used by keyboard alone: begin, approve, steer, stop, and find again", async () => {
    const { url, signIn } = await openConsole(config())
    const { page } = await signIn("pat")
    await page.goto(`${url}/inbox`)
    await page.locator("h1").first().waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("textbox", { name: "Go to…" }).waitFor()
    await page.keyboard.type("Chat")
    await page.getByRole("dialog").getByText("Chat", { exact: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.getByRole("textbox", { name: "Message" }).waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA")
    await page.keyboard.type("Write the notes.")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await page.getByRole("button", { name: /^Approve/, disabled: false }).waitFor()
    await wakeUp(page)
    await page.keyboard.press("a")
    await page.locator("[data-writing]").getByText(/w0 w1/).waitFor()
    const focused = () => page.evaluate<string>("document.activeElement.tagName")
    for (let tries = 0; tries < 60 && (await focused()) !== "TEXTAREA"; tries++) await page.keyboard.press("Tab")
    await page.keyboard.type("Faster. S")
    await page.keyboard.press("Enter")
    await page.locator("[data-queued]", { hasText: "Faster. S" }).waitFor()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("Shift+S")
    await page.locator('[data-conversation][data-state="stopped"]').waitFor()

    await page.goto(`${url}/inbox`)
    await page.locator("h1").first().waitFor()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("write the")
    await page.getByRole("dialog").getByText("Write the notes.").waitFor()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.locator("[data-conversation]").waitFor()
  })

  test("fit a phone of 360 pixels, in Chinese: no line is wider than the page, and no sentence is English", async () => {
    const { url, signIn } = await openConsole(config())
    const { page, problems } = await signIn("pat", {
      viewport: { width: 360, height: 740 },
      locale: "zh-CN",
      hasTouch: true,
    })
    const fits = async (where: string) => {
      const widths = await page.evaluate<number[]>(
        "[document.documentElement.scrollWidth, ...[...document.querySelectorAll('.scroll, main form, main .head')].map((each) => each.scrollWidth - each.clientWidth + 360)]",
      )
      expect(Math.max(...widths), where).toBeLessThanOrEqual(360)
      expect(await latinSentences(page, "main"), where).toEqual([])
    }
    await page.goto(`${url}/chat`)
    await page.getByText("还没有对话").waitFor()
    await fits("no conversation")
    await page.getByRole("link", { name: "新建" }).click()
    await page.getByRole("textbox", { name: "消息" }).fill("写笔记。")
    await fits("begin")
    await page.getByRole("button", { name: "发送" }).click()
    await page.getByRole("heading", { name: "修改 notes.md" }).waitFor()
    await page.getByRole("button", { name: /^批准/, disabled: false }).waitFor()
    await fits("card")
    await page.locator("[data-call]").first().getByRole("button").first().click()
    await page.getByText("没有防护、限额或规则提出异议。").waitFor()
    await fits("opened call")
    await page.getByRole("textbox", { name: /^引导/ }).fill("请写得很短，".repeat(20))
    await page.getByRole("button", { name: "发送", exact: true }).click()
    await page.locator("[data-queued]").waitFor()
    await fits("queued")
    await page.getByRole("button", { name: "此对话的更多操作" }).click()
    await page.getByRole("menuitem", { name: "关于此对话" }).click()
    await page.getByText("目前的更改").waitFor()
    await fits("side")
    await page.getByRole("button", { name: "此对话的更多操作" }).click()
    await page.getByRole("menuitem", { name: "关于此对话" }).click()
    await wakeUp(page)
    await page.getByRole("button", { name: /^批准/ }).click()
    await page.locator("[data-writing]").getByText(/w0 w1/).waitFor()
    await page.getByRole("button", { name: "停止" }).click()
    await page.locator('[data-conversation][data-state="stopped"]').waitFor()
    await page.goto(`${url}/documents`)
    await page.getByRole("textbox", { name: /^工作区中的路径/ }).fill("a.md")
    await page.getByRole("button", { name: "打开" }).click()
    await page.getByRole("textbox", { name: "文件" }).waitFor()
    await fits("file")
    await page.getByRole("button", { name: "对话" }).click()
    await page.getByText("还没有任何发言。").waitFor()
    await fits("document")
    expect(problems).toEqual([])
  })

  test.each(["light", "dark"] as const)("have no violation that axe finds, in %s", async (colorScheme) => {
    const { url, signIn } = await openConsole(config())
    const { page } = await signIn("pat", { colorScheme, reducedMotion: "reduce" })
    const { check, found } = axeChecker(page)
    await page.goto(`${url}/chat?begin=yes`)
    await check("begin", "#begin-title")
    await page.getByRole("textbox", { name: "Message" }).fill("Write the notes.")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await page.locator("[data-call]").first().getByRole("button").first().click()
    await page.getByText("No guard, limit or rule objected.").waitFor()
    await page.getByRole("textbox", { name: /Steer/ }).fill("Be quick.")
    await page.keyboard.press("Enter")
    await check("conversation", "[data-queued]")
    await page.goto(`${url}/documents`)
    await check("documents", "h1")
    await page.getByRole("textbox", { name: /^Path/ }).fill("a.md")
    await page.getByRole("button", { name: "Open" }).click()
    await page.getByRole("textbox", { name: "The file" }).press("Control+End")
    await page.keyboard.type("Hello.")
    await page.getByRole("form", { name: "Your draft" }).getByText("Hello.").waitFor()
    await check("document", "[data-document]")
    expect(found).toEqual([])
  })
})
