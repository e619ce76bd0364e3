import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import type { Directory } from "./directory.ts"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

test("a person gets a token of 32 random bytes, which is shown once and stored as a hash", async () => {
  const { directory, documents, again } = await openDirectory({ now: () => 0 })
  const { person, token } = await directory.createPerson({ id: "bob", name: "Bob", roles: ["lead"] }, ann)
  expect(person).toEqual({
    id: "bob",
    name: "Bob",
    roles: ["lead"],
    status: "active",
    createdBy: "ann",
    madeBy: "person",
    createdAt: "1970-01-01T00:00:00.000Z",
    hasToken: true,
    tokenExpiresAt: 90 * 24 * 60 * 60_000,
  })
  expect(token).toMatch(/^qmp_[A-Za-z0-9_-]{43}$/)
  const { token: another } = await directory.createPerson({ id: "cid" }, ann)
  expect(another).not.toBe(token)
  const stored = JSON.stringify([...documents.all("person")])
  expect([stored.includes(token.slice(4)), stored.includes(another.slice(4))]).toEqual([false, false])
  expect(stored).toContain(createHash("sha256").update(token).digest("hex"))
  expect(JSON.stringify([directory.listPeople(), directory.findPerson("bob")])).not.toContain("tokenHash")
  expect((await again()).directory.findPerson("bob")).toEqual({ ...person, source: "store" })
})

test("a token belongs only to its person, until they are deleted", async () => {
  const { directory } = await openDirectory()
  const { token: bobs } = await directory.createPerson({ id: "bob" }, ann)
  const { token: cids } = await directory.createPerson({ id: "cid" }, ann)
  expect([directory.personOfToken(bobs)?.id, directory.personOfToken(cids)?.id]).toEqual(["bob", "cid"])
  const hash = createHash("sha256").update(bobs).digest("hex")
  for (const wrong of ["", "qmp_", bobs.slice(0, -1), `${bobs}x`, bobs.toUpperCase(), hash, "undefined"]) {
    expect(directory.personOfToken(wrong)).toBeUndefined()
  }
  await directory.updatePerson("bob", { name: "Robert" }, ann)
  expect(directory.personOfToken(bobs)).toMatchObject({ name: "Robert" })
  await directory.deletePerson("bob", ann)
  expect(directory.personOfToken(bobs)).toBeUndefined()
  const { token: newer } = await directory.createPerson({ id: "bob" }, ann)
  expect([directory.personOfToken(bobs), directory.personOfToken(newer)?.id]).toEqual([undefined, "bob"])
})

test("a configured person has the configured roles and the token with the configured hash", async () => {
  const tokenHash = createHash("sha256").update("a long secret").digest("hex")
  const people = [{ id: "dee", name: "Dee", roles: ["lead"], tokenHash }, { id: "eve" }]
  const { directory } = await openDirectory({ config: { people } })
  expect(directory.personOfToken("a long secret")).toEqual({
    id: "dee",
    name: "Dee",
    roles: ["lead"],
    status: "active",
    createdBy: "configuration",
    madeBy: "configuration",
    createdAt: "1970-01-01T00:00:00.000Z",
    source: "configuration",
    hasToken: true,
  })
  expect(directory.findPerson("eve")?.hasToken).toBe(false)
  expect(directory.personOfToken("")).toBeUndefined()
  expect(directory.listPeople().map(({ id, name }) => [id, name])).toEqual([
    ["dee", "Dee"],
    ["eve", "eve"],
  ])
})

test("hasToken is returned but never stored, and is false for a deleted person", async () => {
  const { directory, documents } = await openDirectory()
  await directory.createPerson({ id: "bob" }, ann)
  expect(await directory.updatePerson("bob", { name: "Bob" }, ann)).toMatchObject({ hasToken: true })
  expect(directory.listPeople()).toMatchObject([{ id: "bob", hasToken: true }])
  expect(await directory.deletePerson("bob", ann)).toMatchObject({ status: "deleted", hasToken: false })
  expect(JSON.stringify(documents.get("person", "bob"))).not.toMatch(/hasToken|tokenHash/)
})

test.each([
  ["agent", "an agent"],
  ["person", "a person"],
  ["department", "a department"],
])("a bad id of a %s is refused with a sentence", async (kind, words) => {
  const { directory } = await openDirectory()
  const make = {
    agent: () => directory.createAgent({ id: "b b", role: "operator" }, ann),
    person: () => directory.createPerson({ id: "b b" }, ann),
    department: () => directory.createDepartment({ id: "b b" }, ann),
  }[kind]!
  await expect(make()).rejects.toThrow(`"b b" cannot be the id of ${words}. Use 1 to 100 letters, digits and _ . : -`)
})

