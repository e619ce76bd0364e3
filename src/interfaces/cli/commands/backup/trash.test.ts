import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { TrashItem } from "../../../../platform/files/file-access.ts"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { openFiles, openTrash } from "../../../../platform/files/files.ts"
import { runWithApp } from "../../testing.ts"

async function deleted() {
  const workspace = temporaryFolder()
  const options = { workspace, dataFolder: temporaryFolder() }
  const files = openFiles(options)
  const trash = openTrash(options)
  const file = (name: string) => join(workspace, name)
  const remove = async (name: string, agent: string) => {
    writeFileSync(file(name), name)
    return (await files.trash(name, agent)).id
  }
  const run = (...words: string[]) => runWithApp({ trash }, ["trash", ...words])
  return { file, remove, run }
}

test("deleted files are listed, newest first, and restored by an id prefix", async () => {
  const { file, remove, run } = await deleted()
  expect(await run("list")).toMatchObject({ code: 0, stdout: "", stderr: "The trash is empty.\n" })
  const id = await remove("a.txt", "ann")
  await remove("b.txt", "bob")
  const { stdout } = await run()
  expect(stdout.split("\n")[0]).toMatch(/^ID +DELETED +BY +KIND +BYTES +PATH/)
  expect(stdout).toMatch(/ann +file +5 +a\.txt/)
  expect(JSON.parse((await run("list", "--json", "--agent", "ann")).stdout)).toMatchObject([{ id, path: "a.txt" }])
  expect(await run("restore", id.slice(0, 13))).toMatchObject({ code: 0, stdout: "Restored a.txt.\n" })
  expect(readFileSync(file("a.txt"), "utf8")).toBe("a.txt")
  expect(JSON.parse((await run("list", "--json")).stdout)).toMatchObject([{ path: "b.txt" }])
})

test("a file that cannot be restored is reported and stays in the trash", async () => {
  const { file, remove, run } = await deleted()
  const id = await remove("a.txt", "ann")
  writeFileSync(file("a.txt"), "new")
  const refused = await run("restore", id, "--json")
  expect(refused.code).toBe(1)
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: "exists" })
  expect(readFileSync(file("a.txt"), "utf8")).toBe("new")
  expect(JSON.parse((await run("list", "--json")).stdout)).toHaveLength(1)
  expect((await run("restore", "ffff")).code).toBe(1)
  expect((await run("restore", "")).code).toBe(2)
  expect(existsSync(file("ffff"))).toBe(false)
})

test("a file that programs may run is restored only after a warning", async () => {
  const item: TrashItem = { id: "0a1b2c", path: "sub/.git", kind: "folder", size: 9, deletedAt: 0, agentId: "ann", taken: "it runs, and its config says 'x\u001b[2J'" } // prettier-ignore
  const restored: string[][] = []
  const trash = {
    list: () => Promise.resolve([item]),
    find: () => Promise.resolve(item),
    restore: (...words: [string, string]) => (restored.push(words), Promise.resolve(item)),
  }
  const run = (...words: string[]) => runWithApp({ trash }, ["trash", ...words])
  expect((await run()).stdout).toMatch(/ann +folder +9 +sub\/\.git/)
  const unasked = await run("restore", "0a1")
  expect(unasked).toMatchObject({ code: 2, stdout: "" })
  expect(unasked.stderr).toMatch(
    /^A command of ann made sub\/\.git at .*, and it was moved to the trash: it runs, and its config says 'x\\u\{1b\}\[2J'\. Programs on this machine may run its content without asking\. Look at it first: it is trash\/0a1b2c\/item in the data folder\.\nThere is no terminal to ask for confirmation\./,
  )
  expect(restored).toEqual([])
  const agreed = await run("restore", "0a1", "--yes", "--as", "eve")
  expect(agreed).toMatchObject({ code: 0, stdout: "Restored sub/.git.\n" })
  expect(agreed.stderr).toContain("may run its content")
  expect(restored).toEqual([["0a1b2c", "eve"]])
})
