import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hasChromium, openChrome, openSite, type ChromeApp, type ChromeResult, type Site } from "./testing.ts"

const form = `<title>Sign in</title><form action="/welcome">
  <label>Name <input id="name" name="name" value="Dr "></label>
  <label>Word <input id="word" type="password"></label>
  <label>Colour <select id="colour"><option>red<option>green</select></label>
  <button id="go">Sign in</button></form>
  <p id="late" hidden>late</p><button id="show" onclick="setTimeout(() => late.hidden = false, 50)">Show</button>`

const pages: Parameters<typeof openSite>[0] = {
  "/": form,
  "/welcome": (request, response) => {
    const name = new URL(request.url!, "http://x").searchParams.get("name")
    response.writeHead(200, { "content-type": "text/html" }).end(`<title>Welcome</title><h1>Hello ${name}</h1>`)
  },
  "/dialogs": `<button id="ask" onclick="out.textContent = confirm('Really?')">Ask</button><p id="out"></p>`,
  "/tabs": `<a id="other" href="/welcome?name=Tab" target="_blank">Other</a>
    <button id="many" onclick="for (let i = 0; i < 1000; i++) open('/welcome')">Many</button>`,
  "/files": `<a id="get" href="/report.csv" download>Get</a>`,
  "/report.csv": (_, response) =>
    void response
      .writeHead(200, { "content-disposition": 'attachment; filename="../../re:port.csv"' })
      .end("a,b\n1,2\n"),
  "/endless": (_, response) => {
    response.writeHead(200, { "content-disposition": "attachment" })
    const more = () => void (response.write(Buffer.alloc(100_000)) && setImmediate(more))
    response.on("drain", more)
    more()
  },
  "/never": () => {},
  "/long": `<body style="background: linear-gradient(red, blue); height: 3000px"><pre>${"0123456789\n".repeat(5000)}</pre>`,
  "/hung": `<button id="hang" onclick="for (;;) {}">Hang</button>`,
  "/away": (_, response) => void response.writeHead(302, { location: "/welcome?name=Redirected" }).end(),
}

