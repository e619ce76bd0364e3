import { existsSync } from "node:fs"
import { expect, onTestFinished, test } from "vitest"
import { asking, connect, isRunning, processLog, stubSpec, textOf } from "../testing/connections.ts"
import { StdioTransport } from "./stdio.ts"

test("both eras are found out in one process, and not asked for again", async () => {
  const { log, pids } = processLog()
  const { connection } = connect(stubSpec({ era: "both", log }))
  await connection.ensure()
  expect(connection.state.protocolVersion).toBe("2026-07-28")
  expect(pids()).toHaveLength(1)
})

test("a server that dies of a question before its greeting is greeted the old way, from then on at once", async () => {
  const { log, pids } = processLog()
  const { connection } = connect(stubSpec({ era: "dies", log }))
  await connection.ensure()
  expect(connection.state.protocolVersion).toBe("2025-11-25")
  expect(pids()).toHaveLength(2)
  await connection.callTool("die", {}, asking()).catch(() => {})
  await connection.ensure()
  expect(pids()).toHaveLength(3)
})

test("a server that hangs in its greeting is given up after its time, and delays nobody else", async () => {
  const hanging = connect(stubSpec({ hang: "initialize" }))
  const good = connect(stubSpec())
  hanging.connection.start()
  good.connection.start()
  await good.connection.settled()
  expect(good.connection.state.state).toBe("connected")
  expect(hanging.connection.state.state).toBe("connecting")
  const short = connect(stubSpec({ hang: "initialize" }, { name: "hanging", connectTimeoutMs: 400 }))
  short.connection.start()
  await expect(short.connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: "The MCP server hanging did not finish its greeting within 0.4 s. The next call tries again.",
  })
  expect(short.connection.state).toMatchObject({ state: "waiting", pid: undefined })
})

test("a call that waits for a connection can be cancelled", async () => {
  const { connection } = connect(stubSpec({ hang: "initialize" }))
  const stop = new AbortController()
  const call = connection.callTool("echo", {}, asking({ signal: stop.signal }))
  stop.abort()
  await expect(call).rejects.toMatchObject({ code: "aborted" })
})

test.each([
  [{ command: "qm-no-such-command" }, "was not started, because the command qm-no-such-command was not found"],
  [{ cwd: "/no/such/folder" }, "was not started, because its folder /no/such/folder does not exist"],
  [{ args: ["-e", "process.exit(3)"] }, "ended with exit code 3"],
  [{ args: ["-e", "process.kill(process.pid, 'SIGKILL')"] }, "was ended by SIGKILL"],
])("a server that cannot be started says why: %j", async (spec, why) => {
  const { connection } = connect(stubSpec({}, spec))
  await expect(connection.ensure()).rejects.toMatchObject({
    message: `The MCP server stub ${why}. The next call tries again.`,
  })
  expect(connection.state).toMatchObject({ state: "resting", problem: `The MCP server stub ${why}.` })
})

test.each([
  [{ enabled: false }, "disabled", /^The MCP server stub is disabled/],
  [{ command: undefined, args: undefined }, "refused", /has neither a command nor a url/],
  [{ command: undefined, url: "not a url" }, "refused", /which is none/],
  [{ command: undefined, url: "ftp://example.com" }, "refused", /only http and https/],
  [{ transport: "http" as const }, "refused", /is to be reached by http but has no url/],
])("a server that is %j is never connected", async (spec, state, sentence) => {
  const { connection } = connect(stubSpec({}, spec))
  connection.start()
  expect(connection.state.state).toBe(state)
  await expect(connection.ensure()).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(sentence) as string,
  })
})

test("what a dying server said last is shown to people and not to the model", async () => {
  const { connection } = connect(stubSpec({ stderr: "no database\u001b[31m here", exit: 1 }))
  const ending = await connection.ensure().catch((error: Error) => error.message)
  expect(ending).toBe("The MCP server stub ended with exit code 1. The next call tries again.")
  expect(connection.state.problem).toBe(
    "The MCP server stub ended with exit code 1.\nIt said last:\nno database [31m here",
  )
})

const broken = "a server that ended before it could be written to is told by how it ended, not by the pipe that broke"
test.skipIf(!existsSync("/proc/self/stat"))(broken, async () => {
  const spec = stubSpec({}, { command: "sh", args: ["-c", "echo no database >&2; exit 3"] })
  const transport = new StdioTransport(spec, process.cwd(), () => {})
  await transport.start()
  const { pid } = transport
  // Nothing is heard of its end while this thread waits for it.
  while (isRunning(pid!)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  await expect(transport.send({ jsonrpc: "2.0", method: "notifications/initialized" })).rejects.toThrow()
  expect([transport.end, transport.said]).toEqual(["ended with exit code 3", "no database"])
})

test("a server gets nothing of our environment but what it needs, and what is configured", async () => {
  process.env["QM_TEST_SECRET"] = "secret"
  onTestFinished(() => void delete process.env["QM_TEST_SECRET"])
  const { connection } = connect(stubSpec({}, { env: { GIVEN: "yes" } }))
  const names = JSON.parse(textOf(await connection.callTool("environment", {}, asking()))) as string[]
  expect(names).toContain("GIVEN")
  expect(names).toContain("QM_INSIDE")
  expect(names).toContain("PATH")
  expect(names).not.toContain("QM_TEST_SECRET")
})
