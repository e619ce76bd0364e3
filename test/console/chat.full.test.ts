import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, describe, expect, test } from "vitest"
import { modelOf, playedModel } from "../../src/agents/testing/played-model.ts"
import { temporaryFolder } from "../../src/testing/test-app.ts"
import { closeBrowser, hasBrowser, openConsole, wakeUp, watchAnswers } from "./browser.ts"

afterAll(closeBrowser)

/** A configuration whose model plays this script. */
function scripted(steps: string) {
  const script = join(temporaryFolder(), "script.yml")
  writeFileSync(script, steps)
  return { models: { default: "played", played: { provider: "scripted" as const, script } } }
}

const words = Array.from({ length: 400 }, (_, at) => `w${at}`).join(" ")

async function begin(page: Page, url: string, message: string, agent = "dev"): Promise<string> {
  await page.goto(`${url}/chat?begin=yes`)
  await page.getByRole("combobox", { name: "Talk to" }).selectOption(agent)
  await page.getByRole("textbox", { name: "Message" }).fill(message)
  await page.keyboard.press("Enter")
  return (await page.locator("[data-conversation]").getAttribute("data-conversation"))!
}

const say = async (page: Page, text: string) => {
  await page.getByRole("textbox", { name: /^(Say more|Steer)/ }).fill(text)
  await page.keyboard.press("Enter")
}
const state = (page: Page, wanted: string) => page.locator(`[data-conversation][data-state="${wanted}"]`).waitFor()
const thread = (page: Page, title: string) => page.locator("[data-chat]", { hasText: title })

async function approve(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Approve/, disabled: false }).waitFor()
  await wakeUp(page)
  await page.getByRole("button", { name: /^Approve/ }).click()
}

