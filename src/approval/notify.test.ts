import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../model/logger.ts"
import { deferred, temporaryFolder, until } from "../testing/open.ts"
import { notifier, type Notice } from "./notify.ts"

const notice: Notice = {
  callId: "call-1",
  kind: "call",
  agentId: "dev",
  tool: "set_env",
  until: Date.UTC(2030, 0, 2, 3, 4, 5),
}
const secretive = { ...notice, input: { password: "hunter2" }, result: "hunter2", preview: "hunter2" }

interface Heard {
  method: string | undefined
  path: string | undefined
  type: string | undefined
  body: string
}

/** A server that remembers what it was sent. */
async function makeServer(reply: (response: ServerResponse, path: string) => void = (response) => void response.end()) {
  const heard: Heard[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.on("end", () => {
      heard.push({ method: request.method, path: request.url, type: request.headers["content-type"], body })
      reply(response, request.url ?? "")
    })
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { heard, address: (path: string) => `http://127.0.0.1:${port}${path}`, host: `127.0.0.1:${port}`, server }
}

function makeLogger() {
  const warnings: string[] = []
  return { warnings, logger: { ...silentLogger, warn: (text: string) => void warnings.push(text) } }
}

test("a webhook is sent what waits as JSON, and never an input or a result", async () => {
  const { heard, address } = await makeServer()
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/hook?key=1") }], logger)
  expect(notify(secretive)).toBeUndefined()
  notify({ ...notice, callId: "call-2", until: Infinity })
  await notify.idle()
  const bodies = heard.map(({ body, ...rest }) => ({ ...rest, body: JSON.parse(body) as { callId: string } }))
  const about = { method: "POST", path: "/hook?key=1", type: "application/json" }
  expect(bodies.toSorted((one, other) => (one.body.callId < other.body.callId ? -1 : 1))).toEqual([
    { ...about, body: { ...notice, until: "2030-01-02T03:04:05.000Z" } },
    { ...about, body: { ...notice, callId: "call-2", until: null } },
  ])
  expect(JSON.stringify(heard)).not.toContain("hunter2")
  expect(warnings).toEqual([])
})

test("a redirect is not followed", async () => {
  const { heard, address, host } = await makeServer((response, path) => {
    if (path === "/from") response.writeHead(307, { location: "/to" })
    response.end()
  })
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/from") }], logger)
  notify(notice)
  await notify.idle()
  expect(heard.map(({ path }) => path)).toEqual(["/from"])
  expect(warnings).toEqual([`The webhook at ${host} was not told that call call-1 waits: it answered with status 307.`])
})

test("a webhook that is slow, gone or says no is a warning without the secret part of its address", async () => {
  const { address } = await makeServer((response, path) => {
    if (path.startsWith("/no")) response.writeHead(500).end()
  })
  const gone = await makeServer()
  gone.server.close()
  const { warnings, logger } = makeLogger()
  const told = async (webhooks: readonly string[], limits: { webhookMs?: number } = {}) => {
    const targets = webhooks.map((webhook) => ({ webhook }))
    const notify = notifier(targets, logger, limits)
    notify(notice)
    await notify.idle()
  }
  await told([address("/slow/s3cret")], { webhookMs: 300 })
  await told([gone.address("/gone/s3cret"), address("/no/s3cret")], { webhookMs: 30_000 })
  expect(warnings.map((text) => text.replace(/^.*waits: /, "")).toSorted()).toEqual([
    "it answered with status 500.",
    "it cannot be reached (ECONNREFUSED).",
    "it did not answer within 0.3 s.",
  ])
  expect(warnings.join("\n")).not.toContain("s3cret")
})

test("a command hears what waits in variables: a list as it is, a text by the shell", async () => {
  const folder = temporaryFolder()
  const [list, text] = [join(folder, "list"), join(folder, "text")]
  const script = join(folder, "tell.mjs")
  writeFileSync(
    script,
    `import { writeFileSync } from "node:fs"
     const told = Object.entries(process.env).filter(([name]) => name.startsWith("QM_NOTIFY_"))
     writeFileSync(process.argv[2], JSON.stringify([process.argv[3], Object.fromEntries(told)]))`,
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
  const told = {
    QM_NOTIFY_CALL_ID: "call-1",
    QM_NOTIFY_KIND: "call",
    QM_NOTIFY_AGENT: "$(touch pwned); `id`",
    QM_NOTIFY_TOOL: "a bc",
    QM_NOTIFY_UNTIL: "2030-01-02T03:04:05.000Z",
  }
  expect(JSON.parse(readFileSync(list, "utf8"))).toEqual(["$QM_NOTIFY_TOOL; exit 3", told])
  expect(JSON.parse(readFileSync(text, "utf8"))).toEqual(["$(touch pwned); `id`", told])
  expect(existsSync("pwned")).toBe(false)
  expect(warnings).toEqual([])
})

test("a command that takes too long is killed with everything it started", async () => {
  const folder = temporaryFolder()
  const pids = join(folder, "pids")
  const command = `sleep 600 & echo $! $$ > '${pids}.part'; mv '${pids}.part' '${pids}'; wait`
  // On a busy machine it may not have begun when its time is over.
  for (let commandMs = 500; !existsSync(pids); commandMs *= 4) {
    const { warnings, logger } = makeLogger()
    const notify = notifier([{ command }], logger, { commandMs })
    notify(notice)
    await notify.idle()
    expect(warnings).toEqual([
      `The command 'sleep' was not told that call call-1 waits: it did not end within ${commandMs / 1000} s and was killed.`,
    ])
  }
  const started = readFileSync(pids, "utf8").trim().split(" ").map(Number)
  expect(started).toHaveLength(2)
  await until(() => !started.some(lives), "both processes are gone")
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
  notify(notice)
  await notify.idle()
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(`${name} was not told that call call-1 waits: ${why}`)
  expect(warnings[0]).not.toContain("s3cret")
})

test("a hundred are on their way at most; what is too much is dropped with a warning, and later ones go out again", async () => {
  const open = deferred()
  const { heard, address } = await makeServer((response) => void open.promise.then(() => response.end()))
  const { warnings, logger } = makeLogger()
  const notify = notifier([{ webhook: address("/") }], logger, { webhookMs: 60_000 })
  for (let count = 0; count < 103; count++) notify({ ...notice, callId: `call-${count}` })
  expect(warnings).toHaveLength(3)
  expect(warnings[0]).toMatch(/was not told that call call-100 waits: 100 others are on their way\.$/)
  open.resolve()
  await notify.idle()
  expect(heard).toHaveLength(100)
  notify(notice)
  await notify.idle()
  expect(heard).toHaveLength(101)
  expect(warnings).toHaveLength(3)
})

test("without targets nothing happens", async () => {
  const { warnings, logger } = makeLogger()
  const notify = notifier([], logger)
  notify(notice)
  await notify.idle()
  expect(warnings).toEqual([])
})

/** A process that has ended and only its parent has not looked yet does not live. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
