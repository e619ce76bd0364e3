import { expect, test } from "vitest"
import {
  requestContext,
  openConnection,
  isRunning,
  processLog,
  stubSpec,
  textOf,
  until,
} from "../testing/mcp/connections.ts"

test("after five failures in a row the server is not tried for 30 seconds, then once", async () => {
  const { log, pids } = processLog()
  let now = 1_000_000
  const { connection } = openConnection(stubSpec({ exit: 1, log, era: "legacy" }), { now: () => now })
  for (let at = 0; at < 5; at++) await connection.ensureConnected().catch(() => {})
  expect(connection.state.state).toBe("open")
  const before = pids().length
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message:
      "The MCP server stub ended with exit code 1. It failed 5 times in a row and is not tried for 30 s; try again then.",
  })
  expect(pids()).toHaveLength(before)
  now += 30_001
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: expect.stringContaining("for 30 s") as string,
  })
  expect(pids().length).toBeGreaterThan(before)
  expect(connection.state.state).toBe("open")
})

test("a server that exits counts as one failure, however many calls it ends", async () => {
  const { connection } = openConnection(stubSpec())
  await connection.ensureConnected()
  const calls = Array.from({ length: 6 }, () =>
    connection.callTool("slow", {}, requestContext()).catch((error: Error) => error),
  )
  await connection.callTool("die", {}, requestContext()).catch(() => {})
  expect(await Promise.all(calls)).toMatchObject(calls.map(() => ({ code: "upstream_unavailable" })))
  expect(connection.state.state).toBe("resting")
  expect(textOf(await connection.callTool("echo", { text: "at once" }, requestContext()))).toBe("at once")
})

test("a timeout counts as a failure only if the server does not answer a ping either", async () => {
  const { connection } = openConnection(stubSpec())
  await connection.ensureConnected()
  const slow = (timeoutMs: number) => {
    return connection.callTool("slow", {}, requestContext({ timeoutMs })).catch((error: { code: string }) => error.code)
  }
  const once = Array.from({ length: 6 }, () => slow(1))
  expect(await Promise.all(once)).toEqual(Array(6).fill("timeout"))
  expect(textOf(await connection.callTool("echo", { text: "there" }, requestContext()))).toBe("there")
  expect(connection.state.state).toBe("connected")
})

test("a server that answers nothing is not tried for 30 seconds, then restarted", async () => {
  let now = 1_000_000
  const { connection } = openConnection(stubSpec(), { now: () => now })
  await connection.ensureConnected()
  const { pid } = connection.state
  const deaf = () =>
    connection.callTool("deaf", {}, requestContext({ timeoutMs: 20 })).catch((error: { code: string }) => error.code)
  expect(await Promise.all(Array.from({ length: 5 }, deaf))).toEqual(Array(5).fill("timeout"))
  await until(() => connection.state.state === "open")
  await expect(connection.callTool("echo", {}, requestContext())).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringContaining("is not tried for 30 s") as string,
  })
  await until(() => !isRunning(pid!))
  now += 30_001
  expect(textOf(await connection.callTool("echo", { text: "new" }, requestContext()))).toBe("new")
})

test("a server that should stay connected is restarted when it exits", async () => {
  const { connection, states } = openConnection(stubSpec())
  connection.start()
  await connection.firstAttempt()
  process.kill(connection.state.pid!, "SIGKILL")
  await until(() => connection.state.restarts === 1)
  expect(states).toEqual(["connecting", "connected", "waiting", "connecting", "connected"])
})

test("closing ends a server with all its child processes, also those that do not exit by themselves", async () => {
  const { log, pids } = processLog()
  const { connection } = openConnection(stubSpec({ log, grandchild: true, stays: true }))
  await connection.ensureConnected()
  expect(pids()).toHaveLength(2)
  expect(pids().every(isRunning)).toBe(true)
  const call = connection.callTool("slow", {}, requestContext())
  const ended = expect(call).rejects.toMatchObject({ code: "upstream_unavailable" })
  await connection.close()
  await ended
  expect(pids().some(isRunning)).toBe(false)
  await expect(connection.ensureConnected()).rejects.toMatchObject({
    message: expect.stringContaining("is closed") as string,
  })
})

test("when a server exits, the processes it started are ended too", async () => {
  const { log, pids } = processLog()
  const { connection } = openConnection(stubSpec({ log, grandchild: true }))
  await connection.callTool("die", {}, requestContext()).catch(() => {})
  await until(() => !pids().some(isRunning))
})

test("closing while a server initializes leaves no process running", async () => {
  const { log, pids } = processLog()
  const { connection } = openConnection(stubSpec({ log, hang: "initialize" }))
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
