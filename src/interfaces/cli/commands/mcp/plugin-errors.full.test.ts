import type { ChildProcess } from "node:child_process"
import { expect, test } from "vitest"
import { makeCli, outputOf, waitForOutput } from "../../testing.ts"

const config = `
org:
  roles: [{ name: worker, toolGroups: [late] }]
  agents: [{ id: dev, role: worker }]
plugins: [./late.mjs]
`

/** Each tool returns at once, and what it started throws later. */
const plugin = `
const tool = (name, start) => ({
  name, description: "Throws later.", effect: "none", parameters: [],
  async execute() { start(new Error(name + " went wrong")); return { success: true, data: "returned" } },
})
export default {
  name: "late",
  version: "1.0.0",
  tools: [
    tool("timer", (error) => void setTimeout(() => { throw error }, 1)),
    tool("rejection", (error) => void new Promise((_, reject) => setTimeout(() => reject(error), 1))),
    tool("microtask", (error) => setTimeout(() => queueMicrotask(() => { throw error }), 1)),
  ],
}
`

function setUp(env: Record<string, string> = {}) {
  const cli = makeCli(env)
  cli.write("given.yml", config)
  cli.write("late.mjs", plugin)
  return cli
}

function line(server: ChildProcess): Promise<string> {
  return new Promise((resolve) => server.stdout?.setEncoding("utf8").once("data", resolve))
}

const sentence = (whose: string, message: string) =>
  `${whose}: threw an error that no call could catch: ${message}. The server goes on; correct the plugin, or switch it off`

test("a server goes on after a late throw in a plugin and says which plugin and tool threw", async () => {
  const cli = setUp()
  const created = await cli.run("tokens", "create", "--agent", "dev", "--json", "--config", "given.yml")
  const { token } = JSON.parse(created.stdout) as { token: string }
  const server = cli.start("serve", "--port", "0", "--json", "--config", "given.yml")
  const done = outputOf(server, "")
  const { url } = JSON.parse(await line(server)) as { url: string }
  const call = async (tool: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const response = await fetch(`${url}/v1/tools/${tool}/call`, { method: "POST", headers, body: '{"input":{}}' })
    return (await response.json()) as unknown
  }
  const expected = [
    ["timer", sentence("Plugin late, tool timer", "timer went wrong")],
    ["rejection", sentence("Plugin late, tool rejection", "rejection went wrong")],
    ["microtask", sentence("Plugin late", "microtask went wrong")],
  ] as const
  for (const [tool, said] of expected) {
    const printed = waitForOutput(server, said)
    expect(await call(tool)).toMatchObject({ success: true, result: "returned" })
    await printed
  }
  expect(await call("timer")).toMatchObject({ success: true })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  server.kill("SIGTERM")
  expect(await done).toMatchObject({ code: 0 })
})

test("a client's server on stdin goes on too, and stdout has protocol messages only", async () => {
  const cli = setUp()
  const server = cli.start("mcp", "serve", "--agent", "dev", "--config", "given.yml")
  const send = (message: object) => server.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const clientInfo = { name: "test", version: "1" }
  const first = line(server)
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } })
  expect(JSON.parse(await first)).toMatchObject({ id: 1 })
  send({ method: "notifications/initialized" })
  const printed = waitForOutput(server, sentence("Plugin late, tool timer", "timer went wrong"))
  send({ id: 2, method: "tools/call", params: { name: "timer", arguments: {} } })
  await printed
  const answered = waitForOutput(server, '"id":3')
  send({ id: 3, method: "ping" })
  await answered
  expect(await outputOf(server, "")).toMatchObject({ code: 0 })
})

test("an error that is no plugin's ends the server with its message", async () => {
  const cli = setUp({ NODE_OPTIONS: "--import ./other.mjs" })
  cli.write("other.mjs", `process.on("SIGUSR2", () => { throw new Error("somebody else's mistake") })`)
  const server = cli.start("serve", "--port", "0", "--json", "--config", "given.yml")
  const done = outputOf(server, "")
  await line(server)
  server.kill("SIGUSR2")
  expect(await done).toMatchObject({ code: 1, stderr: expect.stringContaining("Error: somebody else's mistake") })
})
