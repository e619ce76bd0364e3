import { getEventListeners, setMaxListeners } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { expect, onTestFinished, test } from "vitest"
import type { McpServerSpec } from "../core/mcp.ts"
import {
  requestContext,
  openConnection,
  isRunning,
  plainSpec,
  stubSpec,
  textOf,
  until,
} from "../testing/mcp/connections.ts"
import { sessionServer, sseServer, bothErasServer, type TestHttpServer } from "../testing/mcp/http-servers.ts"
import type { Connection } from "./connection.ts"

setFlagsFromString("--expose_gc")
const collect = runInNewContext("gc") as () => void

/** The file descriptors, child processes and memory of this process. */
async function resourcesInUse(): Promise<{ files: number; children: number; megabytes: number }> {
  for (let at = 0; at < 3; at++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    collect()
  }
  return {
    files: readdirSync("/proc/self/fd").length,
    children: childrenOf(process.pid),
    megabytes: process.memoryUsage().heapUsed / 1024 / 1024,
  }
}

function childrenOf(parent: number): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        Number(
          readFileSync(`/proc/${Number(name)}/stat`, "utf8")
            .split(") ")
            .at(-1)!
            .split(" ")[1],
        ) === parent
      )
    } catch {
      return false
    }
  }).length
}

/** Warnings about too many listeners while the test runs. */
function listenerWarnings(): string[] {
  const warnings: string[] = []
  const listener = (warning: Error) =>
    void (warning.name === "MaxListenersExceededWarning" && warnings.push(warning.message))
  process.on("warning", listener)
  onTestFinished(() => void process.off("warning", listener))
  return warnings
}

async function callMany(connection: Connection, times: number, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < times; at += 20) {
    const batch = Array.from({ length: 20 }, (_, next) => {
      return connection.callTool(
        "echo",
        { text: `${at + next}` },
        requestContext({ signal, timeoutMs: 60_000, onProgress() {} }),
      )
    })
    const results = await Promise.all(batch)
    results.forEach((result, next) => expect(textOf(result)).toBe(`${at + next}`))
  }
}

/** `forget` clears what the test server records of each request, because it is in this process too. */
async function expectNoLeak(
  spec: McpServerSpec,
  reconnect: (connection: Connection) => Promise<void>,
  forget: () => void = () => {},
): Promise<void> {
  const warnings = listenerWarnings()
  const { connection } = openConnection(spec)
  const { signal } = new AbortController()
  setMaxListeners(20, signal)
  await callMany(connection, 1000, signal)
  forget()
  const before = await resourcesInUse()
  await callMany(connection, 10_000, signal)
  forget()
  const called = await resourcesInUse()
  expect(called.files).toBeLessThanOrEqual(before.files + 5)
  expect(called.children).toBe(before.children)
  expect(called.megabytes - before.megabytes).toBeLessThan(8)
  for (let at = 0; at < 100; at++) {
    await reconnect(connection)
    await callMany(connection, 20, signal)
    forget()
  }
  expect(connection.state.restarts).toBe(100)
  const reconnected = await resourcesInUse()
  expect(reconnected.files).toBeLessThanOrEqual(before.files + 5)
  expect(reconnected.children).toBe(before.children)
  expect(reconnected.megabytes - before.megabytes).toBeLessThan(12)
  expect(getEventListeners(signal, "abort")).toEqual([])
  expect(warnings).toEqual([])
}

test.each(["legacy", "modern"])(
  "10,000 calls and 100 restarts of a %s server leave no listener, process, descriptor or memory behind",
  async (era) => {
    await expectNoLeak(stubSpec({ era }), async (connection) => {
      const { pid } = connection.state
      process.kill(pid!, "SIGKILL")
      await until(() => connection.state.state !== "connected" && !isRunning(pid!))
    })
  },
)

test.each([
  ["of today", (port?: number): Promise<TestHttpServer> => bothErasServer(port)],
  ["of 2025 with sessions", (port?: number): Promise<TestHttpServer> => sessionServer(port)],
])("10,000 calls and 100 reconnects to a server %s leave nothing behind", async (_, serve) => {
  let server = await serve()
  const reconnect = async (connection: Connection) => {
    await server.stop()
    await connection.callTool("echo", { text: "" }, requestContext()).catch(() => {})
    server = await serve(server.port)
  }
  await expectNoLeak(plainSpec({ url: server.url }), reconnect, () => void server.requests.splice(0))
})

test("10,000 calls and 100 reconnects by SSE leave nothing behind", async () => {
  const server = await sseServer()
  const reconnect = async (connection: Connection) => {
    for (const stream of server.streams) stream.destroy()
    await until(() => connection.state.state !== "connected")
  }
  await expectNoLeak(plainSpec({ url: server.url, transport: "sse" }), reconnect, () => void server.requests.splice(0))
})
