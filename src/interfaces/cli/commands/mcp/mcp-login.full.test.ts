import { readFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { createQuartermaster } from "../../../../app/create-app.ts"
import type { Config } from "../../../../config/schema.ts"
import {
  approveSignIn,
  authorizationServer,
  protectedServer,
  type AuthorizationServerOptions,
} from "../../../../testing/mcp/oauth-servers.ts"
import { temporaryFolder, until } from "../../../../testing/test-app.ts"
import type { Runtime, Io } from "../../common/context.ts"
import { main } from "../../main.ts"
import { loadedConfig, runWithApp } from "../../testing.ts"

/** Runs commands over one data folder, each with its own app, with or without a terminal. */
async function setUp(options: AuthorizationServerOptions = {}, auth?: NonNullable<Config["mcpServers"]>) {
  const giver = await authorizationServer(options)
  const server = await protectedServer(() => giver)
  const dir = temporaryFolder()
  const config: Config = {
    data: { dir },
    mcpServers: auth ?? { files: { url: server.url } },
    rules: [{ allow: "group:files", because: "A test." }],
  }
  const open = () => createQuartermaster(config, { writes: "direct", sweepMs: 0 })
  const run = (line: string, env: Record<string, string> = {}) =>
    runWithApp({}, line.split(" "), { env, runtime: { openApp: open } })
  return { giver, server, dir, run, atTerminal: (line: string) => atTerminal(line, open) }
}

function atTerminal(line: string, open: Runtime["openApp"]) {
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
    program: { node: "/bin/node", script: "/bin/qm" },
    typed: "qm",
    leave: () => {},
  }
  const runtime: Runtime = {
    loadConfig: () => Promise.resolve(loadedConfig()),
    openApp: open,
    identifyPerson: () => Promise.resolve({ id: "ann", proved: "this test" }),
  }
  const ended = main(line.split(" "), io, runtime)
  const address = async () => {
    await until(() => /http\S+\/authorize\S+/.test(text.stdout + text.stderr), "an address was shown")
    return /http\S+\/authorize\S+/.exec(text.stdout + text.stderr)![0]
  }
  return { text, stdin, ended, address }
}

test("a person signs in: the URL is printed, the browser is redirected, and the tools are available", async () => {
  const { atTerminal: type, run, giver, dir } = await setUp()
  const { ended, address, text } = type("mcp login files")
  const page = await fetch(await approveSignIn(await address()))
  expect([page.status, await page.text()]).toEqual([200, "You are signed in to files. You can close this page.\n"])
  expect(await ended).toBe(0)
  expect(text.stdout).toBe(`ann is signed in to files by ${giver.issuer}. Scopes: use.\n`)
  expect(await run("call mcp:files:read --json")).toMatchObject({ code: 0 })
  const list = await run("mcp list --json")
  expect(JSON.parse(list.stdout)).toMatchObject([{ state: "connected", tools: 2 }])
  const record = await run("audit show login:files --json")
  expect(record.stdout).toContain('"by":"ann"')
  const secrets = readFileSync(join(dir, "logins", "files.json"), "utf8").match(/secret-[a-z]+-[0-9a-f-]+/g)!
  for (const secret of secrets) expect(JSON.stringify([text, list, record])).not.toContain(secret)
})

test("a forged redirect is refused, and the right one still works", async () => {
  const { atTerminal: type } = await setUp()
  const { ended, address } = type("mcp login files")
  const right = new URL(await approveSignIn(await address()))
  const forged = new URL(right)
  forged.searchParams.set("state", "guessed")
  expect((await fetch(forged)).status).toBe(400)
  expect((await fetch(new URL("/favicon.ico", right))).status).toBe(404)
  expect((await fetch(right, { method: "POST" })).status).toBe(404)
  expect(await statusAs("evil.example", right)).toBe(404)
  expect((await fetch(right)).status).toBe(200)
  expect(await ended).toBe(0)
})

test("two identical redirects at once both succeed", async () => {
  const { atTerminal: type } = await setUp()
  const { ended, address } = type("mcp login files")
  const right = await approveSignIn(await address())
  const pages = await Promise.all([fetch(right), fetch(right)])
  expect(pages.map(({ status }) => status)).toEqual([200, 200])
  expect(await ended).toBe(0)
})

test("with a browser on another machine, the redirect URL is pasted", async () => {
  const { atTerminal: type } = await setUp()
  const { ended, address, stdin, text } = type("mcp login files")
  const redirected = await approveSignIn(await address())
  stdin.write("http://evil.example/callback?code=1\n")
  await until(() => text.stderr.includes("not the address to which the browser returns"), "it was turned away")
  stdin.write(`${redirected}\n`)
  expect(await ended).toBe(0)
})

test("with --no-wait the URL is printed, and --paste finishes the sign-in", async () => {
  const { atTerminal: type } = await setUp()
  const first = type("mcp login files --no-wait")
  expect(await first.ended).toBe(0)
  expect(first.text.stdout).toContain("Copy that URL and run: qm mcp login files --paste")
  const second = type("mcp login files --paste")
  second.stdin.end(`${await approveSignIn(await first.address())}\n`)
  expect(await second.ended).toBe(0)
  const third = type("mcp login files --paste")
  third.stdin.end("http://127.0.0.1:1/callback\n")
  expect(await third.ended).toBe(1)
  expect(third.text.stderr).toContain("No sign-in to files is pending. Begin one: qm mcp login files")
})

test("a refused sign-in ends the command with a sentence", async () => {
  const { atTerminal: type } = await setUp({ changeRedirect: (url) => url.searchParams.set("error", "access_denied") })
  const { ended, address, text } = type("mcp login files")
  expect((await fetch(await approveSignIn(await address()))).status).toBe(400)
  expect(await ended).toBe(1)
  expect(text.stderr).toContain("Signing in to files failed: the authorization server answered access_denied.")
})

test("only a person at a terminal can sign in, not a program started by an agent", async () => {
  const { run, giver } = await setUp()
  expect(await run("mcp login files")).toMatchObject({
    code: 3,
    stderr: "Signing in needs a person at a terminal. Run this command in your own terminal.\n",
  })
  for (const command of ["login", "logout"]) {
    const { code, stderr } = await run(`mcp ${command} files`, { QM_INSIDE: "1" })
    expect([code, stderr]).toEqual([3, expect.stringContaining(`'qm mcp ${command}' is for people`)])
  }
  expect(giver.requests).toEqual([])
})

test("signing out is reported, and a second time nobody is signed in", async () => {
  const { atTerminal: type, run, giver } = await setUp()
  const { ended, address } = type("mcp login files")
  await fetch(await approveSignIn(await address()))
  await ended
  expect(await run("mcp logout files")).toMatchObject({
    code: 0,
    stdout: "The sign-in to files was deleted here and revoked at the server.\n",
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

/** The status of a request with another Host header. */
function statusAs(host: string, url: URL): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, ({ statusCode }) => resolve(statusCode))
      .on("error", reject)
      .end()
  })
}
