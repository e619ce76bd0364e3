import { readFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { createQuartermaster } from "../app.ts"
import { printable } from "../approval/printable.ts"
import type { Config } from "../config/schema.ts"
import { agree, authorizationServer, guardedServer, type Told } from "../mcp/testing/oauth-servers.ts"
import { temporaryFolder, until } from "../testing/open.ts"
import type { House, Io } from "./house.ts"
import { main } from "./main.ts"
import { runOver } from "./testing.ts"

/** Commands of a person at a terminal, each in a house of its own over one data folder. */
async function desk(told: Told = {}, auth?: NonNullable<Config["mcpServers"]>) {
  const giver = await authorizationServer(told)
  const server = await guardedServer(() => giver)
  const dir = temporaryFolder()
  const config: Config = {
    data: { dir },
    mcpServers: auth ?? { files: { url: server.url } },
    rules: [{ allow: "group:files", because: "A test." }],
  }
  const open = () => createQuartermaster(config, { writes: "direct", sweepMs: 0 })
  const run = (line: string, env: Record<string, string> = {}) =>
    runOver({}, line.split(" "), { env, house: { printable, open } })
  return { giver, server, dir, run, atTerminal: (line: string) => atTerminal(line, open) }
}

function atTerminal(line: string, open: House["open"]) {
  const text = { stdout: "", stderr: "" }
  const stream = (name: "stdout" | "stderr") =>
    ({ write: (part: string) => (text[name] += part) !== "", on() {}, isTTY: true }) as unknown as Io["stdout"]
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const io: Io = {
    stdin: stdin as unknown as Io["stdin"],
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: { NO_COLOR: "1" },
    cwd: "/nowhere",
    home: "/nowhere",
    leave: () => {},
  }
  const house = {
    loadConfig: () => Promise.resolve({ config: {}, dataDir: "/nowhere", warnings: [], trusted: true }),
    open,
    whoIs: () => Promise.resolve({ id: "ann", proved: "this test" }),
    printable,
  } as unknown as House
  const ended = main(line.split(" "), io, house)
  const address = async () => {
    await until(() => /http\S+\/authorize\S+/.test(text.stdout + text.stderr), "an address was shown")
    return /http\S+\/authorize\S+/.exec(text.stdout + text.stderr)![0]
  }
  return { text, stdin, ended, address }
}

test("a person signs in: the address is printed, the browser comes back, and the tools are there", async () => {
  const { atTerminal: type, run, giver, dir } = await desk()
  const { ended, address, text } = type("mcp login files")
  const page = await fetch(await agree(await address()))
  expect([page.status, await page.text()]).toEqual([200, "You are signed in at files. You can close this page.\n"])
  expect(await ended).toBe(0)
  expect(text.stdout).toBe(`ann is signed in at files, by ${giver.issuer}. It gives: use.\n`)
  expect(await run("call mcp:files:read --json")).toMatchObject({ code: 0 })
  const list = await run("mcp list --json")
  expect(JSON.parse(list.stdout)).toMatchObject([{ state: "connected", tools: 2 }])
  const record = await run("audit show login:files --json")
  expect(record.stdout).toContain('"by":"ann"')
  const secrets = readFileSync(join(dir, "logins", "files.json"), "utf8").match(/secret-[a-z]+-[0-9a-f-]+/g)!
  for (const secret of secrets) expect(JSON.stringify([text, list, record])).not.toContain(secret)
})

test("an answer that is not ours is turned away at the door, and the right one still counts", async () => {
  const { atTerminal: type } = await desk()
  const { ended, address } = type("mcp login files")
  const right = new URL(await agree(await address()))
  const forged = new URL(right)
  forged.searchParams.set("state", "guessed")
  expect((await fetch(forged)).status).toBe(400)
  expect((await fetch(new URL("/favicon.ico", right))).status).toBe(404)
  expect((await fetch(right, { method: "POST" })).status).toBe(404)
  expect(await statusAs("evil.example", right)).toBe(404)
  expect((await fetch(right)).status).toBe(200)
  expect(await ended).toBe(0)
})

test("a browser that comes twice at once with the right answer is told so twice", async () => {
  const { atTerminal: type } = await desk()
  const { ended, address } = type("mcp login files")
  const right = await agree(await address())
  const pages = await Promise.all([fetch(right), fetch(right)])
  expect(pages.map(({ status }) => status)).toEqual([200, 200])
  expect(await ended).toBe(0)
})

test("where the browser is elsewhere, the address it ends up at is pasted", async () => {
  const { atTerminal: type } = await desk()
  const { ended, address, stdin, text } = type("mcp login files")
  const redirected = await agree(await address())
  stdin.write("http://evil.example/callback?code=1\n")
  await until(() => text.stderr.includes("not the address a browser comes back to"), "it was turned away")
  stdin.write(`${redirected}\n`)
  expect(await ended).toBe(0)
})

test("without waiting, the address is printed, and another command goes on with what was pasted", async () => {
  const { atTerminal: type } = await desk()
  const first = type("mcp login files --no-wait")
  expect(await first.ended).toBe(0)
  expect(first.text.stdout).toContain("Copy it and run: qm mcp login files --paste")
  const second = type("mcp login files --paste")
  second.stdin.end(`${await agree(await first.address())}\n`)
  expect(await second.ended).toBe(0)
  const third = type("mcp login files --paste")
  third.stdin.end("http://127.0.0.1:1/callback\n")
  expect(await third.ended).toBe(1)
  expect(third.text.stderr).toContain("No sign-in at files waits for an answer. Begin one: qm mcp login files")
})

test("a refusal there ends the command with a sentence", async () => {
  const { atTerminal: type } = await desk({ redirects: (url) => url.searchParams.set("error", "access_denied") })
  const { ended, address, text } = type("mcp login files")
  expect((await fetch(await agree(await address()))).status).toBe(400)
  expect(await ended).toBe(1)
  expect(text.stderr).toContain("Signing in at files failed: the authorization server answered access_denied.")
})

test("only a person at a terminal signs in, and no program that an agent started", async () => {
  const { run, giver } = await desk()
  expect(await run("mcp login files")).toMatchObject({
    code: 3,
    stderr: "A person signs in, at a terminal of their own. Run it there.\n",
  })
  for (const command of ["login", "logout"]) {
    const { code, stderr } = await run(`mcp ${command} files`, { QM_INSIDE: "1" })
    expect([code, stderr]).toEqual([3, expect.stringContaining(`'qm mcp ${command}' is for people`)])
  }
  expect(giver.seen).toEqual([])
})

test("signing out is said, and a second time there is nothing to forget", async () => {
  const { atTerminal: type, run, giver } = await desk()
  const { ended, address } = type("mcp login files")
  await fetch(await agree(await address()))
  await ended
  expect(await run("mcp logout files")).toMatchObject({
    code: 0,
    stdout: "The sign-in at files is forgotten here, and revoked there.\n",
  })
  expect(giver.revoked).toHaveLength(2)
  expect(await run("mcp logout files")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nobody is signed in"),
  })
  expect(await run("mcp logout file")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean 'files'?"),
  })
})

/** What the door answers to a request that calls this machine by another name. */
function statusAs(host: string, url: URL): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, ({ statusCode }) => resolve(statusCode))
      .on("error", reject)
      .end()
  })
}
