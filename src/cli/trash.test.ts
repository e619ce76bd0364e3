import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { TrashItem } from "../model/files.ts"
import { temporaryFolder } from "../testing/open.ts"
import { openFence, openTrash } from "../world/files/fence.ts"
import { runOver } from "./testing.ts"

async function deleted() {
  const workspace = temporaryFolder()
  const options = { workspace, dataFolder: temporaryFolder() }
  const files = openFence(options)
  const trash = openTrash(options)
  const file = (name: string) => join(workspace, name)
  const remove = async (name: string, agent: string) => {
    writeFileSync(file(name), name)
    return (await files.trash(name, agent)).id
  }
  const run = (...words: string[]) => runOver({ trash }, ["trash", ...words])
  return { file, remove, run }
}

test("what agents deleted is listed, newest first, and put back by the beginning of its id", async () => {
  const { file, remove, run } = await deleted()
  expect(await run("list")).toMatchObject({ code: 0, stdout: "", stderr: "The trash is empty.\n" })
  const id = await remove("a.txt", "ann")
  await remove("b.txt", "bob")
  const { stdout } = await run()
  expect(stdout.split("\n")[0]).toMatch(/^ID +SINCE +BY +WAS +KIND +BYTES +PATH/)
  expect(stdout).toMatch(/ann +deleted +file +5 +a\.txt/)
  expect(JSON.parse((await run("list", "--json", "--agent", "ann")).stdout)).toMatchObject([{ id, path: "a.txt" }])
  expect(await run("restore", id.slice(0, 13))).toMatchObject({ code: 0, stdout: "a.txt is back.\n" })
  expect(readFileSync(file("a.txt"), "utf8")).toBe("a.txt")
  expect(JSON.parse((await run("list", "--json")).stdout)).toMatchObject([{ path: "b.txt" }])
})

test("what cannot be put back is said, and stays in the trash", async () => {
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

test("what was taken away from a command comes back only when a person has been told what it may do", async () => {
  const item: TrashItem = { id: "0a1b2c", path: "sub/.git", kind: "folder", size: 9, deletedAt: 0, agentId: "ann", taken: "it runs, and its config says 'x\u001b[2J'" } // prettier-ignore
  const restored: string[][] = []
  const trash = {
    list: () => Promise.resolve([item]),
    find: () => Promise.resolve(item),
    restore: (...words: [string, string]) => (restored.push(words), Promise.resolve(item)),
  }
  const run = (...words: string[]) => runOver({ trash }, ["trash", ...words])
  expect((await run()).stdout).toMatch(/ann +made by a command +folder +9 +sub\/\.git/)
  const unasked = await run("restore", "0a1")
  expect(unasked).toMatchObject({ code: 2, stdout: "" })
  expect(unasked.stderr).toMatch(
    /^A command of ann made sub\/\.git at .*, and it was taken away: it runs, and its config says 'x\?\[2J'\. What is in it may run on this machine without being asked for\. Look at it first: it is trash\/0a1b2c\/item in the data folder\.\nNobody can be asked here\./,
  )
  expect(restored).toEqual([])
  const agreed = await run("restore", "0a1", "--yes", "--as", "eve")
  expect(agreed).toMatchObject({ code: 0, stdout: "sub/.git is back.\n" })
  expect(agreed.stderr).toContain("may run on this machine")
  expect(restored).toEqual([["0a1b2c", "eve"]])
})
