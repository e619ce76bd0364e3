import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { asking, connect, isRunning, stubSpec, textOf, until } from "../testing/connections.ts"
import { clientLimits } from "./limits.ts"

/** A file in which a stub writes the processes it consists of. */
function processLog(): { log: string; pids(): number[] } {
  const dir = mkdtempSync(join(tmpdir(), "qm-mcp-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const log = join(dir, "pids")
  return { log, pids: () => readFileSync(log, "utf8").trim().split("\n").map(Number) }
}

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
  const hanging = connect(stubSpec({ hang: "initialize" }, { name: "hanging", connectTimeoutMs: 400 }))
  const good = connect(stubSpec())
  hanging.connection.start()
  good.connection.start()
  await good.connection.settled()
  expect(good.connection.state.state).toBe("connected")
  expect(hanging.connection.state.state).toBe("connecting")
  await expect(hanging.connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: "The MCP server hanging did not finish its greeting within 0.4 s. The next call tries again.",
  })
  expect(hanging.connection.state).toMatchObject({ state: "waiting", pid: undefined })
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

test("a message of a hundred megabytes ends the server and its calls with a sentence, and the house lives", async () => {
  const { connection } = connect(stubSpec())
  const other = connection.callTool("slow", {}, asking())
  await connection.ensure()
  const { pid } = connection.state
  const sentence = /^The MCP server stub sent more than 10 MB in one message while .* may have run/
  const ending = { code: "upstream_unavailable", message: expect.stringMatching(sentence) as string }
  await expect(connection.callTool("huge", { mb: 100 }, asking())).rejects.toMatchObject(ending)
  await expect(other).rejects.toMatchObject(ending)
  await until(() => !isRunning(pid!))
  expect(textOf(await connection.callTool("huge", { mb: 9 }, asking()))).toHaveLength(9 * 1024 * 1024)
})

test("a flood of notifications is cut, told once, and does not keep the answer back", async () => {
  const { connection, infos, warnings } = connect(stubSpec())
  await connection.ensure()
  const logs: unknown[] = []
  const given = asking({ onLog: (message) => logs.push(message) })
  expect(textOf(await connection.callTool("flood", { times: 8000 }, given))).toBe("flooded")
  expect(logs.length).toBeLessThanOrEqual(2 * clientLimits.notesPerSecond)
  expect(warnings).toEqual(["The MCP server stub sends more than 500 notifications a second; what is more is dropped."])
  expect(infos).toEqual([])
})

test("a flood of changes makes few questions", async () => {
  const { connection, offers } = connect(stubSpec())
  await connection.callTool("flood", { times: 5000, method: "notifications/tools/list_changed", params: {} }, asking())
  await until(() => offers.length > 1)
  expect(offers.length).toBeLessThanOrEqual(3)
})

test("lines that are no messages are passed over", async () => {
  const { connection } = connect(stubSpec())
  expect(textOf(await connection.callTool("broken", {}, asking()))).toBe("still here")
})

test("more than 10,000 tools are refused; what has no name is left out", async () => {
  const many = connect(stubSpec({ tools: 10_001, page: 5000 }))
  await expect(many.connection.ensure()).rejects.toMatchObject({
    message:
      "The MCP server stub offers more than 10000 tools, which is the most that is taken. The next call tries again.",
  })
  const nameless = connect(stubSpec({ nameless: true }))
  await nameless.connection.ensure()
  expect(nameless.offers[0]!.tools.every(({ name }) => typeof name === "string")).toBe(true)
  expect(nameless.warnings).toEqual(["The MCP server stub lists something in tools that has no name; it is left out."])
})

test("after five failures in a row nothing is let through for half a minute, then one attempt", async () => {
  const { log, pids } = processLog()
  let now = 1_000_000
  const { connection } = connect(stubSpec({ exit: 1, log, era: "legacy" }), { now: () => now })
  for (let at = 0; at < 5; at++) await connection.ensure().catch(() => {})
  expect(connection.state.state).toBe("open")
  const before = pids().length
  await expect(connection.ensure()).rejects.toMatchObject({
    message:
      "The MCP server stub ended with exit code 1. It failed 5 times in a row and is left alone for 30 s; try again then.",
  })
  expect(pids()).toHaveLength(before)
  now += 30_001
  await expect(connection.ensure()).rejects.toMatchObject({ message: expect.stringContaining("for 30 s") as string })
  expect(pids().length).toBeGreaterThan(before)
  expect(connection.state.state).toBe("open")
})

test("a call that takes too long is held against a server only when it does not answer otherwise either", async () => {
  const { connection } = connect(stubSpec({}, { connectTimeoutMs: 3000 }))
  await connection.ensure()
  const slow = (timeoutMs: number) => {
    return connection.callTool("slow", {}, asking({ timeoutMs })).catch((error: { code: string }) => error.code)
  }
  const once = Array.from({ length: 6 }, () => slow(1))
  expect(await Promise.all(once)).toEqual(Array(6).fill("timeout"))
  expect(textOf(await connection.callTool("echo", { text: "there" }, asking()))).toBe("there")
  expect(connection.state.state).toBe("connected")
})

test("a server that has stopped to answer anything is left alone, and started anew after half a minute", async () => {
  let now = 1_000_000
  const { connection } = connect(stubSpec({}, { connectTimeoutMs: 1500 }), { now: () => now })
  await connection.ensure()
  const { pid } = connection.state
  const deaf = () =>
    connection.callTool("deaf", {}, asking({ timeoutMs: 20 })).catch((error: { code: string }) => error.code)
  expect(await Promise.all(Array.from({ length: 5 }, deaf))).toEqual(Array(5).fill("timeout"))
  await until(() => connection.state.state === "open")
  await expect(connection.callTool("echo", {}, asking())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("is left alone for 30 s") as string,
  })
  await until(() => !isRunning(pid!))
  now += 30_001
  expect(textOf(await connection.callTool("echo", { text: "new" }, asking()))).toBe("new")
})

test("a server that is kept is started again by itself when it died", async () => {
  const { connection, states } = connect(stubSpec())
  connection.start()
  await connection.settled()
  process.kill(connection.state.pid!, "SIGKILL")
  await until(() => connection.state.restarts === 1)
  expect(states).toEqual(["connecting", "connected", "waiting", "connecting", "connected"])
})

test("closing ends the whole family of a server, also those that will not go", async () => {
  const { log, pids } = processLog()
  const { connection } = connect(stubSpec({ log, grandchild: true, stays: true }))
  await connection.ensure()
  expect(pids()).toHaveLength(2)
  expect(pids().every(isRunning)).toBe(true)
  const call = connection.callTool("slow", {}, asking())
  const ended = expect(call).rejects.toMatchObject({ code: "upstream_unavailable" })
  await connection.close()
  await ended
  expect(pids().some(isRunning)).toBe(false)
  await expect(connection.ensure()).rejects.toMatchObject({ message: expect.stringContaining("is closed") as string })
})

test("a server that dies does not leave behind what it started", async () => {
  const { log, pids } = processLog()
  const { connection } = connect(stubSpec({ log, grandchild: true }))
  await connection.callTool("die", {}, asking()).catch(() => {})
  await until(() => !pids().some(isRunning))
})

test("closing in the middle of a greeting leaves nothing running", async () => {
  const { log, pids } = processLog()
  const { connection } = connect(stubSpec({ log, hang: "initialize" }))
  connection.start()
  await until(() => {
    try {
      return pids().length === 1
    } catch {
      return false
    }
  })
  await connection.close()
  expect(pids().some(isRunning)).toBe(false)
})
