import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { outputOf, makeCli } from "../../src/interfaces/cli/testing.ts"
import { createClient } from "../../src/interfaces/client/client.ts"
import { closeBrowser, hasBrowser, signInWith, wakeUp } from "./browser.ts"

afterAll(closeBrowser)

const config = `
org:
  roles: [{ name: worker, toolGroups: [workspace] }]
  agents: [{ id: dev, role: worker }]
`

describe.skipIf(!hasBrowser)("a server that is killed", () => {
  test("loses nothing: the page reconnects by itself, and the card that waited is answered once", async () => {
    const cli = makeCli()
    cli.write("given.yml", config)
    const given = ["--config", join(cli.cwd, "given.yml")]
    const json = async <T>(...words: string[]) => JSON.parse((await cli.run(...words, "--json", ...given)).stdout) as T
    const serve = async (port: string) => {
      const server = cli.start("serve", "--port", port, "--json", ...given)
      const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
      const { url } = JSON.parse(line) as { url: string }
      return { server, url, ended: outputOf(server, "") }
    }
    const first = await serve("0")
    const { token } = await json<{ token: string }>("tokens", "create", "--agent", "dev")
    const { url: link } = await json<{ url: string }>("open")
    const { page } = await signInWith(link)
    await page.getByText("Nothing waits for you").first().waitFor()

    const { calls } = createClient({ baseUrl: first.url, token })
    const { callId } = await calls.submit("write_file", { path: "notes.md", content: "x" }, { wait: 0 })
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    // The part of the page that shows differences is loaded when it is needed first.
    await page.getByText("Differences in notes.md").waitFor({ state: "attached" })
    first.server.kill("SIGKILL")
    await first.ended
    await page.locator("[data-strip]", { hasText: "No connection." }).waitFor()
    expect(await page.getByRole("button", { name: /^Approve/ }).isDisabled()).toBe(true)

    const second = await serve(new URL(first.url).port)
    const approve = page.getByRole("button", { name: /^Approve/, disabled: false })
    await approve.waitFor()
    await wakeUp(page)
    await approve.click()
    await page.locator("[data-strip]", { hasText: "You approved it." }).waitFor()
    expect(await calls.get(callId, { wait: 30 })).toMatchObject({ success: true })
    expect(existsSync(join(cli.cwd, "notes.md"))).toBe(true)
    const items = await json<{ kind: string }[]>("audit", "show", callId)
    expect(items.filter(({ kind }) => kind === "answered")).toHaveLength(1)
    expect(items.filter(({ kind }) => kind === "end")).toHaveLength(1)
    second.server.kill("SIGTERM")
    expect(await second.ended).toMatchObject({ code: 0 })
  }, 60_000)
})