describe.skipIf(!hasBrowser)("a conversation in the console", () => {
  test("streams, asks in its stream, is steered and stopped, goes on, and what is typed answers no card", async () => {
    const { url, workspace, signIn } = await openConsole(
      scripted(`
- { think: A plan., say: I look **first**., call: { list_files: { path: . } } }
- { say: Now I write., call: { write_file: { path: notes.md, content: "one\\n" } } }
- { say: Written. }
- { say: "${words}", pace: 60 }
`),
    )
    const { page, problems } = await signIn("pat")
    const answers = watchAnswers(page)
    await begin(page, url, "Please write the notes.")
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await state(page, "waiting")
    await page.locator("strong", { hasText: "first" }).waitFor()
    await thread(page, "Please write the notes.").getByText("waits for you").waitFor()

    await say(page, "Yes, approve it. a")
    const queued = page.locator("[data-queued]")
    await queued.getByText("Yes, approve it. a").waitFor()
    await page.getByRole("textbox", { name: /Steer/ }).fill("And")
    await queued.getByRole("button", { name: "Take back" }).click()
    await queued.waitFor({ state: "detached" })
    expect(await page.getByRole("textbox", { name: /Steer/ }).inputValue()).toBe("Yes, approve it. a\nAnd")
    await page.keyboard.press("Control+a")
    await say(page, "Be short.")
    await queued.getByText("Be short.").waitFor()
    expect(await answers.none()).toBe(true)
    expect(existsSync(join(workspace, "notes.md"))).toBe(false)

    await approve(page)
    await state(page, "done")
    await page.getByText("Written.", { exact: true }).waitFor()
    expect(await queued.count()).toBe(0)
    expect(readFileSync(join(workspace, "notes.md"), "utf8")).toBe("one\n")
    await page.locator("aside summary", { hasText: "notes.md" }).getByText("+1").waitFor()
    await page.locator("[data-call]", { hasText: "write_file" }).getByText("yes by Pat Lee").waitFor()

    await say(page, "Go on.")
    const writing = page.locator("[data-writing]")
    await writing.getByText(/w0 w1 w2/).waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    await state(page, "stopped")
    await page.locator('[data-note="stopped"]', { hasText: "Stopped by Pat Lee." }).waitFor()
    expect(await writing.count()).toBe(0)
    await page.getByRole("button", { name: "Go on" }).click()
    await writing.getByText(/w0 w1 w2/).waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    await state(page, "stopped")
    expect(problems).toEqual([])
  })

  test("shows why a call was made or refused when it is opened, and does not move then", async () => {
    const { url, signIn } = await openConsole({
      ...scripted(`
- { say: "${words}", call: [{ list_files: { path: . } }, { delete_file: { path: a.md } }] }
- { say: "${words}" }
`),
      rules: [{ deny: "delete_file", because: "Nothing is deleted here." }],
    })
    const { page } = await signIn("pat")
    await begin(page, url, "Look.")
    await state(page, "done")
    const row = page.locator("[data-call]", { hasText: "delete_file" })
    await row.scrollIntoViewIfNeeded()
    const before = (await row.boundingBox())!.y
    await row.getByRole("button").first().click()
    await row.getByText("Nothing is deleted here.").first().waitFor()
    await row.getByRole("link", { name: /audit log/ }).waitFor()
    expect((await row.boundingBox())!.y).toBeCloseTo(before, 0)
    await page.locator("[data-call]", { hasText: "list_files" }).getByRole("button").first().click()
    await page.getByText("No guard, limit or rule objected.").waitFor()
  })

  test("is retried after an error, and its last message is edited in a branch that says what stays done", async () => {
    let fails = true
    const model = playedModel(({ messages }) => {
      if (fails) throw new Error("The model is out of memory.")
      if (messages.at(-1)!.role === "tool") return { say: "It is there." }
      return { calls: [{ name: "write_file", input: { path: "a.md", content: "x" } }] }
    })
    const rules = [{ allow: "write_file", because: "the test" }]
    const { url, signIn } = await openConsole({ rules }, { models: { played: model } })
    const { page } = await signIn("pat")
    const first = await begin(page, url, "Write it.")
    await state(page, "failed")
    await page.locator('[data-note="failed"]', { hasText: "out of memory" }).waitFor()
    fails = false
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("It is there.").waitFor()
    await state(page, "done")

    await page.locator('[data-from="person"]').hover()
    await page.getByRole("button", { name: "Edit and send again" }).click()
    const field = page.getByRole("form", { name: "Edit and send again" }).getByRole("textbox")
    await field.fill("Write it better.")
    await page.getByRole("form", { name: "Edit and send again" }).getByRole("button", { name: "Send" }).click()
    await page.getByText("1 call that changed something already ran after this message and stays done:").waitFor()
    await page.getByRole("button", { name: "Next" }).click()
    await page.locator('[data-from="person"]', { hasText: "Write it better." }).waitFor()
    await state(page, "done")
    const branch = await page.locator("[data-conversation]").getAttribute("data-conversation")
    expect(branch).not.toBe(first)
    await page.getByRole("link", { name: "1 branch" }).click()
    await page.locator(`[data-conversation="${first}"]`).waitFor()
    expect(await page.locator('[data-from="person"]').allInnerTexts()).toEqual([expect.stringContaining("Write it.")])
  })

  test("takes a file and a picture, and never replaces a file unasked", async () => {
    const seeing = { ...modelOf({ say: "I see." }), seesImages: true }
    const { app, url, workspace, signIn } = await openConsole({}, { models: { played: seeing } })
    const { page } = await signIn("pat")
    const id = await begin(page, url, "Hello.")
    await state(page, "done")
    const choose = (name: string, mimeType: string, content: string | Buffer) =>
      page.locator("input[type=file]").setInputFiles({ name, mimeType, buffer: Buffer.from(content) })
    await choose("list.txt", "text/plain", "one\n")
    await page.getByText("Stored: list.txt.").waitFor()
    expect(readFileSync(join(workspace, "list.txt"), "utf8")).toBe("one\n")
    await choose("list.txt", "text/plain", "two\n")
    await page.getByText("list.txt is there already. Replace it?").waitFor()
    expect(readFileSync(join(workspace, "list.txt"), "utf8")).toBe("one\n")
    await page.getByRole("button", { name: "Replace" }).click()
    await expect.poll(() => readFileSync(join(workspace, "list.txt"), "utf8")).toBe("two\n")
    const [call] = await app.audit.list({ tool: "write_file" })
    const asked = expect.objectContaining({ kind: "start", sessionId: id, userId: "pat" }) as unknown
    expect(await app.audit.show(call!.callId)).toContainEqual(asked)

    const pixel = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    )
    await choose("dot.png", "image/png", pixel)
    await page.getByText("dot.png").waitFor()
    await say(page, "What is this?")
    await page.locator('[data-from="person"] img').waitFor()
    await expect.poll(() => seeing.requests.length).toBe(2)
    expect(JSON.stringify(seeing.requests[1]!.messages)).toContain("image/png")
  })

  test("two browsers see the same, live; one who may not see it is told so, and an erased one keeps what was typed", async () => {
    const { url, signIn } = await openConsole(
      scripted(`
- { say: Now I write., call: { write_file: { path: notes.md, content: x } } }
- { say: "${words}", pace: 60 }
`),
    )
    const [pat, me, sue] = await Promise.all([signIn("pat"), signIn("me"), signIn("sue")])
    const id = await begin(pat.page, url, "Write.")
    await Promise.all([me, sue].map(({ page }) => page.goto(`${url}/chat/${id}`)))
    await sue.page.getByText("This conversation is gone").waitFor()
    expect(await sue.page.locator("[data-chat]").count()).toBe(0)
    for (const { page } of [pat, me]) await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await say(pat.page, "Be quick.")
    await me.page.locator("[data-queued]", { hasText: "Be quick." }).waitFor()
    await approve(me.page)
    for (const { page } of [pat, me]) {
      await page.locator('[data-from="person"]', { hasText: "Be quick." }).waitFor()
      await page
        .locator("[data-writing]")
        .getByText(/w0 w1 w2/)
        .waitFor()
    }
    await me.page.getByRole("button", { name: "Stop" }).click()
    await state(pat.page, "stopped")
    await pat.page.getByRole("button", { name: "Write." }).click()
    await pat.page.getByRole("textbox", { name: "Title" }).fill("Notes")
    await pat.page.keyboard.press("Enter")
    await thread(me.page, "Notes").waitFor()

    await me.page.getByRole("textbox", { name: /Say more/ }).fill("Not sent yet.")
    await pat.page.getByRole("button", { name: "More about this conversation" }).click()
    await pat.page.getByRole("menuitem", { name: "Erase…" }).click()
    await pat.page.getByRole("dialog").getByRole("button", { name: "Erase" }).click()
    await me.page.getByText("This conversation is gone").waitFor()
    await me.page.getByText("Not sent yet.").waitFor()
    await pat.page.getByRole("heading", { name: "Begin a conversation" }).waitFor()
    expect(await pat.page.locator("[data-chat]").count()).toBe(0)
  })

  test("an agent that is terminated in another tab: told, and what was typed is kept", async () => {
    const { app, url, signIn } = await openConsole({}, { models: { played: modelOf({ say: "Hello." }) } })
    await app.org.createAgent({ id: "eve", role: "developer" }, { kind: "person", id: "me" })
    const { page } = await signIn("pat")
    await begin(page, url, "Hello?", "eve")
    await state(page, "done")
    await page.getByRole("textbox", { name: /Say more/ }).fill("One more thing.")
    await app.org.terminateAgent("eve", { kind: "person", id: "me" })
    await page.getByText("eve was terminated, so nothing more can be said here.").waitFor()
    await page.getByText("One more thing.").waitFor()
  })

  test("a sub-agent's approval stands in its parent's chat, with its name and task", async () => {
    const org = {
      people: [{ id: "pat", name: "Pat Lee" }],
      roles: ["lead", "writer"].map((name) => ({
        name,
        rolePrompt: `You are the ${name}.`,
        toolGroups: ["workspace", "org_management"],
      })),
      agents: [
        { id: "lea", role: "lead" },
        { id: "wil", role: "writer", parent: "lea" },
      ],
    }
    const model = playedModel(({ messages }) => {
      const isLead = JSON.stringify(messages[0]).includes("You are the lead.")
      const last = JSON.stringify(messages.at(-1))
      if (isLead && last.includes("The answer of")) return { say: "All is done." }
      if (messages.at(-1)!.role === "tool") return { say: isLead ? "Wil is at it." : "I wrote it." }
      return isLead
        ? { calls: [{ name: "send_message", input: { to: "wil", payload: "Write the poem." } }] }
        : { calls: [{ name: "write_file", input: { path: "poem.md", content: "Roses.\n" } }] }
    })
    const rules = [{ allow: "send_message", because: "the test" }]
    const { app, url, workspace, signIn } = await openConsole({ org, rules }, { models: { played: model } })
    app.society.start()
    const { page } = await signIn("me")
    await begin(page, url, "A poem, please.", "lea")
    const below = page.locator('section[aria-label="wil"]')
    await below.getByText("under lea: “Write the poem.”").waitFor()
    await below.getByRole("heading", { name: "Change poem.md" }).waitFor()
    await page.locator("aside li", { hasText: "wil" }).getByText("waits for you").waitFor()
    await approve(page)
    await page.getByText("All is done.").waitFor()
    expect(readFileSync(join(workspace, "poem.md"), "utf8")).toBe("Roses.\n")
    await page.locator("[data-turn]", { hasText: "I wrote it." }).waitFor()
    expect(await page.getByText("The answer of").count()).toBe(0)
  })

  test("shows as text what a hostile model writes, and goes on drawing", async () => {
    const texts = [
      '<script>window.hit = 1</script> <img src=x onerror="window.hit = 1"> **bold** \u202Eevil\n\n [here](javascript:window.hit=1) [site](https://example.org/a) ![pic](https://example.org/p.png)',
      "x".repeat(1_000_000),
      `${">".repeat(5000)} deep\n${"[".repeat(5000)}\n${"- ".repeat(3000)}x`,
      `${"  ".repeat(2000)}* a\n`.repeat(20),
    ]
    const { url, signIn } = await openConsole({}, { models: { played: modelOf(...texts.map((say) => ({ say }))) } })
    const { page, problems } = await signIn("pat")
    await begin(page, url, "1")
    await state(page, "done")
    const answer = page.locator('[data-from="agent"]').first()
    await answer.getByText("<script>window.hit = 1</script>").waitFor()
    expect(await answer.innerText()).toContain("\\u{202e}evil")
    expect(await answer.locator("script, img, iframe").count()).toBe(0)
    expect(await answer.locator("a").allInnerTexts()).toEqual(["site (example.org)", "pic (example.org)"])
    for (const at of [2, 3, 4]) {
      await say(page, `${at}`)
      await expect.poll(() => page.locator('[data-from="agent"]').count(), { timeout: 20_000 }).toBe(at)
      // A page that is busy for ever draws nothing any more.
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    }
    await page.getByRole("button", { name: "Show all 1,000,000 characters" }).click()
    await expect.poll(() => page.locator('[data-from="agent"] pre').first().innerText().then((text) => text.length)).toBe(200_000) // prettier-ignore
    expect(await page.evaluate("window.hit")).toBeUndefined()
    expect(problems).toEqual([])
  })
})
