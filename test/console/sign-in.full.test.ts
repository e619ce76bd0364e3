import { afterAll, describe, expect, test } from "vitest"
import { axeChecker } from "./axe.ts"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

const by = { kind: "person", id: "me" } as const

describe.skipIf(!hasBrowser)("a person who has nothing but a token", () => {
  test("signs in on the page that they opened, and is asked again when the token is revoked", async () => {
    const { app, url, submit, stranger } = await openConsole()
    const { token } = await app.org.createPerson({ id: "li", name: "Li Wei", roles: ["lead"] }, by)
    const { callId } = await submit("write_file", { path: "notes.md", content: "x" })
    const { page, problems } = await stranger()
    await page.goto(`${url}/inbox/${callId}`)
    const field = page.getByLabel("Or your token")
    const button = page.getByRole("button", { name: "Sign in with the token" })
    await field.fill("qmp_wrong")
    await button.click()
    await page.getByRole("alert").filter({ hasText: "This is no token of a person" }).waitFor()
    await field.fill(` ${token} `)
    await button.click()
    await page.getByRole("heading", { name: "Change notes.md" }).waitFor()
    await page.getByText("Li Wei").first().waitFor()
    const stored = await page.evaluate<string>(
      "JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie",
    )
    expect(stored).not.toContain(token)
    await app.org.revokePersonToken("li", by)
    await page.reload()
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor()
    expect(problems).toEqual([])
  })

  test.each([
    ["en", "light", 1280],
    ["zh-CN", "dark", 1280],
    ["zh-CN", "light", 360],
    ["en", "dark", 360],
  ] as const)(
    "finds a page that axe has nothing against, in %s, %s at %i pixels",
    async (locale, colorScheme, width) => {
      const { url, stranger } = await openConsole()
      const { page, problems } = await stranger({ locale, colorScheme, viewport: { width, height: 780 } })
      const { check, found } = axeChecker(page)
      for (const path of ["/inbox", "/signin"]) {
        await page.goto(`${url}${path}`)
        await check(path, "form input[name=token]")
        expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true)
      }
      await page.locator("input[name=token]").fill("qmp_wrong")
      await page.keyboard.press("Enter")
      await check("after a wrong token", "[role=alert]")
      const said = await page.getByRole("alert").innerText()
      expect(said).toMatch(locale === "en" ? /^This is no token of a person/ : /^这不是某个人的令牌/)
      expect(found).toEqual([])
      expect(problems).toEqual([])
    },
  )
})
