import { createSocket } from "node:dgram"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { serveHttp } from "../../interfaces/http/serve.ts"
import { hasChromium, openChrome, openSite, type ChromeApp, type Site } from "./testing.ts"

/** A page's ways to reach another address. `TARGET` is its host and port. */
const ways: Readonly<Record<string, string>> = {
  fetch: "await fetch('http://TARGET/', { mode: 'no-cors' })",
  request: "await new Promise((done) => { const x = new XMLHttpRequest(); x.onloadend = done; x.open('GET', 'http://TARGET/'); x.send() })",
  image: "await new Promise((done) => { const i = new Image(); i.onload = i.onerror = done; i.src = 'http://TARGET/a.png' })",
  script: "await new Promise((done) => { const s = document.createElement('script'); s.onload = s.onerror = done; s.src = 'http://TARGET/a.js'; document.head.append(s) })",
  style: "await new Promise((done) => { const s = document.createElement('link'); s.rel = 'stylesheet'; s.onload = s.onerror = done; s.href = 'http://TARGET/a.css'; document.head.append(s) })",
  frame: "await new Promise((done) => { const f = document.createElement('iframe'); f.onload = done; setTimeout(done, 500); f.src = 'http://TARGET/'; document.body.append(f) })",
  socket: "await new Promise((done) => { const w = new WebSocket('ws://TARGET/'); w.onopen = w.onerror = done })",
  events: "await new Promise((done) => { const e = new EventSource('http://TARGET/'); e.onopen = e.onerror = () => { e.close(); done() } })",
  beacon: "navigator.sendBeacon('http://TARGET/', 'x')",
  prefetch: "for (const rel of ['prefetch', 'preconnect', 'dns-prefetch', 'preload']) { const l = document.createElement('link'); l.rel = rel; l.as = 'fetch'; l.href = 'http://TARGET/'; document.head.append(l) }",
  worker: "await new Promise((done) => { const w = new Worker(URL.createObjectURL(new Blob([`fetch('http://TARGET/', { mode: 'no-cors' }).catch(() => {}).then(() => postMessage(1))`]))); w.onmessage = done })",
  "shared worker": "await new Promise((done) => { const w = new SharedWorker(URL.createObjectURL(new Blob([`onconnect = (e) => fetch('http://TARGET/', { mode: 'no-cors' }).catch(() => {}).then(() => e.ports[0].postMessage(1))`]))); w.port.onmessage = done; w.port.start() })",
  redirect: "await fetch('/to?TARGET', { mode: 'no-cors' })",
  window: "open('http://TARGET/')",
  form: "const f = document.createElement('form'); f.target = '_blank'; f.method = 'post'; f.action = 'http://TARGET/'; document.body.append(f); f.submit()",
  transport: "await new WebTransport('https://TARGET/').ready",
  rtc: "const p = new RTCPeerConnection({ iceServers: [{ urls: ['stun:TARGET', 'turn:TARGET?transport=tcp'], username: 'u', credential: 'c' }] }); p.createDataChannel('x'); await p.setLocalDescription(await p.createOffer()); await new Promise((done) => setTimeout(done, 700))",
} // prettier-ignore