describe.skipIf(!hasChromium)("a real browser", () => {
  let chrome: ChromeApp
  let site: Site
  let browserId: string
  let tabId: string
  const at = (path: string) => chrome.ok("chrome_navigate", { tabId, url: `${site.origin}${path}` })
  const failure = async (tool: string, input: unknown, more = {}) => {
    const { success, error, metadata } = await chrome.call(tool, input, more)
    return { success, code: metadata?.["toolCode"], error }
  }

  beforeAll(async () => {
    site = await openSite(pages)
    chrome = await openChrome(
      { maxTabs: 5, maxBrowsers: 2, maxDownloadMb: 1 },
      {
        tools: { hosts: { allow: [`127.0.0.1:${site.port}`, `localhost:${site.port}`] } },
        rules: [
          { allow: "*", because: "It is a test." },
          { deny: "chrome_get_text", touching: ["host:localhost"], because: "Nobody reads that host." },
        ],
      },
    )
    browserId = (await chrome.ok("chrome_launch", {})).browserId
    tabId = (await chrome.ok("chrome_new_tab", { browserId, url: site.origin })).tabId
  })
  afterAll(async () => {
    await chrome.close()
    await site.close()
  })

  test("a form is filled in and sent, by selector and by reference", async () => {
    await at("/")
    const { snapshot } = await chrome.ok("chrome_snapshot", { tabId })
    const reference = /textbox "Name".*?\[ref=(\w+)\]/.exec(snapshot)![1]!
    await chrome.ok("chrome_type", { tabId, selector: reference, text: "Ann" })
    await chrome.ok("chrome_fill", { tabId, selector: "#colour", text: "green" })
    expect(await chrome.ok("chrome_evaluate", { tabId, script: "return [document.querySelector('#name').value, colour.value]" })).toMatchObject({ result: ["Dr Ann", "green"] }) // prettier-ignore
    const clicked = await chrome.ok("chrome_click", { tabId, selector: '"#go"' })
    expect(clicked).toMatchObject({ ok: true, selector: "#go", originalSelector: '"#go"' })
    await chrome.ok("chrome_wait_for", { tabId, selector: "h1" })
    expect(await chrome.ok("chrome_get_text", { tabId })).toMatchObject({ text: "Hello Dr Ann" })
    expect(await chrome.ok("chrome_get_url", { tabId })).toMatchObject({ title: "Welcome" })
  })

  test("what is typed into a password field is in no record, and what is typed elsewhere is", async () => {
    await at("/")
    await chrome.ok("chrome_fill", { tabId, selector: "#word", text: "correct-horse-7" })
    await chrome.ok("chrome_type", { tabId, selector: "#word", text: "-battery-staple" })
    await chrome.ok("chrome_evaluate", { tabId, script: "word.value" })
    await chrome.ok("chrome_fill", { tabId, selector: "text=Word", text: "by-its-label-8" })
    await chrome.ok("chrome_click", { tabId, selector: "#word" })
    await chrome.ok("chrome_type", { tabId, selector: "body", text: "by-the-focus-9" })
    await chrome.ok("chrome_fill", { tabId, selector: "#word", text: 'quoted "one" \\ two' })
    await chrome.ok("chrome_evaluate", { tabId, script: "({ shown: word.value, sent: new URLSearchParams({ w: word.value }).toString() })" }) // prettier-ignore
    await chrome.ok("chrome_fill", { tabId, selector: "#name", text: "plain-name" })
    await chrome.app.settle()
    const ids = (await chrome.app.audit.list({})).map(({ callId }) => callId)
    const records = JSON.stringify(await Promise.all(ids.map((id) => chrome.app.audit.show(id))))
    expect(records).toContain("plain-name")
    expect(records).not.toMatch(/correct-horse-7|battery-staple|by-its-label-8|by-the-focus-9|quoted|%22one/)
  })

  test("a screenshot is an artifact with its dimensions, and is shown inline", async () => {
    await at("/long")
    const shot = await chrome.ok("chrome_screenshot", { tabId })
    expect(shot).toMatchObject({
      width: 1280,
      height: 720,
      image: { mimeType: "image/jpeg", width: 1280, height: 720 },
    })
    const stored = await chrome.app.artifact("ann", shot.images[0]!)
    expect(stored).toMatchObject({ mimeType: "image/jpeg", meta: { width: 1280, height: 720 } })
    expect(Buffer.from(stored!.content).toString("base64")).toBe(shot.image.data)
    await chrome.app.settle()
    const [last] = await chrome.app.audit.list({})
    expect(JSON.stringify(await chrome.app.audit.show(last!.callId))).not.toContain(shot.image.data.slice(0, 40))
    const whole = await chrome.ok("chrome_screenshot", { tabId, fullPage: true })
    expect(whole.height).toBe(10_000)
  })

  test("a long text comes in pages that join to the whole", async () => {
    await at("/long")
    const texts: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page: ChromeResult = await chrome.ok("chrome_get_text", { tabId, selector: "pre", offset })
      texts.push(page.text)
      offset = page.nextOffset
    }
    expect(texts).toHaveLength(3)
    expect(texts.join("").trim()).toBe("0123456789\n".repeat(5000).trim())
  })

  test("dialogs are dismissed and told, and accepted where the call says so", async () => {
    await at("/dialogs")
    const dismissed = await chrome.ok("chrome_click", { tabId, selector: "#ask" })
    expect(dismissed.dialogs).toEqual([{ type: "confirm", message: "Really?", answer: "dismissed" }])
    await chrome.ok("chrome_click", { tabId, selector: "#ask", dialog: "accept" })
    expect(await chrome.ok("chrome_get_text", { tabId, selector: "#out" })).toMatchObject({ text: "true" })
  })

  test("a tab that a page opens is told, listed and usable, and a thousand of them are not opened", async () => {
    await at("/tabs")
    await chrome.ok("chrome_click", { tabId, selector: "#other" })
    await expect.poll(async () => (await listed()).length).toBe(2)
    const other = (await listed()).find((tab) => tab.tabId !== tabId)!
    expect(await chrome.ok("chrome_get_text", { tabId: other.tabId })).toMatchObject({ text: "Hello Tab" })
    await chrome.ok("chrome_click", { tabId, selector: "#many" })
    expect((await listed()).length).toBeLessThanOrEqual(5)
    for (const tab of await listed())
      if (tab.tabId !== tabId) await chrome.call("chrome_close_tab", { tabId: tab.tabId })
  })

  test("a download is in the workspace, under a plain name that is free", async () => {
    await at("/files")
    const clicked = await chrome.ok("chrome_click", { tabId, selector: "#get" })
    const { downloads } = clicked.downloads ? clicked : await chrome.ok("chrome_wait_for", { tabId, state: "download" })
    expect(downloads).toMatchObject([{ path: "downloads/re_port.csv", bytes: 8 }])
    const again = await chrome.ok("chrome_navigate", { tabId, url: `${site.origin}/report.csv` })
    expect(again.downloads).toMatchObject([{ path: "downloads/re_port-2.csv", bytes: 8 }])
    expect(readFileSync(join(chrome.workspace, "downloads/re_port-2.csv"), "utf8")).toBe("a,b\n1,2\n")
  })

  test("a download that is too large is ended, and the call says so", async () => {
    const { downloads } = await chrome.ok("chrome_navigate", { tabId, url: `${site.origin}/endless` })
    const ended = downloads ?? (await chrome.ok("chrome_wait_for", { tabId, state: "download" })).downloads
    expect(ended).toMatchObject([{ problem: expect.stringContaining("canceled") }])
  })

  test("a rule about a host holds for the page that is in the tab", async () => {
    await chrome.ok("chrome_navigate", { tabId, url: `http://localhost:${site.port}/` })
    expect((await chrome.call("chrome_get_text", { tabId })).code).toBe("permission_denied")
    await at("/")
    expect((await chrome.call("chrome_get_text", { tabId })).success).toBe(true)
  })

  test.each([
    ["a page that never loads", "chrome_navigate", { url: "/never", timeoutMs: 300 }, "navigation_timeout"],
    ["an element that is not there", "chrome_click", { selector: "#nothing", timeoutMs: 200 }, "element_not_found"],
    ["one that is not waited for", "chrome_click", { selector: "#no", waitForSelector: false }, "element_not_found"],
    ["an old reference", "chrome_click", { selector: "e999", timeoutMs: 200 }, "element_not_found"],
    ["a selector that is none", "chrome_click", { selector: "##", timeoutMs: 200 }, "invalid_selector"],
    ["a state that never comes", "chrome_wait_for", { selector: "#no", timeoutMs: 200 }, "wait_timeout"],
    ["a script that throws", "chrome_evaluate", { script: "throw new Error('no')" }, "evaluate_error"],
    ["an address nobody answers", "chrome_navigate", { url: "https://nobody.invalid" }, "host_not_found"],
  ])("%s ends with its code and a sentence", async (_, tool, input, code) => {
    const url = "url" in input && input.url.startsWith("/") ? { url: `${site.origin}${input.url}` } : {}
    const ended = await failure(tool, { tabId, ...input, ...url })
    expect(ended).toMatchObject({ success: false, code })
    expect(ended.error).toMatch(/[.!?]$/)
  })

  test.each(["file:///etc/passwd", "chrome://version", "view-source:http://127.0.0.1", "javascript:alert(1)"])(
    "%s is not opened",
    async (url) => {
      expect((await chrome.call("chrome_navigate", { tabId, url })).code).toBe("host_denied")
    },
  )

  test("an element that appears is waited for, and a redirect is followed", async () => {
    await at("/")
    await chrome.ok("chrome_click", { tabId, selector: "#show" })
    await chrome.ok("chrome_wait_for", { tabId, selector: "#late", timeoutMs: 5000 })
    expect((await at("/away")).url).toContain("/welcome?name=Redirected")
  })

  test("another agent and another task do not find a browser or a tab", async () => {
    for (const more of [{ agentId: "bob" }, { taskId: "t2" }]) {
      expect(await failure("chrome_list_tabs", { browserId }, more)).toMatchObject({ code: "browser_not_found" })
      expect(await failure("chrome_get_text", { tabId }, more)).toMatchObject({ code: "tab_not_found" })
    }
  })

  test("arguments that lead around the proxy, and a browser too many, are refused", async () => {
    expect(await failure("chrome_launch", { args: ["--proxy-server=direct://"] })).toMatchObject({ code: "argument_refused" }) // prettier-ignore
    const second = await chrome.ok("chrome_launch", { args: ["--window-size=800,600"] })
    expect(await failure("chrome_launch", {})).toMatchObject({ code: "too_many_browsers" })
    await chrome.ok("chrome_close", { browserId: second.browserId })
    expect(await failure("chrome_close", { browserId: second.browserId })).toMatchObject({
      code: "browser_not_found",
    })
  })

  test("a page that hangs and one that crashes end their calls, and the browser goes on", async () => {
    const hung = (await chrome.ok("chrome_new_tab", { browserId, url: `${site.origin}/hung` })).tabId
    expect((await chrome.call("chrome_evaluate", { tabId: hung, script: "for (;;) {}", timeoutMs: 300 })).metadata).toMatchObject({ toolCode: "evaluate_timeout" }) // prettier-ignore
    await chrome.ok("chrome_close_tab", { tabId: hung })
    const doomed = (await chrome.ok("chrome_new_tab", { browserId, url: `${site.origin}/` })).tabId
    killRenderers(chrome.dir)
    await expect.poll(async () => (await failure("chrome_get_text", { tabId: doomed })).code).toMatch(/tab_crashed|tab_not_found/) // prettier-ignore
    tabId = (await chrome.ok("chrome_new_tab", { browserId, url: `${site.origin}/` })).tabId
    expect(await chrome.ok("chrome_get_url", { tabId })).toMatchObject({ title: "Sign in" })
  })

  async function listed() {
    return (await chrome.ok("chrome_list_tabs", { browserId })).tabs as { tabId: string; url: string }[]
  }
})

/** Ends the processes that show pages, as a crash does. */
function killRenderers(dir: string): void {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8", maxBuffer: 1 << 26 }).split("\n")
  const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s(.*)$/.exec(line)).filter((row) => row !== null)
  const below = new Set(rows.filter(([, , , args]) => args!.includes(dir)).map(([, pid]) => pid))
  for (let size = -1; size !== below.size;) {
    size = below.size
    for (const [, pid, parent] of rows) if (below.has(parent)) below.add(pid)
  }
  const renderers = rows.filter(([, pid, , args]) => below.has(pid) && args!.includes("--type=renderer"))
  for (const [, pid] of renderers) process.kill(Number(pid), "SIGKILL")
}
