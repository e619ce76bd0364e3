import { symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { build } from "esbuild"
import fc from "fast-check"
import { expect, test } from "vitest"
import { runChild } from "../testing/child-process.ts"
import { databaseFile } from "../testing/test-app.ts"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

const bob = { kind: "person", id: "bob" } as const

test("law: when two directories create a role of one name at once, one creates it and all get it", async () => {
  const here = await openDirectory()
  const there = await here.again()
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), async (who) => {
      const name = `role ${run++}`
      const made = await Promise.all(
        who.map((first, index) =>
          (first ? here : there).directory.createRole({ name, level: index }, first ? ann : bob),
        ),
      )
      expect(made.filter(({ created }) => created)).toHaveLength(1)
      const winner = made.find(({ created }) => created)!.role
      for (const { role } of made) expect(role).toEqual(winner)
    }),
    { numRuns: 100 },
  )
  await here.documents.refresh()
  await there.documents.refresh()
  expect(here.directory.listRoles()).toEqual(there.directory.listRoles())
  expect(here.directory.listRoles()).toHaveLength(run + 2)
  const created = [...here.events, ...there.events].filter(({ type }) => type === "ROLE_CHANGED")
  expect(created).toHaveLength(run)
})

test("an agent created while another process terminates its parent never outlives it", async () => {
  const here = await openDirectory({ config: { roles: [{ name: "dev" }] } })
  const there = await here.again()
  for (let run = 0; run < 30; run++) {
    const parent = `p${run}`
    await here.directory.createAgent({ id: parent, role: "dev" }, ann)
    const { role } = await here.directory.createRole({ name: `of ${parent}` }, agent(parent))
    const spawning = [0, 1, 2].map(() => codeOf(here.directory.createAgent({ role: role.id }, agent(parent))))
    const codes = await Promise.all([...spawning, codeOf(there.directory.terminateAgent(parent, ann))])
    expect(codes.at(-1)).toBeUndefined()
    expect(codes.every((code) => code === undefined || code === "caller_terminated")).toBe(true)
    await here.documents.refresh()
    const left = here.directory.listAgents().filter(({ parentId }) => parentId === parent)
    expect(left).toEqual([])
  }
})

test("processes that create the same roles at the same time create each of them once", async () => {
  const file = await databaseFile()
  const folder = dirname(file)
  const { again } = await openDirectory({}, file)
  const entry = `
    import { openDatabase } from ${JSON.stringify(join(import.meta.dirname, "../store/sqlite/database.ts"))}
    import { SqliteDocuments } from ${JSON.stringify(join(import.meta.dirname, "../store/sqlite/documents.ts"))}
    import { SqliteMessages } from ${JSON.stringify(join(import.meta.dirname, "../store/sqlite/messages.ts"))}
    import { Directory } from ${JSON.stringify(join(import.meta.dirname, "directory.ts"))}
    const database = await openDatabase(${JSON.stringify(file)})
    const directory = new Directory({
      documents: new SqliteDocuments(database), messages: new SqliteMessages(database),
      groups: { has: () => true, list: () => [] }, levelOrder: "asc",
    })
    const by = { kind: "person", id: String(process.pid) }
    for (let index = 0; index < 40; index++) {
      const { role, created } = await directory.createRole({ name: "role " + index }, by)
      console.log(JSON.stringify([index, created, role.createdBy]))
    }
    database.close()`
  writeFileSync(join(folder, "entry.js"), entry)
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"))
  await build({
    entryPoints: [join(folder, "entry.js")],
    outfile: join(folder, "bundle.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  })
  const children = [0, 1, 2].map(() => runChild(`await import(${JSON.stringify(join(folder, "bundle.mjs"))})`))
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0])
  const lines = children.flatMap(({ lines: printed }) =>
    printed.map((line) => JSON.parse(line) as [number, boolean, string]),
  )
  expect(lines).toHaveLength(120)
  for (let index = 0; index < 40; index++) {
    const ofRole = lines.filter(([which]) => which === index)
    expect(ofRole.filter(([, created]) => created)).toHaveLength(1)
    expect(new Set(ofRole.map(([, , creator]) => creator)).size).toBe(1)
  }
  expect((await again()).directory.listRoles()).toHaveLength(42)
})
