import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import { silentLogger } from "../../model/logger.ts"
import type { McpAuth } from "../../model/mcp.ts"
import { open, temporaryFolder } from "../../testing/open.ts"
import { agree, authorizationServer, guardedServer, type Told } from "../testing/oauth-servers.ts"
import { until } from "../testing/connections.ts"
import { listen } from "../testing/http-servers.ts"

const back = "http://127.0.0.1:41999/callback"
const wantsYou = "The MCP server files wants you to sign in: qm mcp login files."

/** A server that wants a sign-in, who gives it, and houses on one folder that use the server. */
async function world(told: Told = {}, auth?: Partial<McpAuth>) {
  const giver = await authorizationServer(told)
  const server = await guardedServer(() => giver)
  const dir = temporaryFolder()
  const config: Config = {
    data: { dir },
    mcpServers: {
      files: { url: server.url, ...(auth === undefined ? {} : { auth: auth as McpAuth & { scopes?: string[] } }) },
    },
    org: { roles: [{ name: "user", toolGroups: ["files"] }], agents: [{ id: "ada", role: "user" }] },
    rules: [{ allow: "group:files", because: "A test." }],
  }
  const house = async (given: Config = config) => {
    const lines: string[] = []
    const log = (...said: unknown[]) => void lines.push(said.map((one) => JSON.stringify(one) ?? "").join(" "))
    const app = await open(given, {
      sweepMs: 0,
      logger: { ...silentLogger, info: log, warn: log, error: log, logToolResult: log },
    })
    await app.mcp.ready()
    const call = (tool = "read") => app.call({ agentId: "ada", tool: `mcp:files:${tool}`, input: {} })
    const begin = async () => {
      const begun = await app.mcp.signIn("files", "ann", () => Promise.resolve(back))
      if (!("url" in begun)) throw new Error("Nobody was asked.")
      return begun.url
    }
    const login = async () => app.mcp.finishSignIn("files", "ann", await agree(await begin()))
    return { app, call, begin, login, lines, state: () => app.mcp.list()[0]! }
  }
  const file = join(dir, "logins", "files.json")
  return { giver, server, dir, config, house, file }
}

function renewals({ seen }: { seen: readonly { body: Record<string, string> }[] }): number {
  return seen.filter(({ body }) => body["grant_type"] === "refresh_token").length
}

test("a server that wants a sign-in is refused with the sentence that says how, and nobody is sent anywhere", async () => {
  const { house, giver, server } = await world()
  const { state, call } = await house()
  expect(state()).toMatchObject({ state: "refused", problem: wantsYou, tools: 0 })
  expect(giver.seen).toEqual([])
  expect(await call()).toMatchObject({ success: false })
  const before = server.counts.refused
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(server.counts.refused).toBe(before)
})

