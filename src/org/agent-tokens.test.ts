import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openTestApp, tool } from "../testing/test-app.ts"
import { agentTokens } from "./agent-tokens.ts"
import { ann, codeOf } from "./testing/open-directory.ts"
import { openAgentTokens } from "./testing/open-agent-tokens.ts"

const day = 24 * 60 * 60 * 1000

test("a token has 32 random bytes, is shown once, identifies its agent and is stored as a hash", async () => {
  const { tokens, documents } = await openAgentTokens()
  const { token, entry } = await tokens.create({ agentId: "one" }, "ann")
  expect(token).toMatch(/^qma_[A-Za-z0-9_-]{43}$/)
  expect(entry).toEqual({
    id: expect.stringMatching(/^tok_[0-9a-f]{16}$/),
    agentId: "one",
    name: "one",
    createdBy: "ann",
    createdAt: 1_000_000,
    expiresAt: 1_000_000 + 90 * day,
  })
  const hash = createHash("sha256").update(token).digest("hex")
  const stored = JSON.stringify([...documents.all("token")])
  expect([stored.includes(token.slice(4)), stored.includes(hash)]).toEqual([false, true])
  expect(tokens.holder(token)).toEqual(entry)
  expect(
    JSON.stringify([entry, tokens.list(), tokens.holder(token), await tokens.revoke(entry.id, "ann")]),
  ).not.toContain(hash)
})

test("a changed or incomplete token is not accepted", async () => {
  const { tokens } = await openAgentTokens()
  const { token, entry } = await tokens.create({ agentId: "one" }, "ann")
  const hash = createHash("sha256").update(token).digest("hex")
  const oneCharacterWrong = token
    .split("")
    .map((letter, index) => token.slice(0, index) + (letter === "A" ? "B" : "A") + token.slice(index + 1))
  for (const wrong of [
    "",
    "qma_",
    token.slice(0, -1),
    `${token}A`,
    ` ${token}`,
    hash,
    entry.id,
    "undefined",
    ...oneCharacterWrong,
  ]) {
    expect(tokens.holder(wrong), wrong).toBeUndefined()
  }
})

test("a token expires after its lifetime, and one with lifetime null never does", async () => {
  const { tokens, clock } = await openAgentTokens()
  const short = await tokens.create({ agentId: "one", lifetimeMs: 5 }, "ann")
  const ever = await tokens.create({ agentId: "one", lifetimeMs: null, name: "ever" }, "ann")
  clock.at += 4
  expect(tokens.holder(short.token)?.id).toBe(short.entry.id)
  clock.at += 1
  expect([tokens.holder(short.token), tokens.list().map(({ name }) => name)]).toEqual([undefined, ["ever"]])
  clock.at += 100_000 * day
  expect(tokens.holder(ever.token)?.expiresAt).toBeNull()
})

test("a revoked token has no holder, and revoking ends the agent's waiting calls", async () => {
  const { tokens, revoked } = await openAgentTokens()
  const { token, entry } = await tokens.create({ agentId: "one" }, "ann")
  const other = await tokens.create({ agentId: "two" }, "ann")
  expect(tokens.holder(token)).toBeDefined()
  expect(await tokens.revoke(entry.id.slice(0, 12), "ann")).toEqual(entry)
  expect([tokens.holder(token), revoked, tokens.list({ agentId: "one" })]).toEqual([undefined, ["one"], []])
  expect(tokens.holder(other.token)?.agentId).toBe("two")
  expect([await tokens.revoke(entry.id, "ann"), await tokens.revoke("", "ann")]).toEqual([undefined, undefined])
  await tokens.create({ agentId: "one" }, "ann")
  expect(await codeOf(tokens.revoke("tok_", "ann"))).toBe("token_ambiguous")
})

