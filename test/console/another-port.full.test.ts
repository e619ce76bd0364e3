import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, expect, onTestFinished, test } from "vitest"
import { closeBrowser, hasBrowser, openConsole } from "./browser.ts"

afterAll(closeBrowser)

test.skipIf(!hasBrowser)(
  "a server on another port of this machine gets the cookie of a session and can do nothing with it",
  async () => {
    const { app, url, signIn, submit } = await openConsole()
    const { page } = await signIn("me")
    const waiting = await submit("run_command", { command: "ls" })
    const secret = await page.evaluate("localStorage.getItem('qm-session')")
    expect(secret).toMatch(/^[\w-]{43}$/)

    let cookie = ""
    const thief = createServer(({ headers }, response) => {
      cookie = headers.cookie ?? cookie
      response.writeHead(200, { "content-type": "text/html" }).end("<title>My app</title>")
    })
    await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void thief.close())
    await page.goto(`http://127.0.0.1:${(thief.address() as AddressInfo).port}/`)
    expect(cookie).toMatch(/^qm_session=/)
    expect(await page.evaluate("localStorage.getItem('qm-session')")).toBe(null)

    const json = { cookie, "x-quartermaster": "1", "content-type": "application/json" }
    const body = JSON.stringify({ revision: 1, answer: { kind: "approve" } })
    const answer = `${url}/v1/approvals/${waiting.callId}/answer`
    expect((await fetch(answer, { method: "POST", headers: json, body })).status).toBe(401)
    for (const path of ["/v1/me", "/v1/approvals", "/v1/events"])
      expect((await fetch(`${url}${path}`, { headers: { cookie } })).status, path).toBe(401)
    // Nor may its page ask in the browser of the person.
    const asked = `fetch("${url}/v1/me", { credentials: "include", mode: "no-cors" }).then(({ type }) => type)`
    expect(await page.evaluate(asked)).toBe("opaque")
    expect(await app.approvals.show(waiting.callId)).toBeDefined()

    await page.goto(`${url}/inbox`)
    await page.getByRole("heading", { name: "Run a command" }).waitFor()
  },
  60_000,
)
