import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { silentLogger } from "../core/logger.ts"
import type { McpAuth } from "../core/mcp.ts"
import { openTestApp, temporaryFolder } from "../testing/test-app.ts"
import {
  approveSignIn,
  authorizationServer,
  protectedServer,
  type AuthorizationServerOptions,
} from "../testing/mcp/oauth-servers.ts"
import { until } from "../testing/mcp/connections.ts"
import { startHttpServer } from "../testing/mcp/http-servers.ts"

const back = "http://127.0.0.1:41999/callback"
const signInSentence = "The MCP server files wants you to sign in: qm mcp login files."

/** A server that requires signing in, its authorization server, and a function that opens apps on one data folder. */
async function setUp(options: AuthorizationServerOptions = {}, auth?: Partial<McpAuth>) {
  const authServer = await authorizationServer(options)
  const server = await protectedServer(() => authServer)
  const dir = temporaryFolder()
  const config: Config = {
    data: { dir },
    mcpServers: {
      files: { url: server.url, ...(auth === undefined ? {} : { auth: auth as McpAuth & { scopes?: string[] } }) },
    },
    org: { roles: [{ name: "user", toolGroups: ["files"] }], agents: [{ id: "ada", role: "user" }] },
    rules: [{ allow: "group:files", because: "A test." }],
  }
  const openApp = async (appConfig: Config = config) => {
    const lines: string[] = []
    const log = (...parts: unknown[]) => void lines.push(parts.map((part) => JSON.stringify(part) ?? "").join(" "))
    const app = await openTestApp(appConfig, {
      sweepMs: 0,
      logger: { ...silentLogger, info: log, warn: log, error: log, logToolResult: log },
    })
    await app.mcp.ready()
    const call = (tool = "read") => app.call({ agentId: "ada", tool: `mcp:files:${tool}`, input: {} })
    const begin = async () => {
      const begun = await app.mcp.signIn("files", "ann", () => Promise.resolve(back))
      if (!("url" in begun)) throw new Error("No person was asked.")
      return begun.url
    }
    const login = async () => app.mcp.finishSignIn("files", "ann", await approveSignIn(await begin()))
    return { app, call, begin, login, lines, state: () => app.mcp.list()[0]! }
  }
  const file = join(dir, "logins", "files.json")
  return { authServer, server, dir, config, openApp, file }
}

function renewals({ requests }: { requests: readonly { body: Record<string, string> }[] }): number {
  return requests.filter(({ body }) => body["grant_type"] === "refresh_token").length
}

test("a server that requires signing in is shown as refused with what to do, and no sign-in begins by itself", async () => {
  const { openApp, authServer, server } = await setUp()
  const { state, call } = await openApp()
  expect(state()).toMatchObject({ state: "refused", problem: signInSentence, tools: 0 })
  expect(authServer.requests).toEqual([])
  expect(await call()).toMatchObject({ success: false })
  const before = server.counts.refused
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(server.counts.refused).toBe(before)
})

