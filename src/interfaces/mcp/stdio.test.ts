import { PassThrough } from "node:stream"
import { Client, type Transport } from "@modelcontextprotocol/client"
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/server"
import { expect, onTestFinished, test } from "vitest"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import { definition, toolbox } from "../../testing/mcp/toolbox.ts"
import { serveStdio, type StdioOptions } from "./stdio.ts"
import { eras, textOf, type Era } from "./testing.ts"

/** Connects the SDK's client over two pipes. */
async function attach(app: Awaited<ReturnType<typeof openTestApp>>, era: Era, options: Partial<StdioOptions> = {}) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let isOver = false
  const served = serveStdio(app, { agentId: "operator" }, { stdin, stdout, version: "1.2.3", ...options }).then(
    () => (isOver = true),
  )
  const buffer = new ReadBuffer()
  const transport: Transport = {
    async start() {
      stdout.on("data", (chunk: Buffer) => {
        buffer.append(chunk)
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          transport.onmessage?.(message)
        }
      })
    },
    send: async (message) => void stdin.write(serializeMessage(message)),
    async close() {
      stdin.end()
      transport.onclose?.()
    },
  }
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" } },
  )
  const notifications: { method: string; params?: unknown }[] = []
  client.fallbackNotificationHandler = async (one) => void notifications.push(one)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, notifications, stdin, served, isOver: () => isOver }
}

test.each(eras)("one client is served over two pipes until it closes its end (%s)", async (era) => {
  const app = await openTestApp()
  let isStopped = false
  app.registry.registerMany([
    tool({ execute: () => "ran" }),
    tool({
      name: "slow",
      execute: (_input, { signal, emit }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => (isStopped = true))
          emit("begun")
        }),
    }),
  ])
  const { client, stdin, served, isOver } = await attach(app, era)
  expect(client.getServerVersion()).toMatchObject({ name: "quartermaster", version: "1.2.3" })
  expect(client.getInstructions()).toContain("under rules")
  expect(textOf(await client.callTool({ name: "probe", arguments: {} }))).toBe("ran")
  let begun = false
  const left = client.callTool({ name: "slow", arguments: {} }, { onprogress: () => void (begun = true) })
  left.catch(() => {})
  await until(() => begun, "it runs")
  expect(isOver()).toBe(false)
  stdin.end()
  await served
  await until(() => isStopped, "the running call is stopped")
})

test("an abort signal ends serving", async () => {
  const stop = new AbortController()
  const { served } = await attach(await openTestApp(), "legacy", { signal: stop.signal })
  stop.abort()
  await served
})

test("a client that listens to a resource is notified when it changes", async () => {
  const box = toolbox({ tools: [definition("say")], resources: [{ uri: "note://a", name: "a" }] })
  const app = await openTestApp({ mcpServers: { box: box.command } })
  await app.mcp.ready()
  const { client, notifications } = await attach(app, "modern")
  const listening = await client.listen({ resourceSubscriptions: ["note://a"] })
  await until(
    () => notifications.some(({ method }) => method === "notifications/resources/updated"),
    "the change is announced",
  )
  expect(notifications.at(-1)?.params).toMatchObject({ uri: "note://a" })
  await listening.close()
})