test("a token has no holder once its agent is terminated or its person is deleted", async () => {
  const { tokens, directory } = await openAgentTokens()
  const agents = await tokens.create({ agentId: "one" }, "ann")
  const bobs = await tokens.create({ agentId: "two", person: "bob" }, "bob")
  expect(tokens.holder(bobs.token)).toMatchObject({ agentId: "two", person: "bob" })
  await directory.deletePerson("bob", ann)
  await directory.terminateAgent("one", ann)
  expect([tokens.holder(agents.token), tokens.holder(bobs.token), tokens.list()]).toEqual([undefined, undefined, []])
})

test("a token for this machine's user stops working when a person is added under the same name", async () => {
  const { tokens, directory } = await openAgentTokens()
  const { token } = await tokens.create({ agentId: "one", person: "cid" }, "cid")
  expect(tokens.holder(token)?.person).toBe("cid")
  await directory.createPerson({ id: "cid" }, ann)
  expect(tokens.holder(token)).toBeUndefined()
})

test.each([
  [{ agentId: "nobody" }, "agent_not_found"],
  [{ agentId: "one", person: "nobody" }, "person_not_found"],
  [{ agentId: "one", name: " \u200b" }, "invalid_token_name"],
  [{ agentId: "one", lifetimeMs: 0 }, "invalid_lifetime"],
  [{ agentId: "one", lifetimeMs: Number.NaN }, "invalid_lifetime"],
])("%j is refused as %s", async (given, code) => {
  const { tokens } = await openAgentTokens()
  expect(await codeOf(tokens.create(given, "ann"))).toBe(code)
  expect(tokens.list()).toEqual([])
})

test("tokens created and revoked by another process are seen after a refresh", async () => {
  const { tokens, again } = await openAgentTokens()
  const elsewhere = await again()
  const other = agentTokens({
    documents: elsewhere.documents,
    isKnown: () => true,
    isPerson: () => false,
    onRevoked: async () => {},
    now: () => 1_000_000,
  })
  const { token, entry } = await tokens.create({ agentId: "one" }, "ann")
  await elsewhere.documents.refresh()
  expect(other.holder(token)).toEqual(entry)
  await tokens.revoke(entry.id, "ann")
  await elsewhere.documents.refresh()
  expect(other.holder(token)).toBeUndefined()
})

test("the audit log says who created and revoked a token, and contains neither the token nor its hash", async () => {
  const app = await openTestApp({ org: { roles: [{ name: "worker" }], agents: [{ id: "one", role: "worker" }] } })
  const { token, entry } = await app.tokens.create({ agentId: "one", name: "laptop" }, "ann")
  await app.tokens.revoke(entry.id, "ann")
  await app.settle()
  const notes = await app.audit.show(`token:${entry.id}`)
  expect(notes).toMatchObject([
    { kind: "note", by: "ann", text: expect.stringMatching(/^token made: .*"name":"laptop"/) },
    { kind: "note", by: "ann", text: expect.stringMatching(/^token ended: /) },
  ])
  const hash = createHash("sha256").update(token).digest("hex")
  expect(JSON.stringify(notes)).not.toContain(hash)
  await app.close()
  const entries = readdirSync(app.dir, { recursive: true, withFileTypes: true })
  for (const file of entries.filter((entry) => entry.isFile() && !entry.name.includes(".db"))) {
    const text = readFileSync(join(file.parentPath, file.name), "latin1")
    expect([text.includes(hash), text.includes(token.slice(4))], file.name).toEqual([false, false])
  }
})

test("revoking a token ends the waiting calls made with it", async () => {
  const app = await openTestApp({
    org: { roles: [{ name: "worker", toolGroups: null }], agents: [{ id: "one", role: "worker" }] },
  })
  app.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const { entry } = await app.tokens.create({ agentId: "one" }, "ann")
  await app.call({ agentId: "one", tool: "probe", input: {}, tokenId: entry.id }, { waitMs: 0 })
  expect(await app.approvals.list()).toHaveLength(1)
  await app.tokens.revoke(entry.id, "ann")
  expect(await app.approvals.list()).toEqual([])
})