test("live people and departments are listed by name", async () => {
  const { directory } = await openDirectory()
  for (const [id, name] of [
    ["b", "Zoe"],
    ["c", "Abe"],
    ["d", "Max"],
  ] as const) {
    await directory.createPerson({ id, name }, ann)
    await directory.createDepartment({ id, name }, ann)
  }
  await directory.deletePerson("d", ann)
  expect((await directory.deleteDepartment("d", ann)).status).toBe("deleted")
  for (const list of [directory.listPeople(), directory.listDepartments()]) {
    expect(list.map(({ name, source }) => [name, source])).toEqual([
      ["Abe", "store"],
      ["Zoe", "store"],
    ])
  }
})

test("a department is stored, renamed, deleted once unused, and created again", async () => {
  const { directory, again } = await openDirectory()
  expect(await directory.createDepartment({ id: "north" }, ann)).toMatchObject({
    id: "north",
    name: "north",
    madeBy: "person",
  })
  await directory.renameDepartment("north", "Norden", ann)
  expect((await again()).directory.listDepartments()).toMatchObject([{ id: "north", name: "Norden" }])
  await directory.createRole({ name: "dev", department: "north" }, ann)
  await directory.createRole({ name: "other" }, ann)
  await directory.createAgent({ id: "a", role: "other", department: "north" }, ann)
  await expect(directory.deleteDepartment("north", ann)).rejects.toMatchObject({
    code: "department_in_use",
    message: "Department 'north' is used by role 'dev', agent 'a'. Change them first.",
  })
  await directory.deleteRole("dev", ann)
  await directory.terminateAgent("a", ann)
  await directory.deleteDepartment("north", ann)
  expect(directory.listDepartments()).toEqual([])
  expect(await directory.createDepartment({ id: "north", name: "New" }, ann)).toMatchObject({
    name: "New",
    status: "active",
  })
})

const config = {
  people: [{ id: "dee" }],
  departments: [{ id: "north" }],
  roles: [{ name: "dev" }],
  agents: [{ id: "boss", role: "dev" }],
}
const root = agent("root")

test.each<[string, string, (directory: Directory) => Promise<unknown>]>([
  ["a person twice", "person_exists", (it) => it.createPerson({ id: "bob" }, ann)],
  ["a person of the configuration again", "person_exists", (it) => it.createPerson({ id: "dee" }, ann)],
  ["a person with an agent's id", "person_exists", (it) => it.createPerson({ id: "boss" }, ann)],
  ["a person with a bad id", "invalid_person_id", (it) => it.createPerson({ id: "b b" }, ann)],
  ["a person with a bad name", "invalid_person_name", (it) => it.createPerson({ id: "x", name: "a\u202eb" }, ann)],
  ["a person with a bad role", "invalid_role_name", (it) => it.createPerson({ id: "x", roles: [""] }, ann)],
  ["a change of a person of the configuration", "read_only", (it) => it.updatePerson("dee", { roles: [] }, ann)],
  ["the removal of a person of the configuration", "read_only", (it) => it.deletePerson("dee", ann)],
  ["a change of an unknown person", "person_not_found", (it) => it.updatePerson("x", {}, ann)],
  ["the removal of an unknown person", "person_not_found", (it) => it.deletePerson("x", ann)],
  ["a person added by an agent", "person_required", (it) => it.createPerson({ id: "x" }, root)],
  ["a person changed by an agent", "person_required", (it) => it.updatePerson("bob", { roles: ["lead"] }, root)],
  ["a person removed by an agent", "person_required", (it) => it.deletePerson("bob", root)],
  ["a department twice", "department_exists", (it) => it.createDepartment({ id: "south" }, ann)],
  ["a department of the configuration again", "department_exists", (it) => it.createDepartment({ id: "north" }, ann)],
  ["a department with a bad id", "invalid_department_id", (it) => it.createDepartment({ id: "a/b" }, ann)],
  ["a department with a bad name", "invalid_department_name", (it) => it.renameDepartment("south", "", ann)],
  ["a new name for a department of the configuration", "read_only", (it) => it.renameDepartment("north", "x", ann)],
  ["the removal of a department of the configuration", "read_only", (it) => it.deleteDepartment("north", ann)],
  ["a new name for no department", "department_not_found", (it) => it.renameDepartment("x", "x", ann)],
  ["a department created by an agent", "person_required", (it) => it.createDepartment({ id: "x" }, root)],
  ["a department renamed by an agent", "person_required", (it) => it.renameDepartment("south", "x", root)],
  ["a department deleted by an agent", "person_required", (it) => it.deleteDepartment("south", root)],
])("%s is refused, and nothing changes", async (_what, code, work) => {
  const { directory, documents } = await openDirectory({ config })
  await directory.createPerson({ id: "bob" }, ann)
  await directory.createDepartment({ id: "south" }, ann)
  const { digest } = documents
  expect(await codeOf(work(directory))).toBe(code)
  expect(documents.digest).toBe(digest)
})
