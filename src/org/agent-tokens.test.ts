import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { open, tool } from "../testing/open.ts"
import { agentTokens } from "./agent-tokens.ts"
import { ann, codeOf, openDirectory } from "./testing.ts"

const day = 24 * 60 * 60 * 1000

/** A book over a real store, with agents one and two, the person bob, and a clock of its own. */
async function openBook() {
  const { directory, documents, again } = await openDirectory()
  await directory.createRole({ name: "worker", toolGroups: ["data"] }, ann)
  for (const id of ["one", "two"]) await directory.createAgent({ id, role: "worker" }, ann)
  await directory.createPerson({ id: "bob" }, ann)
  const clock = { at: 1_000_000 }
  const revoked: string[] = []
  const book = agentTokens({
    documents,
    isKnown: (id) => directory.view(id) !== undefined,
    isPerson: (id) => directory.findPerson(id)?.status === "active",
    onRevoked: async (id) => void revoked.push(id),
    now: () => clock.at,
  })
  return { book, directory, documents, again, clock, revoked }
}

test("a token of 32 random bytes is shown once, speaks for its agent and is kept as its hash", async () => {
  const { book, documents } = await openBook()
  const { token, entry } = await book.create({ agentId: "one" }, "ann")
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
  expect(book.holder(token)).toEqual(entry)
  expect(JSON.stringify([entry, book.list(), book.holder(token), await book.revoke(entry.id, "ann")])).not.toContain(
    hash,
  )
})

test("only the whole token is a token", async () => {
  const { book } = await openBook()
  const { token, entry } = await book.create({ agentId: "one" }, "ann")
  const hash = createHash("sha256").update(token).digest("hex")
  const near = token
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
    ...near,
  ]) {
    expect(book.holder(wrong), wrong).toBeUndefined()
  }
})

test("a token ends with its time, and one without an end does not", async () => {
  const { book, clock } = await openBook()
  const short = await book.create({ agentId: "one", lifetimeMs: 5 }, "ann")
  const ever = await book.create({ agentId: "one", lifetimeMs: null, name: "ever" }, "ann")
  clock.at += 4
  expect(book.holder(short.token)?.id).toBe(short.entry.id)
  clock.at += 1
  expect([book.holder(short.token), book.list().map(({ name }) => name)]).toEqual([undefined, ["ever"]])
  clock.at += 100_000 * day
  expect(book.holder(ever.token)?.expiresAt).toBeNull()
})

test("a revoked token is nobody's, and what waited by it is ended", async () => {
  const { book, revoked } = await openBook()
  const { token, entry } = await book.create({ agentId: "one" }, "ann")
  const other = await book.create({ agentId: "two" }, "ann")
  expect(book.holder(token)).toBeDefined()
  expect(await book.revoke(entry.id.slice(0, 12), "ann")).toEqual(entry)
  expect([book.holder(token), revoked, book.list({ agentId: "one" })]).toEqual([undefined, ["one"], []])
  expect(book.holder(other.token)?.agentId).toBe("two")
  expect([await book.revoke(entry.id, "ann"), await book.revoke("", "ann")]).toEqual([undefined, undefined])
  await book.create({ agentId: "one" }, "ann")
  expect(await codeOf(book.revoke("tok_", "ann"))).toBe("token_ambiguous")
})

test("a token is nobody's when its agent has ended or its person is no more", async () => {
  const { book, directory } = await openBook()
  const agents = await book.create({ agentId: "one" }, "ann")
  const bobs = await book.create({ agentId: "two", person: "bob" }, "bob")
  expect(book.holder(bobs.token)).toMatchObject({ agentId: "two", person: "bob" })
  await directory.deletePerson("bob", ann)
  await directory.terminateAgent("one", ann)
  expect([book.holder(agents.token), book.holder(bobs.token), book.list()]).toEqual([undefined, undefined, []])
})

