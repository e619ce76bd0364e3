import { expect, test } from "vitest"
import { asking, connect, isRunning, processLog, stubSpec, textOf, until } from "../testing/connections.ts"

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

test("a server that dies counts as one failure, however many calls it takes along", async () => {
  const { connection } = connect(stubSpec())
  await connection.ensure()
  const calls = Array.from({ length: 6 }, () =>
    connection.callTool("slow", {}, asking()).catch((error: Error) => error),
  )
  await connection.callTool("die", {}, asking()).catch(() => {})
  expect(await Promise.all(calls)).toMatchObject(calls.map(() => ({ code: "upstream_unavailable" })))
  expect(connection.state.state).toBe("resting")
  expect(textOf(await connection.callTool("echo", { text: "at once" }, asking()))).toBe("at once")
})

test("a call that takes too long is held against a server only when it does not answer otherwise either", async () => {
  const { connection } = connect(stubSpec())
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
  const { connection } = connect(stubSpec(), { now: () => now })
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