test("a person signs in once, and the server's tools can be called; who it was is in the record, and no secret", async () => {
  const { house, file, giver } = await world()
  const { app, login, call, state, lines } = await house()
  expect(await login()).toEqual({ server: "files", scopes: ["use"], issuer: giver.issuer })
  await until(() => state().state === "connected")
  expect(await call()).toMatchObject({ success: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700)
  await app.settle()
  const story = JSON.stringify(await app.audit.show("login:files"))
  expect(story).toContain('"by":"ann"')
  const secrets = readFileSync(file, "utf8").match(/secret-[a-z]+-[0-9a-f-]+/g) ?? []
  expect(secrets.length).toBeGreaterThan(1)
  const shown = [story, JSON.stringify(app.mcp.list()), lines.join("\n"), JSON.stringify(await app.audit.list())].join()
  for (const secret of secrets) expect(shown).not.toContain(secret)
  expect(shown).not.toContain("verifier")
})

test("a house that is open already uses the sign-in of another process by itself", async () => {
  const { house } = await world()
  const [serving, other] = [await house(), await house()]
  expect(serving.state().state).toBe("refused")
  await other.login()
  await until(() => serving.state().tools > 0)
  expect(await serving.call()).toMatchObject({ success: true })
})

test("a token that has ended is renewed, and the call does not notice", async () => {
  const { house, giver } = await world()
  const { login, call } = await house()
  await login()
  giver.expire()
  expect(await call()).toMatchObject({ success: true })
  expect(renewals(giver)).toBe(1)
})

test("a token that ends soon is renewed before a server refuses it", async () => {
  const { house, server, giver } = await world({ lives: 5 })
  const { login, call } = await house()
  await login()
  // Two requests at one time share a renewal, and this is the last one that comes by itself.
  await until(() => server.letIn.includes("subscriptions/listen"))
  const [refused, renewed] = [server.counts.refused, renewals(giver)]
  expect(await call()).toMatchObject({ success: true })
  expect([server.counts.refused, renewals(giver)]).toEqual([refused, renewed + 1])
})

test("of many calls and two houses that find the token ended, one renews it and none is lost", async () => {
  const { house, giver } = await world()
  const [one, other] = [await house(), await house()]
  await one.login()
  await until(() => other.state().tools > 0)
  for (let round = 1; round <= 3; round++) {
    giver.expire()
    const results = await Promise.all([one, other, one, other].map(({ call }) => call()))
    expect(results.map(({ success }) => success)).toEqual([true, true, true, true])
    // Each refresh token is good once, so a second renewal with the same would have ended the sign-in.
    expect(renewals(giver)).toBe(round)
  }
})

test("when it cannot be renewed either, the call says that a person has to sign in, and then it goes on", async () => {
  const { house, giver } = await world()
  const { login, call } = await house()
  await login()
  giver.expire(true)
  for (let times = 0; times < 2; times++) {
    expect(await call()).toMatchObject({ success: false, error: expect.stringContaining(wantsYou) })
  }
  expect(renewals(giver)).toBe(1)
  await login()
  expect(await call()).toMatchObject({ success: true })
})

test("an authorization server that is away ends no sign-in", async () => {
  const { house, giver, file } = await world()
  const { login, call } = await house()
  await login()
  giver.expire()
  await giver.stop()
  const { error } = await call()
  expect(error).not.toContain("sign in:")
  expect(readFileSync(file, "utf8")).toContain("refresh_token")
})

test("a call that needs more rights says so, and the next sign-in asks for them and keeps the others", async () => {
  const { house } = await world()
  const { login, call, begin } = await house()
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
async function movingWorld(auth?: Partial<McpAuth>) {
  const told = { clients: { ours: "secret-of-ours" } }
  const [first, second] = [await authorizationServer(told), await authorizationServer(told)]
  let current = first
  const server = await guardedServer(() => current)
  const { house, config } = await world()
  const files = { url: server.url, ...(auth === undefined ? {} : { auth: auth as McpAuth & { scopes?: string[] } }) }
  return { ...(await house({ ...config, mcpServers: { files } })), first, second, move: () => void (current = second) }
}

test("a server that has moved to another authorization server gets a new client, and the old one's secrets stay away", async () => {
  const { login, call, first, second, move } = await movingWorld()
  await login()
  expect(await call()).toMatchObject({ success: true })
  move()
  expect(await call()).toMatchObject({ success: false })
  expect(second.seen).toEqual([])
  expect(await login()).toMatchObject({ issuer: second.issuer })
  expect(await call()).toMatchObject({ success: true })
  expect(JSON.stringify(second.seen)).not.toContain(first.seen[1]!.body["client_id"])
})

test("a client of the configuration is shown to no other authorization server than the first, until one signs out", async () => {
  const { app, login, second, move } = await movingWorld({ clientId: "ours", clientSecret: "secret-of-ours" })
  await login()
  move()
  await expect(login()).rejects.toThrow("names another authorization server than the one our client")
  expect(second.seen).toEqual([])
  await app.mcp.signOut("files", "ann")
  expect(await login()).toMatchObject({ issuer: second.issuer })
})

test("a client of the configuration is shown only to the authorization server that is named, and its secret is kept nowhere", async () => {
  const clients = { ours: "secret-of-ours" }
  const named = await world(
    { clients },
    { clientId: "ours", clientSecret: "secret-of-ours", issuer: "https://right.example" },
  )
  await expect((await named.house()).login()).rejects.toThrow(
    "names another authorization server than the one our client",
  )
  expect(named.giver.seen).toEqual([])
  const { house, giver, file } = await world({ clients }, { clientId: "ours", clientSecret: "secret-of-ours" })
  const { login, call } = await house()
  await login()
  expect(await call()).toMatchObject({ success: true })
  expect(giver.seen.map(({ path }) => path)).not.toContain("/register")
  expect(readFileSync(file, "utf8")).not.toContain("secret-of-ours")
})

test("with client_credentials nobody is asked: the house signs in, renews and asks for more by itself", async () => {
  const { house, giver } = await world(
    { clients: { ours: "secret-of-ours" } },
    { grant: "client_credentials", clientId: "ours", clientSecret: "secret-of-ours" },
  )
  const { call, state } = await house()
  expect(state().state).toBe("connected")
  expect(await call()).toMatchObject({ success: true })
  giver.expire()
  expect(await call()).toMatchObject({ success: true })
  expect(await call("write")).toMatchObject({ success: true })
})

test("a wrong secret of the client is said, without the secret", async () => {
  const { house } = await world(
    { clients: { ours: "right" } },
    { grant: "client_credentials", clientId: "ours", clientSecret: "secret-and-wrong" },
  )
  const { state, lines } = await house()
  expect(state().problem).toBe(
    "The MCP server files did not let us sign in: the authorization server answered invalid_client.",
  )
  expect(lines.join("\n")).not.toContain("secret-and-wrong")
})

test("signing out revokes what was given, deletes the file, and is noted", async () => {
  const { house, giver, file } = await world()
  const { app, login, call, state } = await house()
  expect(await app.mcp.signOut("files", "ann")).toBeUndefined()
  await login()
  expect(await app.mcp.signOut("files", "bob")).toEqual({ revoked: true })
  expect(giver.revoked).toHaveLength(2)
  await until(() => state().state === "refused")
  expect(readFileSync(file, "utf8")).not.toContain("secret-")
  expect(await call()).toMatchObject({ success: false, error: expect.stringContaining(wantsYou) })
  await app.settle()
  expect(await app.audit.show("login:files")).toMatchObject([
    { by: "ann" },
    { by: "bob", text: expect.stringContaining("login ended") },
  ])
})

test("one can sign out of a sign-in that has ended by itself", async () => {
  const { house, giver } = await world()
  const { app, login, call, state } = await house()
  await login()
  expect(state().signedInBy).toBe("ann")
  giver.expire(true)
  await call()
  expect(await app.mcp.signOut("files", "ann")).toEqual({ revoked: false })
  expect(await app.mcp.signOut("files", "ann")).toBeUndefined()
  expect(state().signedInBy).toBeUndefined()
})

test("a sign-in counts for one address: with another url one signs in anew", async () => {
  const { house, config, server, giver } = await world()
  await (await house()).login()
  const before = giver.seen.length
  const moved = await house({ ...config, mcpServers: { files: { url: `${server.url}?moved` } } })
  expect(moved.state()).toMatchObject({ state: "refused", problem: wantsYou })
  expect(giver.seen).toHaveLength(before)
})

test("a file that others can read is not used, and a damaged one neither; the sentence says what to do", async () => {
  const { house, file } = await world()
  await (await house()).login()
  chmodSync(file, 0o644)
  expect((await house()).state().problem).toContain("so what it holds may be known. Delete it and sign in again")
  chmodSync(file, 0o600)
  writeFileSync(file, "{")
  expect((await house()).state().problem).toContain("is damaged. Delete it and sign in again: qm mcp login files")
})

test("a server that is reached by SSE and wants a sign-in is shown as such too", async () => {
  const { house, config } = await world()
  const { url } = await listen((_, response) => {
    response.writeHead(401, { "www-authenticate": 'Bearer scope="use"' }).end()
  })
  const { state } = await house({ ...config, mcpServers: { files: { url, type: "sse" } } })
  expect(state()).toMatchObject({ state: "refused", problem: wantsYou, transport: "sse" })
})

test("an Authorization header of the configuration says who we are, and then nobody signs in", async () => {
  const { house, config, server } = await world()
  const headers = { authorization: "Bearer mine" }
  const { app, state } = await house({ ...config, mcpServers: { files: { url: server.url, headers } } })
  expect(state().problem).toContain("it refuses us with HTTP 401; look at its headers in the configuration")
  await expect(app.mcp.signIn("files", "ann", () => Promise.resolve(back))).rejects.toThrow("Authorization header")
})