describe.skipIf(!hasChromium)("what a page may reach", () => {
  let chrome: ChromeApp
  let site: Site
  let tabId: string
  let arrived = 0
  let packets = 0
  const listener = createServer((socket) => {
    arrived++
    socket.destroy()
  })
  const datagrams = createSocket("udp4", () => void packets++)

  beforeAll(async () => {
    site = await openSite({
      "/": "<title>Page</title>",
      "/to": (request, response) =>
        void response.writeHead(302, { location: `http://${request.url!.split("?")[1]}/` }).end(),
    })
    await once(listener.listen(0, "127.0.0.1"), "listening")
    const { port } = listener.address() as AddressInfo
    await new Promise<void>((done) => datagrams.bind(port, "127.0.0.1", done))
    chrome = await openChrome({}, { tools: { hosts: { allow: [`127.0.0.1:${site.port}`, `localhost:${site.port}`] } } })
    const { browserId } = await chrome.ok("chrome_launch", {})
    tabId = (await chrome.ok("chrome_new_tab", { browserId, url: site.origin })).tabId
  })
  afterAll(async () => {
    await chrome.close()
    await site.close()
    listener.close()
    datagrams.close()
  })

  /** Runs every way at once; the ones that hang are left. */
  const attempt = (scripts: readonly string[]) =>
    chrome.ok("chrome_evaluate", {
      tabId,
      script: `return Promise.race([
        new Promise((done) => setTimeout(() => done("late"), 3000)),
        Promise.allSettled([${scripts.map((script) => `(async () => { ${script} })()`).join(",\n")}]),
      ])`,
    })

  test("no way of a page leads to a refused address, by number or by name", async () => {
    const { port } = listener.address() as AddressInfo
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    const scripts = hosts.flatMap((host) => Object.values(ways).map((way) => way.replaceAll("TARGET", host)))
    const { refused } = await attempt(scripts)
    const told = (await chrome.ok("chrome_get_text", { tabId })).refused
    // Only a few of the refusals are told, by number or by name.
    expect(JSON.stringify([refused, told])).toMatch(/is an? (address|name) of this machine/)
    for (const host of hosts) {
      const opened = await chrome.call("chrome_navigate", { tabId, url: `http://${host}/` })
      expect(opened.code).toBe("host_denied")
      await chrome.call("chrome_navigate", { tabId, url: `${site.origin}/to?${host}`, timeoutMs: 5000 })
    }
    expect([arrived, packets]).toEqual([0, 0])
  })

  test("the same ways do arrive where the address is allowed, so that the test above can fail", async () => {
    await chrome.ok("chrome_navigate", { tabId, url: site.origin })
    const before = site.asked.length
    const able = ["fetch", "request", "image", "frame", "worker", "redirect"]
    await attempt(able.map((name) => ways[name]!.replaceAll("TARGET", `localhost:${site.port}`)))
    expect(site.asked.length - before).toBeGreaterThanOrEqual(able.length)
  })

  test("a script of the agent's own asks a person, also in a page of an allowed host; a rule that names it lifts that", async () => {
    const hosts = { tools: { hosts: { allow: [`127.0.0.1:${site.port}`] } } }
    const rule = { allow: "chrome_evaluate", because: "It is a test." }
    for (const [rules, ending] of [
      [[], "waiting"],
      [[rule], "success"],
    ] as const) {
      const own = await openChrome(
        {},
        { ...hosts, rules: [...rules, { allow: "chrome_launch", because: "It is a test." }] },
      )
      try {
        const { browserId } = await own.ok("chrome_launch", {})
        const { tabId: tab } = await own.ok("chrome_new_tab", { browserId, url: site.origin })
        const input = { tabId: tab, script: "1 + 1" }
        const ended = await own.app.call({ agentId: "ann", tool: "chrome_evaluate", input }, { waitMs: 0 })
        expect("state" in ended ? ended.state : ended.status).toBe(ending)
      } finally {
        await own.close()
      }
    }
  })

  test("our own server is refused even where a line allows its address", async () => {
    const served = await serveHttp(chrome.app, { port: 0, version: "1", workspace: chrome.workspace })
    const port = Number(new URL(served.url).port)
    const own = await openChrome({}, { tools: { hosts: { allow: [`127.0.0.1:${site.port}`, `127.0.0.1:${port}`] } } })
    try {
      own.app.addOwnAddress(served.url)
      const { browserId } = await own.ok("chrome_launch", {})
      const { tabId: tab } = await own.ok("chrome_new_tab", { browserId, url: site.origin })
      const script = `fetch("${served.url}/healthz", { mode: "no-cors" }).then(() => "reached", () => "refused")`
      expect(await own.ok("chrome_evaluate", { tabId: tab, script })).toMatchObject({ result: "refused" })
      expect((await own.call("chrome_navigate", { tabId: tab, url: served.url })).code).toBe("host_denied")
    } finally {
      await own.close()
      await served.close()
    }
  })
})
