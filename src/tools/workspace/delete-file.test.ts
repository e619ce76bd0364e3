import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Trash } from "../../model/files.ts"
import type { ToolContext } from "../../model/tool.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { openFence, openTrash } from "../../world/files/fence.ts"
import { deleteFile } from "./delete-file.ts"
import type { Workspace } from "./options.ts"

interface House {
  dir: string
  trash: Trash
  remove(input: object, context?: object): Promise<{ trashId: string }>
  preview(path: string): Promise<string>
  put(path: string, content: string | Uint8Array): void
}

function open(): House {
  const dir = temporaryFolder()
  const options = { workspace: dir, dataFolder: temporaryFolder() }
  const tool = deleteFile({ files: openFence(options), allowedExtensions: [] } as unknown as Workspace)
  return {
    dir,
    trash: openTrash(options),
    remove: async (input, context = {}) => {
      const given = tool.input.check(input) as { value: unknown }
      return tool.execute(given.value, { agent: { id: "ann" }, ...context } as ToolContext) as Promise<{
        trashId: string
      }>
    },
    preview: async (path) => tool.preview!({ path, recursive: false }),
    put: (path, content) => {
      mkdirSync(join(dir, path, ".."), { recursive: true })
      writeFileSync(join(dir, path), content)
    },
  }
}

test("what is deleted goes to the trash, and a person brings it back as it was [S4-32]", async () => {
  const house = open()
  const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 256)
  house.put("notes/old.bin", bytes)
  const came = await house.remove({ path: "notes/old.bin" })
  expect(came).toMatchObject({ deleted: true, path: "notes/old.bin", type: "file", size: 5000 })
  expect(existsSync(join(house.dir, "notes/old.bin"))).toBe(false)
  const item = { id: came.trashId, path: "notes/old.bin", kind: "file", size: 5000, agentId: "ann" }
  expect(await house.trash.list()).toMatchObject([item])
  expect(await house.trash.restore(came.trashId.slice(0, 8))).toMatchObject(item)
  expect(readFileSync(join(house.dir, "notes/old.bin")).equals(bytes)).toBe(true)
  expect(await house.trash.list()).toEqual([])
})

test("a folder needs recursive unless it is empty, and comes back with all that was in it", async () => {
  const house = open()
  house.put("src/a.ts", "a")
  house.put("src/in/b.ts", "b")
  symlinkSync("a.ts", join(house.dir, "src/link"))
  mkdirSync(join(house.dir, "empty"))
  await expect(house.remove({ path: "src" })).rejects.toMatchObject({
    toolCode: "is_folder",
    message: "'src' is a folder with 3 entries. Call again with recursive: true to delete all of it.",
  })
  expect(await house.remove({ path: "empty" })).toMatchObject({ type: "directory" })
  const { trashId } = await house.remove({ path: "src", recursive: true })
  expect(existsSync(join(house.dir, "src"))).toBe(false)
  await house.trash.restore(trashId)
  expect(readFileSync(join(house.dir, "src/in/b.ts"), "utf8")).toBe("b")
  expect(readlinkSync(join(house.dir, "src/link"))).toBe("a.ts")
})

test("nothing is brought back to a place that is taken, and it stays in the trash", async () => {
  const house = open()
  house.put("a.txt", "old")
  const { trashId } = await house.remove({ path: "a.txt" })
  house.put("a.txt", "new")
  await expect(house.trash.restore(trashId)).rejects.toMatchObject({ toolCode: "exists" })
  expect(readFileSync(join(house.dir, "a.txt"), "utf8")).toBe("new")
  expect(await house.trash.list()).toHaveLength(1)
})

test("a link is deleted itself, and what it leads to stays", async () => {
  const house = open()
  const outside = temporaryFolder()
  writeFileSync(join(outside, "x"), "x")
  for (const [name, target] of [
    ["out", outside],
    ["dangling", "nowhere"],
  ] as const) {
    symlinkSync(target, join(house.dir, name))
    expect(await house.remove({ path: name })).toMatchObject({ deleted: true, type: "link" })
    expect(lstatSync(join(house.dir, name), { throwIfNoEntry: false })).toBeUndefined()
  }
  expect(readFileSync(join(outside, "x"), "utf8")).toBe("x")
})

test.each([
  [".", "sealed"],
  ["..", "outside"],
  ["/etc/hosts", "outside"],
  ["missing.txt", "file_not_found"],
  [".git/config", "sealed"],
  ["a\0b", "bad_path"],
])("%j is not deleted", async (path, toolCode) => {
  const house = open()
  house.put("a.txt", "x")
  house.put(".git/config", "x")
  await expect(house.remove({ path, recursive: true })).rejects.toMatchObject({ toolCode })
  expect(await house.trash.list()).toEqual([])
})

test("a call that was given some paths deletes nothing else", async () => {
  const house = open()
  house.put("src/a.txt", "x")
  house.put("b.txt", "x")
  const given = { allowedPaths: ["src"] }
  await expect(house.remove({ path: "b.txt" }, given)).rejects.toMatchObject({ toolCode: "outside" })
  expect(await house.remove({ path: "src/a.txt" }, given)).toMatchObject({ deleted: true })
})

test("an approver is told what would be gone", async () => {
  const house = open()
  house.put("src/a.ts", "four")
  expect(await house.preview("src/a.ts")).toContain("Delete src/a.ts: the file, 4 bytes")
  expect(await house.preview("src")).toContain("Delete src: the folder with 1 entry")
})
