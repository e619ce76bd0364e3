import { readFileSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { waitForOutput, outputOf, makeCli } from "../../testing.ts"

interface Where {
  url: string
  mcp: string
  healthz: string
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
}

function ask(url: string, token?: string) {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(initialize),
  })
}

test("'qm serve' serves until a signal; a token created or revoked elsewhere takes effect at once", async () => {
  const cli = makeCli()
  await cli.run("roles", "create", "--name", "worker", "--groups", "data")
  await cli.run("agents", "create", "--id", "dev", "--role", "worker")
  const server = cli.start("serve", "--port", "0", "--json")
  const done = outputOf(server, "")
  const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
  const where = JSON.parse(line) as Where
  expect(where).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    mcp: `${where.url}/mcp`,
    healthz: `${where.url}/healthz`,
    version: expect.any(String),
    dataDir: cli.dataDir,
    pid: server.pid,
  })
  expect((await fetch(where.healthz)).status).toBe(200)
  expect((await ask(where.mcp)).status).toBe(401)
  const made = await cli.run("tokens", "create", "--agent", "dev", "--json")
  const { token, id } = JSON.parse(made.stdout) as { token: string; id: string }
  expect((await ask(where.mcp, token)).status).toBe(200)
  await cli.run("tokens", "revoke", id)
  expect((await ask(where.mcp, token)).status).toBe(401)
  server.kill("SIGTERM")
  expect(await done).toMatchObject({ code: 0, stdout: line })
})

test.each(["SIGINT", "SIGHUP"] as const)(
  "qm serve prints its URL and the next commands, and runs until %s",
  async (signal) => {
    const cli = makeCli()
    const server = cli.start("serve", "--port", "0")
    const done = outputOf(server, "")
    await waitForOutput(server, "Press Ctrl-C to stop.")
    server.kill(signal)
    const { code, stdout } = await done
    expect(code).toBe(0)
    for (const words of ["http://127.0.0.1:", "/mcp ", "qm tokens create --agent <id>", "qm approvals ", "qm start "]) {
      expect(stdout).toContain(words)
    }
  },
)

test("a second 'qm serve' on one folder says where the first runs, with a link, and starts none", async () => {
  const cli = makeCli()
  const first = cli.start("serve", "--port", "0", "--json")
  const done = outputOf(first, "")
  const line = await new Promise<string>((resolve) => first.stdout?.once("data", (part: string) => resolve(part)))
  const { url } = JSON.parse(line) as Where
  const second = await cli.run("serve")
  expect(second.code).toBe(0)
  for (const words of [
    `already serves this folder at ${url} (process ${first.pid})`,
    `${url}/signin#`,
    "qm serve --port 0",
  ])
    expect(second.stdout).toContain(words)
  const asked = await cli.run("serve", "--port", new URL(url).port, "--json")
  expect(JSON.parse(asked.stdout)).toEqual({ alreadyRuns: true, url, dataDir: cli.dataDir, pid: first.pid })
  first.kill("SIGTERM")
  await done
})

test("--port starts a second server beside the first, and 'qm open' finds whichever still runs", async () => {
  const cli = makeCli()
  const servers = []
  for (const _ of [1, 2]) {
    const server = cli.start("serve", "--port", "0", "--json")
    const done = outputOf(server, "")
    const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
    servers.push({ server, done, url: (JSON.parse(line) as Where).url })
  }
  const [first, second] = servers
  const opened = async () => new URL((JSON.parse((await cli.run("open", "--json")).stdout) as Where).url).origin
  expect(await opened()).toBe(second!.url)
  second!.server.kill("SIGTERM")
  expect((await second!.done).stderr).toContain(`Another server of this data folder runs at ${first!.url}`)
  expect(await opened()).toBe(first!.url)
  const elsewhere = makeCli({ HOME: cli.home })
  await elsewhere.run("call", "current_time")
  expect(await elsewhere.run("open")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`One runs for another folder: --data ${cli.dataDir}.`),
  })
  first!.server.kill("SIGTERM")
  await first!.done
})

test("a server that was killed keeps no other from starting", async () => {
  const cli = makeCli()
  const killed = cli.start("serve", "--port", "0", "--json")
  const done = outputOf(killed, "")
  const { url } = JSON.parse(
    await new Promise<string>((resolve) => killed.stdout?.once("data", (part: string) => resolve(part))),
  ) as Where
  killed.kill("SIGKILL")
  await done
  // Another process has its number since.
  const file = join(cli.dataDir, `server.${killed.pid}.json`)
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), pid: process.pid }))
  expect(await cli.run("open")).toMatchObject({ code: 1, stderr: expect.stringContaining("No server runs here") })
  const { port } = new URL(url)
  const next = cli.start("serve", "--port", port)
  const ended = outputOf(next, "")
  await waitForOutput(next, "Press Ctrl-C to stop.")
  next.kill("SIGTERM")
  expect((await ended).code).toBe(0)
})

test("qm serve listens where the configuration says; options override it", async () => {
  const cli = makeCli()
  const taken = createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.on("listening", resolve))
  const { port } = taken.address() as AddressInfo
  const config = join(cli.cwd, "given.yml")
  writeFileSync(config, `server: { host: 127.0.0.1, port: ${port} }\n`)
  const refused = await cli.run("serve", "--config", config)
  expect(refused).toMatchObject({ code: 1, stdout: "" })
  expect(refused.stderr).toContain(`Port ${port} of 127.0.0.1 cannot be listened on. Another program has it.`)
  const server = cli.start("serve", "--config", config, "--port", "0")
  const done = outputOf(server, "")
  await waitForOutput(server, "Press Ctrl-C to stop.")
  server.kill("SIGINT")
  expect((await done).code).toBe(0)
})

test("the configuration limits host names, origins and request size", async () => {
  const cli = makeCli()
  const config = join(cli.cwd, "given.yml")
  const keys =
    "host: 127.0.0.1, port: 0, allowedHosts: [tools.example], allowedOrigins: [page.example], maxBodyBytes: 100"
  writeFileSync(config, `server: { ${keys} }\n`)
  const server = cli.start("serve", "--config", config, "--json")
  const done = outputOf(server, "")
  const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
  const { healthz, mcp } = JSON.parse(line) as Where
  expect(await statusOf(healthz, { host: "tools.example" })).toBe(200)
  expect(await statusOf(healthz, { host: "other.example" })).toBe(403)
  expect(await statusOf(healthz, { origin: "https://page.example" })).toBe(200)
  expect(await statusOf(healthz, { origin: "https://other.example" })).toBe(403)
  const made = await cli.run("tokens", "create", "--agent", "operator", "--config", config, "--json")
  const { token } = JSON.parse(made.stdout) as { token: string }
  expect((await ask(mcp, token)).status).toBe(413)
  server.kill("SIGINT")
  expect((await done).code).toBe(0)
})

/** `fetch` does not let anyone say the Host header. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on("error", reject)
      .end()
  })
}

test("-C runs in that folder and must come first", async () => {
  const cli = makeCli()
  const other = makeCli()
  expect(await cli.run("-C", other.cwd, "init")).toMatchObject({ code: 0 })
  expect(readFileSync(join(other.cwd, "quartermaster.yml"), "utf8")).toContain("mcpServers")
  expect(await cli.run("tools", "-C", other.cwd)).toMatchObject({
    code: 2,
    stderr: "-C must come first: qm -C <folder> <command>.\n",
  })
  expect(await cli.run("-C", "nowhere", "tools")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("-C takes a folder"),
  })
})
