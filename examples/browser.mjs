// A browser for an agent: the chrome module opens a page of this machine, fills in a form, reads the answer, takes a
// picture. It needs Chromium or Chrome; a host that the configuration does not name is refused.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { once } from "node:events"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster, modelText } from "quartermaster"

const site = createServer((request, response) => {
  const { searchParams } = new URL(request.url, "http://site")
  const answer = searchParams.has("city") ? `<h1>It is sunny in ${searchParams.get("city")}</h1>` : ""
  response.setHeader("content-type", "text/html; charset=utf-8")
  response.end(
    `<title>Weather</title><form><label>City <input name="city"></label><button>Ask</button></form>${answer}`,
  )
})
await once(site.listen(0, "127.0.0.1"), "listening")
const { port } = site.address()

const folder = mkdtempSync(join(tmpdir(), "quartermaster-"))
const workspace = join(folder, "workspace")
mkdirSync(workspace)
const quartermaster = await createQuartermaster({
  data: { dir: join(folder, "data") },
  workspace,
  modules: { chrome: { idleMinutes: 5 } },
  // A page of this machine must be named with its port.
  tools: { hosts: { allow: [`127.0.0.1:${port}`] } },
  org: {
    roles: [{ name: "tester", toolGroups: ["chrome"] }],
    agents: [{ id: "tess", role: "tester" }],
  },
  rules: [{ allow: "group:chrome", role: "tester", because: "Testers use the browser." }],
})

async function call(tool, input = {}) {
  const ended = await quartermaster.call({ agentId: "tess", tool, input })
  assert.ok(ended.success, ended.error)
  return ended.result
}

const { browserId } = await call("chrome_launch")
const { tabId } = await call("chrome_new_tab", { browserId, url: `http://127.0.0.1:${port}` })

// The page as a tree with references. Models do better with it than with pictures.
const { snapshot } = await call("chrome_snapshot", { tabId })
console.log(snapshot)
const [, city] = /textbox "City" \[ref=(\w+)\]/.exec(snapshot)
const [, ask] = /button "Ask" \[ref=(\w+)\]/.exec(snapshot)

await call("chrome_fill", { tabId, selector: city, text: "Turin" })
await call("chrome_click", { tabId, selector: ask })
await call("chrome_wait_for", { tabId, selector: "h1" })
const { text } = await call("chrome_get_text", { tabId, selector: "h1" })
assert.equal(text, "It is sunny in Turin")

const { images, width, height } = await call("chrome_screenshot", { tabId })
console.log(`A picture of ${width} × ${height} pixels is stored as ${images[0]}.`)
const picture = await quartermaster.artifact("tess", images[0])
assert.equal(picture.mimeType, "image/jpeg")

// No other address of this machine, and none of its files.
for (const url of ["http://127.0.0.1:22", "file:///etc/passwd"]) {
  const refused = await quartermaster.call({ agentId: "tess", tool: "chrome_navigate", input: { tabId, url } })
  assert.equal(refused.code, "host_denied")
  console.log(modelText(refused))
}

await call("chrome_close", { browserId })
await quartermaster.close()
site.close()
rmSync(folder, { recursive: true })
