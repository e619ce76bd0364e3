import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { open, temporaryFolder } from "../testing/open.ts"
import { ensureFolder } from "./folder.ts"

test("a folder and the ones above it are made for their owner alone; one that is there stays as it is", () => {
  const folder = join(temporaryFolder(), "a", "b", "c")
  ensureFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  mkdirSync(join(folder, "kept"))
  ensureFolder(folder)
  expect(existsSync(join(folder, "kept"))).toBe(true)
})

test("where no folder can be made it says so instead of trying for ever", async () => {
  const file = join(temporaryFolder(), "file")
  writeFileSync(file, "")
  expect(() => ensureFolder(join(file, "below"))).toThrow("ENOTDIR")
  if (existsSync("/proc/self")) expect(() => ensureFolder("/proc/nowhere/below")).toThrow("ENOENT")
  await expect(open({ data: { dir: join(file, "below") } })).rejects.toThrow("The store cannot be used")
})
