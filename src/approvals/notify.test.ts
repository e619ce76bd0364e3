import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../testing/test-app.ts"
import { notifier } from "./notify.ts"
import { sampleItem, sampleNotice, makeLogger } from "./testing/notify.ts"

const secretive = { ...sampleItem, input: { password: "hunter2" }, result: "hunter2", preview: "hunter2" }

interface ReceivedRequest {
  method: string | undefined
  path: string | undefined
  type: string | undefined
  body: string
}

/** A server that remembers what it was sent. */
async function makeServer(reply: (response: ServerResponse, path: string) => void = (response) => void response.end()) {
  const received: ReceivedRequest[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.on("end", () => {
      received.push({ method: request.method, path: request.url, type: request.headers["content-type"], body })
      reply(response, request.url ?? "")
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { received, address: (path: string) => `http://127.0.0.1:${port}${path}`, host: `127.0.0.1:${port}`, server }
}

test("a webhook is sent what waits as JSON, and never an input or a result", async () => {
  const { received, address } = await makeServer()
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/hook?key=1") }], logger)
  expect(notify(secretive)).toBeUndefined()
  notify({ ...sampleItem, callId: "call-2", until: Infinity })
  await notify.idle()
  const bodies = received.map(({ body, ...rest }) => ({ ...rest, body: JSON.parse(body) as { callId: string } }))
  const about = { method: "POST", path: "/hook?key=1", type: "application/json" }
  expect(bodies.toSorted((one, other) => (one.body.callId < other.body.callId ? -1 : 1))).toEqual([
    { ...about, body: { ...sampleNotice, until: "2030-01-02T03:04:05.000Z" } },
    { ...about, body: { ...sampleNotice, callId: "call-2", until: null } },
  ])
  expect(JSON.stringify(received)).not.toContain("hunter2")
  expect(warnings).toEqual([])
})

test("only the target that names a person is sent their answer link, and without one the notice is sent all the same", async () => {
  const { received, address } = await makeServer()
  const { warnings, logger } = makeLogger()
  const targets = [{ webhook: address("/all") }, { webhook: address("/pat"), person: "pat" }, { webhook: address("/sue"), person: "sue" }] // prettier-ignore
  const linkFor = async (person: string, { callId, revision }: { callId: string; revision: number }) => {
    if (person === "sue") throw new Error("There is no such person.")
    return `https://tools.example/answer/${person}-${callId}-${revision}`
  }
  const notify = notifier(targets, logger, { linkFor })
  notify(sampleItem)
  await notify.idle()
  const links = received.map(({ path, body }) => [path, (JSON.parse(body) as { link?: string }).link])
  expect(Object.fromEntries(links)).toEqual({
    "/all": undefined,
    "/pat": "https://tools.example/answer/pat-call-1-1",
    "/sue": undefined,
  })
  expect(warnings).toEqual(["No answer link of sue was sent for call call-1: There is no such person."])
})

test.each([
  ["https://tools.example", "pat", undefined, true],
  [undefined, "pat", undefined, false],
  ["https://tools.example", "nobody", undefined, false],
  ["https://tools.example", "pat", "1", false],
])(
  "with the public URL %s, the person %s and QM_INSIDE %s a link is sent: %s",
  async (publicUrl, person, inside, isSent) => {
    const { received, address } = await makeServer()
    const config = {
      server: { publicUrl },
      notify: [{ webhook: address("/"), person }],
      org: { people: [{ id: "pat" }] },
    }
    const app = await openTestApp(config, { environment: inside === undefined ? {} : { QM_INSIDE: inside } })
    app.registry.register(tool({ effect: "write", execute: () => 1 }))
    const { callId } = await app.call({ agentId: "operator", tool: "probe", input: {} }, { waitMs: 0 })
    await until(() => received.length === 1, "it is sent")
    const { link } = JSON.parse(received[0]!.body) as { link?: string }
    if (!isSent) return expect(link).toBeUndefined()
    expect(link).toMatch(/^https:\/\/tools\.example\/answer\/[\w-]{43}$/)
    const found = await app.answerLinks.find(link!.slice(link!.lastIndexOf("/") + 1))
    expect(found).toMatchObject({ callId, person: "pat", revision: 1, state: "open" })
  },
)

test("a redirect is not followed", async () => {
  const { received, address, host } = await makeServer((response, path) => {
    if (path === "/from") response.writeHead(307, { location: "/to" })
    response.end()
  })
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/from") }], logger)
  notify(sampleItem)
  await notify.idle()
  expect(received.map(({ path }) => path)).toEqual(["/from"])
  expect(warnings).toEqual([
    `The webhook at ${host} could not be notified that call call-1 waits: it answered with status 307.`,
  ])
})

test("a webhook that is slow, gone or says no is a warning without the secret part of its address", async () => {
  const { address } = await makeServer((response, path) => {
    if (path.startsWith("/no")) response.writeHead(500).end()
  })
  const gone = await makeServer()
  gone.server.close()
  const { warnings, logger } = makeLogger()
  const notifyAll = async (webhooks: readonly string[], limits: { webhookMs?: number } = {}) => {
    const targets = webhooks.map((webhook) => ({ webhook }))
    const notify = notifier(targets, logger, limits)
    notify(sampleItem)
    await notify.idle()
  }
  await notifyAll([address("/slow/s3cret")], { webhookMs: 300 })
  await notifyAll([gone.address("/gone/s3cret"), address("/no/s3cret")], { webhookMs: 30_000 })
  expect(warnings.map((text) => text.replace(/^.*waits: /, "")).toSorted()).toEqual([
    "it answered with status 500.",
    "it cannot be reached (ECONNREFUSED).",
    "it did not answer within 0.3 s.",
  ])
  expect(warnings.join("\n")).not.toContain("s3cret")
})

test("a command gets the notice in environment variables: a list runs as it is, a text by the shell", async () => {
  const folder = temporaryFolder()
  const [list, text] = [join(folder, "list"), join(folder, "text")]
  const script = join(folder, "tell.mjs")
  writeFileSync(
    script,
    `import { writeFileSync } from "node:fs"
     const variables = Object.entries(process.env).filter(([name]) => name.startsWith("QM_NOTIFY_"))
     writeFileSync(process.argv[2], JSON.stringify([process.argv[3], Object.fromEntries(variables)]))`,
  )
  const { warnings, logger } = makeLogger()
  const odd = { ...secretive, agentId: "$(touch pwned); `id`", tool: "a b\0c" }
  const notify = notifier(
    [
      { command: [process.execPath, script, list, "$QM_NOTIFY_TOOL; exit 3"] },
      { command: `'${process.execPath}' '${script}' '${text}' "$QM_NOTIFY_AGENT"` },
    ],
    logger,
  )
  notify(odd)
  await notify.idle()
  const variables = {
    QM_NOTIFY_CALL_ID: "call-1",
    QM_NOTIFY_KIND: "call",
    QM_NOTIFY_AGENT: "$(touch pwned); `id`",
    QM_NOTIFY_TOOL: "a bc",
    QM_NOTIFY_TITLE: "Change notes.md",
    QM_NOTIFY_RISK: "high",
    QM_NOTIFY_UNTIL: "2030-01-02T03:04:05.000Z",
  }
  expect(JSON.parse(readFileSync(list, "utf8"))).toEqual(["$QM_NOTIFY_TOOL; exit 3", variables])
  expect(JSON.parse(readFileSync(text, "utf8"))).toEqual(["$(touch pwned); `id`", variables])
  expect(existsSync("pwned")).toBe(false)
  expect(warnings).toEqual([])
})

test.each([
  [{ command: ["/no/such/program", "s3cret"] }, "The command '/no/such/program'", "it cannot be run (ENOENT)."],
  [{ command: "exit 7" }, "The command 'exit'", "it ended with exit code 7."],
  [{ command: "kill -9 $$" }, "The command 'kill'", "it ended with SIGKILL."],
  [{ command: [] }, "The command 'undefined'", ""],
  [{ webhook: "not an address" }, "The webhook at a wrong address", ""],
])("%j fails with a warning and nothing else", async (target, name, why) => {
  const { warnings, logger } = makeLogger()
  const notify = notifier([target], logger)
  notify(sampleItem)
  await notify.idle()
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(`${name} could not be notified that call call-1 waits: ${why}`)
  expect(warnings[0]).not.toContain("s3cret")
})

test("at most a hundred notifications are in progress; more are dropped with a warning, and later ones are sent again", async () => {
  const open = deferred()
  const { received, address } = await makeServer((response) => void open.promise.then(() => response.end()))
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/") }], logger, { webhookMs: 60_000 })
  for (let count = 0; count < 103; count++) notify({ ...sampleItem, callId: `call-${count}` })
  expect(warnings).toHaveLength(3)
  expect(warnings[0]).toMatch(/could not be notified that call call-100 waits: 100 notifications are in progress\.$/)
  open.resolve()
  await notify.idle()
  expect(received).toHaveLength(100)
  notify(sampleItem)
  await notify.idle()
  expect(received).toHaveLength(101)
  expect(warnings).toHaveLength(3)
})

test("without targets nothing happens", async () => {
  const { warnings, logger } = makeLogger()
  const notify = notifier([], logger)
  notify(sampleItem)
  await notify.idle()
  expect(warnings).toEqual([])
})
