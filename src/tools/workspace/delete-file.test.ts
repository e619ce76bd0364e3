import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Trash } from "../../platform/files/file-access.ts"
import type { ToolContext } from "../../core/tool.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFiles, openTrash } from "../../platform/files/files.ts"
import { deleteFile } from "./delete-file.ts"
import type { Workspace } from "./workspace.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

interface TestTrash {
  dir: string
  trash: Trash
  remove(input: object, context?: object): Promise<{ trashId: string }>
  preview(path: string): Promise<string>
  put(path: string, content: string | Uint8Array): void
}

function openTestTrash(): TestTrash {
  const dir = temporaryFolder()
  const options = { workspace: dir, dataFolder: temporaryFolder() }
  const tool = deleteFile({ files: openFiles(options), allowedExtensions: [] } as unknown as Workspace)
  return {
    dir,
    trash: openTrash(options),
    remove: async (input, context = {}) => {
      const checked = tool.input.check(input) as { value: unknown }
      return tool.execute(checked.value, { agent: { id: "ann" }, ...context } as ToolContext) as Promise<{
        trashId: string
      }>
    },
    preview: (path) => previewTextOf(tool, { path, recursive: false }),
    put: (path, content) => {
      mkdirSync(join(dir, path, ".."), { recursive: true })
      writeFileSync(join(dir, path), content)
    },
  }
}

test("a deleted file goes to the trash, and a person restores it unchanged", async () => {
  const box = openTestTrash()
  const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 256)
  box.put("notes/old.bin", bytes)
  const removed = await box.remove({ path: "notes/old.bin" })
  expect(removed).toMatchObject({ deleted: true, path: "notes/old.bin", type: "file", size: 5000 })
  expect(existsSync(join(box.dir, "notes/old.bin"))).toBe(false)
  const item = { id: removed.trashId, path: "notes/old.bin", kind: "file", size: 5000, agentId: "ann" }
  expect(await box.trash.list()).toMatchObject([item])
  expect(await box.trash.restore(removed.trashId.slice(0, 8))).toMatchObject(item)
  expect(readFileSync(join(box.dir, "notes/old.bin")).equals(bytes)).toBe(true)
  expect(await box.trash.list()).toEqual([])
})

test("a folder needs recursive unless it is empty, and is restored with its content", async () => {
  const box = openTestTrash()
  box.put("src/a.ts", "a")
  box.put("src/in/b.ts", "b")
  symlinkSync("a.ts", join(box.dir, "src/link"))
  mkdirSync(join(box.dir, "empty"))
  await expect(box.remove({ path: "src" })).rejects.toMatchObject({
    toolCode: "is_folder",
    message: "'src' is a folder with 3 entries. Call again with recursive: true to delete all of it.",
  })
  expect(await box.remove({ path: "empty" })).toMatchObject({ type: "directory" })
  const { trashId } = await box.remove({ path: "src", recursive: true })
  expect(existsSync(join(box.dir, "src"))).toBe(false)
  await box.trash.restore(trashId)
  expect(readFileSync(join(box.dir, "src/in/b.ts"), "utf8")).toBe("b")
  expect(readlinkSync(join(box.dir, "src/link"))).toBe("a.ts")
})

test("nothing is restored over an existing file, and the item stays in the trash", async () => {
  const box = openTestTrash()
  box.put("a.txt", "old")
  const { trashId } = await box.remove({ path: "a.txt" })
  box.put("a.txt", "new")
  await expect(box.trash.restore(trashId)).rejects.toMatchObject({ toolCode: "exists" })
  expect(readFileSync(join(box.dir, "a.txt"), "utf8")).toBe("new")
  expect(await box.trash.list()).toHaveLength(1)
})

test("deleting a link leaves its target", async () => {
  const box = openTestTrash()
  const outside = temporaryFolder()
  writeFileSync(join(outside, "x"), "x")
  for (const [name, target] of [
    ["out", outside],
    ["dangling", "nowhere"],
  ] as const) {
    symlinkSync(target, join(box.dir, name))
    expect(await box.remove({ path: name })).toMatchObject({ deleted: true, type: "link" })
    expect(lstatSync(join(box.dir, name), { throwIfNoEntry: false })).toBeUndefined()
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
  const box = openTestTrash()
  box.put("a.txt", "x")
  box.put(".git/config", "x")
  await expect(box.remove({ path, recursive: true })).rejects.toMatchObject({ toolCode })
  expect(await box.trash.list()).toEqual([])
})

test("a narrowed call deletes nothing else", async () => {
  const box = openTestTrash()
  box.put("src/a.txt", "x")
  box.put("b.txt", "x")
  const context = { allowedPaths: ["src"] }
  await expect(box.remove({ path: "b.txt" }, context)).rejects.toMatchObject({ toolCode: "outside" })
  expect(await box.remove({ path: "src/a.txt" }, context)).toMatchObject({ deleted: true })
})

test("an approver sees what would be deleted", async () => {
  const box = openTestTrash()
  box.put("src/a.ts", "four")
  expect(await box.preview("src/a.ts")).toContain("Delete src/a.ts: the file, 4 bytes")
  expect(await box.preview("src")).toContain("Delete src: the folder with 1 entry")
})