test("the user of this machine may be its person, and nobody who gets that name later is", async () => {
  const { book, directory } = await openBook()
  const { token } = await book.create({ agentId: "one", person: "cid" }, "cid")
  expect(book.holder(token)?.person).toBe("cid")
  await directory.createPerson({ id: "cid" }, ann)
  expect(book.holder(token)).toBeUndefined()
})

test.each([
  [{ agentId: "nobody" }, "agent_not_found"],
  [{ agentId: "one", person: "nobody" }, "person_not_found"],
  [{ agentId: "one", name: " \u200b" }, "invalid_token_name"],
  [{ agentId: "one", lifetimeMs: 0 }, "invalid_lifetime"],
  [{ agentId: "one", lifetimeMs: Number.NaN }, "invalid_lifetime"],
])("%j is refused as %s", async (given, code) => {
  const { book } = await openBook()
  expect(await codeOf(book.create(given, "ann"))).toBe(code)
  expect(book.list()).toEqual([])
})

test("what another process makes and revokes is seen once it is looked for", async () => {
  const { book, again } = await openBook()
  const elsewhere = await again()
  const other = agentTokens({
    documents: elsewhere.documents,
    isKnown: () => true,
    isPerson: () => false,
    onRevoked: async () => {},
    now: () => 1_000_000,
  })
  const { token, entry } = await book.create({ agentId: "one" }, "ann")
  await elsewhere.documents.refresh()
  expect(other.holder(token)).toEqual(entry)
  await book.revoke(entry.id, "ann")
  await elsewhere.documents.refresh()
  expect(other.holder(token)).toBeUndefined()
})

test("whose a token is, among two hundred, is told in a few microseconds", async () => {
  const { book } = await openBook()
  const { token } = await book.create({ agentId: "one" }, "ann")
  for (let count = 0; count < 200; count++) await book.create({ agentId: "two" }, "ann")
  const rounds = Array.from({ length: 20 }, () => {
    const start = process.hrtime.bigint()
    for (let turn = 0; turn < 500; turn++) book.holder(token)
    return Number(process.hrtime.bigint() - start) / 500
  })
  expect(Math.min(...rounds)).toBeLessThan(5000)
})

test("the record tells who made and revoked a token, and has neither it nor its hash", async () => {
  const house = await open({ org: { roles: [{ name: "worker" }], agents: [{ id: "one", role: "worker" }] } })
  const { token, entry } = await house.tokens.create({ agentId: "one", name: "laptop" }, "ann")
  await house.tokens.revoke(entry.id, "ann")
  await house.settle()
  const notes = await house.audit.show(`token:${entry.id}`)
  expect(notes).toMatchObject([
    { kind: "note", by: "ann", text: expect.stringMatching(/^token made: .*"name":"laptop"/) },
    { kind: "note", by: "ann", text: expect.stringMatching(/^token ended: /) },
  ])
  const hash = createHash("sha256").update(token).digest("hex")
  expect(JSON.stringify(notes)).not.toContain(hash)
  await house.close()
  const entries = readdirSync(house.dir, { recursive: true, withFileTypes: true })
  for (const file of entries.filter((one) => one.isFile() && !one.name.includes(".db"))) {
    const text = readFileSync(join(file.parentPath, file.name), "latin1")
    expect([text.includes(hash), text.includes(token.slice(4))], file.name).toEqual([false, false])
  }
})

test("a waiting call that came by a token ends when it is revoked", async () => {
  const house = await open({
    org: { roles: [{ name: "worker", toolGroups: null }], agents: [{ id: "one", role: "worker" }] },
  })
  house.registry.register(tool({ permission: { level: "sensitive" }, execute: () => "ran" }))
  const { entry } = await house.tokens.create({ agentId: "one" }, "ann")
  await house.submit({ agentId: "one", tool: "probe", input: {}, tokenId: entry.id }, { waitMs: 0 })
  expect(await house.desk.list()).toHaveLength(1)
  await house.tokens.revoke(entry.id, "ann")
  expect(await house.desk.list()).toEqual([])
})