test("after a person signed in the tools can be called; the audit log has the person and no secret", async () => {
  const { openApp, file, authServer } = await setUp()
  const { app, login, call, state, lines } = await openApp()
  expect(await login()).toEqual({ server: "files", scopes: ["use"], issuer: authServer.issuer })
  await until(() => state().state === "connected")
  expect(await call()).toMatchObject({ success: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700)
  await app.settle()
  const history = JSON.stringify(await app.audit.show("login:files"))
  expect(history).toContain('"by":"ann"')
  const secrets = readFileSync(file, "utf8").match(/secret-[a-z]+-[0-9a-f-]+/g) ?? []
  expect(secrets.length).toBeGreaterThan(1)
  const shown = [
    history,
    JSON.stringify(app.mcp.list()),
    lines.join("\n"),
    JSON.stringify(await app.audit.list()),
  ].join()
  for (const secret of secrets) expect(shown).not.toContain(secret)
  expect(shown).not.toContain("verifier")
})

test("an open app uses the sign-in of another process", async () => {
  const { openApp } = await setUp()
  const [serving, other] = [await openApp(), await openApp()]
  expect(serving.state().state).toBe("refused")
  await other.login()
  await until(() => serving.state().tools > 0)
  expect(await serving.call()).toMatchObject({ success: true })
})

test("an expired token is renewed within the call", async () => {
  const { openApp, authServer } = await setUp()
  const { login, call } = await openApp()
  await login()
  authServer.expire()
  expect(await call()).toMatchObject({ success: true })
  expect(renewals(authServer)).toBe(1)
})

test("a token that expires soon is renewed before the server refuses it", async () => {
  const { openApp, server, authServer } = await setUp({ tokenSeconds: 5 })
  const { login, call } = await openApp()
  await login()
  // Wait for the last request of connecting, because concurrent requests share a renewal.
  await until(() => server.letIn.includes("subscriptions/listen"))
  const [refused, renewed] = [server.counts.refused, renewals(authServer)]
  expect(await call()).toMatchObject({ success: true })
  expect([server.counts.refused, renewals(authServer)]).toEqual([refused, renewed + 1])
})

test("many calls in two apps with an expired token cause one renewal, and all succeed", async () => {
  const { openApp, authServer } = await setUp()
  const [part, other] = [await openApp(), await openApp()]
  await part.login()
  await until(() => other.state().tools > 0)
  for (let round = 1; round <= 3; round++) {
    authServer.expire()
    const results = await Promise.all([part, other, part, other].map(({ call }) => call()))
    expect(results.map(({ success }) => success)).toEqual([true, true, true, true])
    // Each refresh token is valid once, so a second renewal would have ended the sign-in.
    expect(renewals(authServer)).toBe(round)
  }
})

test("when the token cannot be renewed, calls say that a person must sign in, and work afterwards", async () => {
  const { openApp, authServer } = await setUp()
  const { login, call } = await openApp()
  await login()
  authServer.expire(true)
  for (let times = 0; times < 2; times++) {
    expect(await call()).toMatchObject({ success: false, error: expect.stringContaining(signInSentence) })
  }
  expect(renewals(authServer)).toBe(1)
  await login()
  expect(await call()).toMatchObject({ success: true })
})

test("an unreachable authorization server does not end the sign-in", async () => {
  const { openApp, authServer, file } = await setUp()
  const { login, call } = await openApp()
  await login()
  authServer.expire()
  await authServer.stop()
  const { error } = await call()
  expect(error).not.toContain("sign in:")
  expect(readFileSync(file, "utf8")).toContain("refresh_token")
})

test("a call that needs more scopes says so, and the next sign-in requests them with the old ones", async () => {
  const { openApp } = await setUp()
  const { login, call, begin } = await openApp()
  await login()
  expect(await call("write")).toMatchObject({
    success: false,
    error: expect.stringContaining(
      "The MCP server files wants more rights than it was given (write): qm mcp login files. Nothing was run there.",
    ),
  })
  expect(await call("read")).toMatchObject({ success: true })
  expect(new URL(await begin()).searchParams.get("scope")).toBe("use write")
  expect(await login()).toMatchObject({ scopes: ["use", "write"] })
  expect(new URL(await begin()).searchParams.get("scope")).toBe("use write")
  expect(await call("write")).toMatchObject({ success: true })
})

/** A server that can move to another authorization server. */
async function setUpMovingServer(auth?: Partial<McpAuth>) {
  const options = { clients: { ours: "secret-of-ours" } }
  const [first, second] = [await authorizationServer(options), await authorizationServer(options)]
  let current = first
  const server = await protectedServer(() => current)
  const { openApp, config } = await setUp()
  const files = { url: server.url, ...(auth === undefined ? {} : { auth: auth as McpAuth & { scopes?: string[] } }) }
  return {
    ...(await openApp({ ...config, mcpServers: { files } })),
    first,
    second,
    move: () => void (current = second),
  }
}

test("with another authorization server a new client is registered, and it gets none of the old secrets", async () => {
  const { login, call, first, second, move } = await setUpMovingServer()
  await login()
  expect(await call()).toMatchObject({ success: true })
  move()
  expect(await call()).toMatchObject({ success: false })
  expect(second.requests).toEqual([])
  expect(await login()).toMatchObject({ issuer: second.issuer })
  expect(await call()).toMatchObject({ success: true })
  expect(JSON.stringify(second.requests)).not.toContain(first.requests[1]!.body["client_id"])
})

test("a configured client is used only with its first authorization server, until a person signs out", async () => {
  const { app, login, second, move } = await setUpMovingServer({ clientId: "ours", clientSecret: "secret-of-ours" })
  await login()
  move()
  await expect(login()).rejects.toThrow("names another authorization server than the one our client")
  expect(second.requests).toEqual([])
  await app.mcp.signOut("files", "ann")
  expect(await login()).toMatchObject({ issuer: second.issuer })
})

test("a configured client is used only with the configured issuer, and its secret is not stored", async () => {
  const clients = { ours: "secret-of-ours" }
  const named = await setUp(
    { clients },
    { clientId: "ours", clientSecret: "secret-of-ours", issuer: "https://right.example" },
  )
  await expect((await named.openApp()).login()).rejects.toThrow(
    "names another authorization server than the one our client",
  )
  expect(named.authServer.requests).toEqual([])
  const { openApp, authServer, file } = await setUp({ clients }, { clientId: "ours", clientSecret: "secret-of-ours" })
  const { login, call } = await openApp()
  await login()
  expect(await call()).toMatchObject({ success: true })
  expect(authServer.requests.map(({ path }) => path)).not.toContain("/register")
  expect(readFileSync(file, "utf8")).not.toContain("secret-of-ours")
})

test("with client_credentials the app signs in, renews and requests scopes by itself", async () => {
  const { openApp, authServer } = await setUp(
    { clients: { ours: "secret-of-ours" } },
    { grant: "client_credentials", clientId: "ours", clientSecret: "secret-of-ours" },
  )
  const { call, state } = await openApp()
  expect(state().state).toBe("connected")
  expect(await call()).toMatchObject({ success: true })
  authServer.expire()
  expect(await call()).toMatchObject({ success: true })
  expect(await call("write")).toMatchObject({ success: true })
})

test("a wrong client secret is reported without the secret", async () => {
  const { openApp } = await setUp(
    { clients: { ours: "right" } },
    { grant: "client_credentials", clientId: "ours", clientSecret: "secret-and-wrong" },
  )
  const { state, lines } = await openApp()
  expect(state().problem).toBe(
    "The MCP server files did not let us sign in: the authorization server answered invalid_client.",
  )
  expect(lines.join("\n")).not.toContain("secret-and-wrong")
})

test("signing out revokes the tokens, deletes the login and is recorded", async () => {
  const { openApp, authServer, file } = await setUp()
  const { app, login, call, state } = await openApp()
  expect(await app.mcp.signOut("files", "ann")).toBeUndefined()
  await login()
  expect(await app.mcp.signOut("files", "bob")).toEqual({ revoked: true })
  expect(authServer.revoked).toHaveLength(2)
  await until(() => state().state === "refused")
  expect(readFileSync(file, "utf8")).not.toContain("secret-")
  expect(await call()).toMatchObject({ success: false, error: expect.stringContaining(signInSentence) })
  await app.settle()
  expect(await app.audit.show("login:files")).toMatchObject([
    { by: "ann" },
    { by: "bob", text: expect.stringContaining("login ended") },
  ])
})

test("a person can sign out of an expired sign-in", async () => {
  const { openApp, authServer } = await setUp()
  const { app, login, call, state } = await openApp()
  await login()
  expect(state().signedInBy).toBe("ann")
  authServer.expire(true)
  await call()
  expect(await app.mcp.signOut("files", "ann")).toEqual({ revoked: false })
  expect(await app.mcp.signOut("files", "ann")).toBeUndefined()
  expect(state().signedInBy).toBeUndefined()
})

test("a sign-in is valid for one URL only", async () => {
  const { openApp, config, server, authServer } = await setUp()
  await (await openApp()).login()
  const before = authServer.requests.length
  const moved = await openApp({ ...config, mcpServers: { files: { url: `${server.url}?moved` } } })
  expect(moved.state()).toMatchObject({ state: "refused", problem: signInSentence })
  expect(authServer.requests).toHaveLength(before)
})

test("a login file that others can read, or that is damaged, is not used, and the problem says what to do", async () => {
  const { openApp, file } = await setUp()
  await (await openApp()).login()
  chmodSync(file, 0o644)
  expect((await openApp()).state().problem).toContain("so its secrets may be known. Delete it and sign in again")
  chmodSync(file, 0o600)
  writeFileSync(file, "{")
  expect((await openApp()).state().problem).toContain("is damaged. Delete it and sign in again: qm mcp login files")
})

test("an SSE server that requires signing in is shown as refused too", async () => {
  const { openApp, config } = await setUp()
  const { url } = await startHttpServer((_, response) => {
    response.writeHead(401, { "www-authenticate": 'Bearer scope="use"' }).end()
  })
  const { state } = await openApp({ ...config, mcpServers: { files: { url, type: "sse" } } })
  expect(state()).toMatchObject({ state: "refused", problem: signInSentence, transport: "sse" })
})

test("with a configured Authorization header signing in is not possible", async () => {
  const { openApp, config, server } = await setUp()
  const headers = { authorization: "Bearer mine" }
  const { app, state } = await openApp({ ...config, mcpServers: { files: { url: server.url, headers } } })
  expect(state().problem).toContain("it refuses us with HTTP 401; check its headers in the configuration")
  await expect(app.mcp.signIn("files", "ann", () => Promise.resolve(back))).rejects.toThrow("Authorization header")
})
