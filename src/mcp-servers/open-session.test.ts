import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { requestContext, openConnection, isRunning, processLog, stubSpec, textOf } from "../testing/mcp/connections.ts"
import { temporaryFolder } from "../testing/test-app.ts"
import { StdioTransport } from "./stdio-transport.ts"

test("the era is probed in one process", async () => {
  const { log, pids } = processLog()
  const { connection } = openConnection(stubSpec({ era: "both", log }))
  await connection.ensureConnected()
  expect(connection.state.protocolVersion).toBe("2026-07-28")
  expect(pids()).toHaveLength(1)
})

test("a server of 2026 that leaves out resultType is understood", async () => {
  const { connection } = openConnection(stubSpec({ era: "modern", bare: true }))
  expect(textOf(await connection.callTool("echo", { text: "hi" }, requestContext()))).toContain("hi")
  expect(connection.state.protocolVersion).toBe("2026-07-28")
})

test.each(["2025-06-18", "2025-11-25", "2026-07-28"] as const)(
  "a server is spoken to in the revision that the configuration names: %s",
  async (protocol) => {
    const { connection } = openConnection(stubSpec({ era: "both" }, { protocol }))
    await connection.ensureConnected()
    expect(connection.state.protocolVersion).toBe(protocol)
  },
)

test("a server that exits at the probe is restarted in the older protocol, and not probed again", async () => {
  const { log, pids } = processLog()
  const { connection } = openConnection(stubSpec({ era: "dies", log }))
  await connection.ensureConnected()
  expect(connection.state.protocolVersion).toBe("2025-11-25")
  expect(pids()).toHaveLength(2)
  await connection.callTool("die", {}, requestContext()).catch(() => {})
  await connection.ensureConnected()
  expect(pids()).toHaveLength(3)
})

test("a server that hangs while initializing times out and delays no other server", async () => {
  const hanging = openConnection(stubSpec({ hang: "initialize" }))
  const good = openConnection(stubSpec())
  hanging.connection.start()
  good.connection.start()
  await good.connection.firstAttempt()
  expect(good.connection.state.state).toBe("connected")
  expect(hanging.connection.state.state).toBe("connecting")
  const short = openConnection(stubSpec({ hang: "initialize" }, { name: "hanging", connectTimeoutMs: 400 }))
  short.connection.start()
  await expect(short.connection.callTool("echo", {}, requestContext())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: "The MCP server hanging did not finish initializing within 0.4 s. The next call tries again.",
  })
  expect(short.connection.state).toMatchObject({ state: "waiting", pid: undefined })
})

test("people are told the first line of a server that prints no messages, and what to do", async () => {
  const script = 'console.log("\\u001b[32mListening on port 3000"); console.log("Ready"); setInterval(() => {}, 1000)'
  const { connection } = openConnection(stubSpec({}, { name: "web", args: ["-e", script], connectTimeoutMs: 1000 }))
  connection.start()
  await connection.firstAttempt()
  expect(connection.state.problem).toBe(
    'The MCP server web did not finish initializing within 1 s.\nIt printed "[32mListening on port 3000" on stdout, where only JSON-RPC messages belong. Make it write its log to stderr, or start it with the command that its documentation names for stdio.',
  )
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: expect.not.stringContaining("Listening"),
  })
})

test("a call that waits for a connection can be cancelled", async () => {
  const { connection } = openConnection(stubSpec({ hang: "initialize" }))
  const stop = new AbortController()
  const call = connection.callTool("echo", {}, requestContext({ signal: stop.signal }))
  stop.abort()
  await expect(call).rejects.toMatchObject({ code: "aborted" })
})

test.each([
  [{ command: "qm-no-such-command" }, "was not started, because the command qm-no-such-command was not found"],
  [{ cwd: "/no/such/folder" }, "was not started, because its folder /no/such/folder does not exist"],
  [{ args: ["-e", "process.exit(3)"] }, "ended with exit code 3"],
  [{ args: ["-e", "process.kill(process.pid, 'SIGKILL')"] }, "was ended by SIGKILL"],
])("a server that cannot be started says why: %j", async (spec, why) => {
  const { connection } = openConnection(stubSpec({}, spec))
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: `The MCP server stub ${why}. The next call tries again.`,
  })
  expect(connection.state).toMatchObject({ state: "resting", problem: `The MCP server stub ${why}.` })
})

test.each([
  [{ enabled: false }, "disabled", /^The MCP server stub is disabled/],
  [{ command: undefined, args: undefined }, "refused", /has neither a command nor a url/],
  [{ command: undefined, url: "not a url" }, "refused", /which is not a valid url/],
  [{ command: undefined, url: "ftp://example.com" }, "refused", /only http and https/],
  [{ transport: "http" as const }, "refused", /uses the transport http but has no url/],
])("a server that is %j is never connected", async (spec, state, sentence) => {
  const { connection } = openConnection(stubSpec({}, spec))
  connection.start()
  expect(connection.state.state).toBe(state)
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(sentence) as string,
  })
})

test("the last error output of a server is shown to people and not to the model", async () => {
  const { connection } = openConnection(stubSpec({ stderr: "no database\u001b[31m here", exit: 1 }))
  const ending = await connection.ensureConnected().catch((error: Error) => error.message)
  expect(ending).toBe("The MCP server stub ended with exit code 1. The next call tries again.")
  expect(connection.state.problem).toBe(
    "The MCP server stub ended with exit code 1.\nIts last output was:\nno database [31m here",
  )
})

const title = "a server that exits before the first write is reported with its exit code, not with a broken pipe"
test.skipIf(!existsSync("/proc/self/stat"))(title, async () => {
  const spec = stubSpec({}, { command: "sh", args: ["-c", "echo no database >&2; exit 3"] })
  const transport = new StdioTransport(spec, process.cwd(), () => {})
  await transport.start()
  const { pid } = transport
  // The exit event cannot come while this thread blocks.
  while (isRunning(pid!)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  await expect(transport.send({ jsonrpc: "2.0", method: "notifications/initialized" })).rejects.toThrow()
  expect([transport.end, transport.printed]).toEqual(["ended with exit code 3", "Its last output was:\nno database"])
})

test("a server gets only the default and the configured environment variables", async () => {
  process.env["QM_TEST_SECRET"] = "secret"
  onTestFinished(() => void delete process.env["QM_TEST_SECRET"])
  const { connection } = openConnection(stubSpec({}, { env: { GIVEN: "yes" } }))
  const names = JSON.parse(textOf(await connection.callTool("environment", {}, requestContext()))) as string[]
  expect(names).toContain("GIVEN")
  expect(names).toContain("QM_INSIDE")
  expect(names).toContain("PATH")
  expect(names).not.toContain("QM_TEST_SECRET")
})

test("a server that a package runner starts and that is too slow is tried again, because it is downloaded first", async () => {
  const folder = temporaryFolder()
  const npx = join(folder, "npx")
  writeFileSync(npx, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 })
  const { connection } = openConnection(stubSpec({}, { command: npx, args: [], connectTimeoutMs: 100 }))
  connection.start()
  await connection.firstAttempt()
  expect(connection.state.problem).toContain("within 0.1 s; the first start downloads it, so try once more.")
})
