import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"

async function openProject() {
  const workspace = temporaryFolder()
  mkdirSync(join(workspace, "src"))
  writeFileSync(join(workspace, "src/a.txt"), "one")
  writeFileSync(join(workspace, "src/b.txt"), "bbb")
  const org = { agents: [{ id: "ada", role: "operator" }] }
  const app = await openTestApp({ org, rules: [{ allow: "*", because: "It is a test." }] }, { workspace, sweepMs: 0 })
  const call = (tool: string, input: object, agentId = "operator") => app.call({ agentId, tool, input })
  /** The same call until it is answered from the cache. */
  const cached = async (tool: string, input: object) => {
    await until(async () => (await call(tool, input)).metadata?.["cached"] === true, `${tool} is cached`)
    return (await call(tool, input)).result
  }
  const isCached = async (tool: string, input: object, agentId?: string) =>
    (await call(tool, input, agentId)).metadata?.["cached"] === true
  return { app, call, cached, isCached, workspace }
}

const read = { path: "src/a.txt" }
const list = { path: "src" }

test("a file that has not changed is read from memory, and a changed one from disk", async () => {
  const { call, cached, isCached, workspace } = await openProject()
  expect(await cached("read_file", read)).toMatchObject({ content: "one" })
  expect(await isCached("read_file", read, "ada")).toBe(false)
  writeFileSync(join(workspace, "src/a.txt"), "two")
  expect(await call("read_file", read)).toMatchObject({ result: { content: "two" } })
  rmSync(join(workspace, "src/a.txt"))
  expect(await call("read_file", read)).toMatchObject({ metadata: { toolCode: "file_not_found" } })
})

test("a listing is from memory until an entry comes, goes or changes", async () => {
  const { call, cached, workspace } = await openProject()
  const sizes = async () => {
    const { files } = (await call("list_files", list)).result as { files: { name: string; size: number }[] }
    return files.map(({ name, size }) => `${name} ${size}`)
  }
  for (const [change, seen] of [
    [() => writeFileSync(join(workspace, "src/a.txt"), "longer"), ["a.txt 6", "b.txt 3"]],
    [() => writeFileSync(join(workspace, "src/c.txt"), ""), ["a.txt 6", "b.txt 3", "c.txt 0"]],
    [() => rmSync(join(workspace, "src/b.txt")), ["a.txt 6", "c.txt 0"]],
  ] as const) {
    await cached("list_files", list)
    change()
    expect(await sizes()).toEqual(seen)
  }
})

test("a listing with folders below it or with links in it, and a file behind a link, are read each time", async () => {
  const { call, cached, isCached, workspace } = await openProject()
  await cached("list_files", list)
  expect(await isCached("list_files", { ...list, recursive: true })).toBe(false)
  expect(await isCached("list_files", { ...list, recursive: true })).toBe(false)
  symlinkSync("src/a.txt", join(workspace, "link.txt"))
  await cached("read_file", read)
  for (const [tool, input] of [
    ["list_files", { path: "." }],
    ["read_file", { path: "link.txt" }],
  ] as const) {
    // prettier-ignore
    await call(tool, input)
    expect(await isCached(tool, input)).toBe(false)
  }
})

test("what was read from memory counts as read, and a rule that denies it counts at once", async () => {
  const { app, call, cached, workspace } = await openProject()
  await cached("read_file", read)
  const edit = { ...read, oldText: "one", newText: "two" }
  expect(await call("edit_file", edit)).toMatchObject({ success: true })
  await cached("read_file", read)
  writeFileSync(join(workspace, "src/a.txt"), "one")
  expect(await call("edit_file", edit)).toMatchObject({ metadata: { toolCode: "file_changed" } })
  await cached("read_file", read)
  await app.rules.add({ deny: "read_file", touching: "read:src/**", because: "Not now." }, "ann")
  expect(await call("read_file", read)).toMatchObject({ code: "permission_denied" })
})
