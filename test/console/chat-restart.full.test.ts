import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { outputOf, makeCli } from "../../src/interfaces/cli/testing.ts"
import { closeBrowser, hasBrowser, signInWith } from "./browser.ts"

afterAll(closeBrowser)

const words = Array.from({ length: 60 }, (_, at) => `w${at}`).join(" ")
const config = `
models:
  default: played
  played: { provider: scripted, script: script.yml }
org:
  roles: [{ name: worker, toolGroups: [workspace] }]
  agents: [{ id: dev, role: worker }]
rules:
  - { allow: write_file, because: the test }
`
const script = `
- { call: { write_file: { path: a.md, content: x } } }
- { say: "${words}", pace: 60 }
`

describe.skipIf(!hasBrowser)("a server that is killed in the middle of an answer", () => {
  test("goes on by itself once it is started again: the answer is asked anew and marked, and no call is made twice", async () => {
    const cli = makeCli()
    cli.write("given.yml", config)
    cli.write("script.yml", script)
    const given = ["--config", join(cli.cwd, "given.yml")]
    await cli.run("trust", "--yes", join(cli.cwd, "given.yml"))
    const json = async <T>(...line: string[]) => JSON.parse((await cli.run(...line, "--json", ...given)).stdout) as T
    const serve = async (port: string) => {
      const server = cli.start("serve", "--port", port, "--json", ...given)
      const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
      return { server, url: (JSON.parse(line) as { url: string }).url, ended: outputOf(server, "") }
    }
    const first = await serve("0")
    const { page } = await signInWith((await json<{ url: string }>("open")).url)
    await page.goto(`${first.url}/chat?begin=yes`)
    await page.getByRole("combobox", { name: "Talk to" }).selectOption("dev")
    await page.getByRole("textbox", { name: "Message" }).fill("Write it.")
    await page.keyboard.press("Enter")
    const writing = page.locator("[data-writing]")
    await writing.getByText(/w0 w1 w2/).waitFor()
    first.server.kill("SIGKILL")
    await first.ended
    await page
      .getByRole("status")
      .getByText(/No connection/)
      .waitFor()
    expect(await writing.innerText()).toContain("w2")
    const field = page.getByRole("textbox", { name: /Steer/ })
    await field.fill("Typed while it was away.")
    expect(await page.getByRole("button", { name: "Send" }).isDisabled()).toBe(true)

    const second = await serve(new URL(first.url).port)
    await page.locator('[data-conversation][data-state="done"]').waitFor({ timeout: 30_000 })
    const answers = page.locator('[data-from="agent"]')
    expect(await answers.getByText("interrupted, asked anew").count()).toBe(1)
    expect((await answers.last().innerText()).match(/w\d+/g)).toEqual(words.split(" "))
    expect(await page.getByRole("textbox", { name: /Say more/ }).inputValue()).toBe("Typed while it was away.")
    const calls = await json<{ items: { tool: string }[] } | { tool: string }[]>("audit", "list")
    const list = Array.isArray(calls) ? calls : calls.items
    expect(list.filter(({ tool }) => tool === "write_file")).toHaveLength(1)
    second.server.kill("SIGTERM")
    expect(await second.ended).toMatchObject({ code: 0 })
  }, 60_000)
})
