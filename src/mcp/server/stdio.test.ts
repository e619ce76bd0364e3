import { PassThrough } from "node:stream"
import { Client, type Transport } from "@modelcontextprotocol/client"
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/server"
import { expect, onTestFinished, test } from "vitest"
import { open, tool, until } from "../../testing/open.ts"
import { definition, toolbox } from "../testing/toolbox.ts"
import { serveStdio, type StdioOptions } from "./stdio.ts"
import { eras, textOf, type Era } from "./testing.ts"

/** A stock client at the other end of two pipes. */
async function attach(app: Awaited<ReturnType<typeof open>>, era: Era, given: Partial<StdioOptions> = {}) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  let isOver = false
  const served = serveStdio(app, { agentId: "operator" }, { stdin, stdout, version: "1.2.3", ...given }).then(
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
  const told: { method: string; params?: unknown }[] = []
  client.fallbackNotificationHandler = async (one) => void told.push(one)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, told, stdin, served, isOver: () => isOver }
}

test.each(eras)("one client is served on a pair of pipes until its own end is closed (%s)", async (era) => {
  const house = await open()
  let isStopped = false
  house.registry.registerMany([
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
  const { client, stdin, served, isOver } = await attach(house, era)
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
  await until(() => isStopped, "what was under way is stopped")
})

test("a signal ends it as well", async () => {
  const stop = new AbortController()
  const { served } = await attach(await open(), "legacy", { signal: stop.signal })
  stop.abort()
  await served
})

test("a client that listens to a resource is told when it changes, whatever asks for that in its era", async () => {
  const box = toolbox({ tools: [definition("say")], resources: [{ uri: "note://a", name: "a" }] })
  const house = await open({ mcpServers: { box: box.command } })
  await house.mcp.ready()
  const { client, told } = await attach(house, "modern")
  const listening = await client.listen({ resourceSubscriptions: ["note://a"] })
  await until(() => told.some(({ method }) => method === "notifications/resources/updated"), "the change is told")
  expect(told.at(-1)?.params).toMatchObject({ uri: "note://a" })
  await listening.close()
})
