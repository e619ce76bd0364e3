import type { ChildProcess } from "node:child_process"
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../../../../testing/test-app.ts"
import { makeCli } from "../../testing.ts"
import { serversOf } from "../hook/ask-server.ts"

interface Message {
  id?: number
  method?: string
  result?: { tools?: { name: string }[]; content?: { text: string }[]; isError?: boolean }
  error?: { message: string }
}

/** An MCP client of 2025 that starts `qm mcp`. */
function connect(child: ChildProcess) {
  const messages: Message[] = []
  const lines = createInterface({ input: child.stdout! })
  lines.on("line", (line) => messages.push(JSON.parse(line) as Message))
  const send = (message: object) => child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  let last = 0
  const answerTo = async (id: number): Promise<Message> => {
    await until(
      () => messages.some((message) => message.id === id && message.method === undefined),
      `${id} is answered`,
    )
    return messages.find((message) => message.id === id && message.method === undefined)!
  }
  return {
    messages,
    ask(method: string, params: object = {}) {
      const id = ++last
      send({ id, method, params })
      return answerTo(id)
    },
    async begin() {
      const clientInfo = { name: "test", version: "1" }
      const capabilities = { elicitation: {} }
      await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities, clientInfo })
      send({ method: "notifications/initialized" })
    },
  }
}

/** A project whose server runs in the background. */
async function serve() {
  const cli = makeCli()
  cli.write("quartermaster.yml", "rules: [{ allow: write_file, because: A test writes. }]\n")
  await cli.run("trust", "--yes")
  const start = async () => {
    const { code, stdout, stderr } = await cli.run("serve", "--daemon", "--port", "0", "--json")
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    return JSON.parse(stdout) as { url: string; pid: number; log: string }
  }
  onTestFinished(async () => void (await cli.run("stop")))
  return { cli, start, served: await start() }
}

test("every qm mcp is served by the server of the project, which records its calls", async () => {
  const { cli, served } = await serve()
  const child = cli.start("-C", cli.cwd, "mcp", "--agent", "operator", "--builtin", "workspace")
  const client = connect(child)
  await client.begin()
  const { result } = await client.ask("tools/list")
  expect(result?.tools?.map(({ name }) => name)).toContain("write_file")
  expect(result?.tools?.map(({ name }) => name)).not.toContain("current_time")
  await client.ask("tools/call", { name: "write_file", arguments: { path: "a.txt", content: "x" } })
  expect(readFileSync(join(cli.cwd, "a.txt"), "utf8")).toBe("x")
  // No second process opened the store: journals are named after who writes them.
  const writers = readdirSync(join(cli.dataDir, "journal")).map((name) => /(\d+)/.exec(name)?.[1])
  expect(new Set(writers).size).toBe(1)
  expect(readFileSync(`/proc/${child.pid}/maps`, "utf8")).not.toContain("sqlite")
  child.stdin!.end()
  expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0)
  expect((await cli.run("audit", "list", "--json")).stdout).toContain("write_file")
  expect(served.url).toMatch(/^http:/)
})

test("a client outlives its server: what was open is answered, and the next server goes on with it", async () => {
  const { cli, start, served } = await serve()
  const client = connect(cli.start("mcp", "--agent", "operator"))
  await client.begin()
  const open = client.ask("tools/call", { name: "run_command", arguments: { command: "echo hi" } })
  await until(async () => (await cli.run("approvals", "list", "--json")).stdout.includes("echo hi"), "the call waits")
  process.kill(served.pid, "SIGKILL")
  expect((await open).error?.message).toMatch(/server ended before this was answered/)
  const late = client.ask("tools/list")
  await start()
  expect((await late).result?.tools?.map(({ name }) => name)).toContain("run_command")
  // The new server knows that this client can show forms.
  void client.ask("tools/call", { name: "move_file", arguments: { from: "a.txt", to: "b.txt" } })
  await until(() => client.messages.some(({ method }) => method === "elicitation/create"), "a form comes")
  expect(client.messages.filter(({ method }) => method === "notifications/tools/list_changed")).not.toEqual([])
  // Nobody but the first server was told of the first messages: the client got one answer to each of its own.
  expect(client.messages.filter(({ id }) => id === 1)).toHaveLength(1)
})

test("where the server refuses the agent, the command line says why", async () => {
  const { cli } = await serve()
  expect(await cli.run("mcp", "--agent", "nobody")).toMatchObject({ code: 1, stderr: expect.stringMatching(/nobody/) })
})

test("only who can read the server's key is served without HTTP", async () => {
  const { cli, served } = await serve()
  const { port } = new URL(served.url)
  const statusWith = (headers: Record<string, string>, path = "/local/mcp?agent=operator") =>
    new Promise<number | undefined>((resolve, reject) => {
      const given = { host: "localhost", connection: "upgrade", upgrade: "quartermaster-mcp", ...headers }
      request({ host: "127.0.0.1", port, path, headers: given }, (response) => resolve(response.statusCode))
        .on("upgrade", (response, wire) => (wire.destroy(), resolve(response.statusCode)))
        .on("error", reject)
        .end()
    })
  const [server] = serversOf(cli.dataDir)
  const key = { "x-quartermaster-local": server?.key ?? "" }
  expect(await statusWith(key)).toBe(101)
  expect(await statusWith({})).toBe(401)
  expect(await statusWith({ "x-quartermaster-local": "wrong" })).toBe(401)
  expect(await statusWith({ ...key, origin: "https://evil.example" })).toBe(403)
  expect(await statusWith({ ...key, upgrade: "websocket" })).toBe(404)
  expect(await statusWith(key, "/local/mcp?agent=nobody")).toBe(409)
})

test("qm stop ends the server in the background and says so; a second one finds none", async () => {
  const { cli, served } = await serve()
  expect((await cli.run("serve", "--daemon")).stdout).toContain("already serves this folder")
  expect((await cli.run("stop")).stdout).toContain(`(process ${served.pid}) has ended.`)
  expect((await cli.run("stop")).stdout).toContain("No server runs here.")
  expect(() => process.kill(served.pid, 0)).toThrow()
})

test("a server that does not begin in the background says why", async () => {
  const cli = makeCli()
  writeFileSync(join(cli.cwd, "quartermaster.yml"), "server: { host: 0.0.0.0 }\n")
  await cli.run("trust", "--yes")
  const { code, stderr } = await cli.run("serve", "--daemon", "--port", "0")
  expect(code).toBe(1)
  expect(stderr).toMatch(/The server did not begin. It printed:\n.*publicUrl/s)
})
