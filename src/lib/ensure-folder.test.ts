import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder } from "../testing/test-app.ts"
import { ensureFolder } from "./ensure-folder.ts"

test("a folder and its parents are created for their owner only; an existing folder is not changed", () => {
  const folder = join(temporaryFolder(), "a", "b", "c")
  ensureFolder(folder)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  mkdirSync(join(folder, "kept"))
  ensureFolder(folder)
  expect(existsSync(join(folder, "kept"))).toBe(true)
})

test("it throws where no folder can be created, instead of looping", async () => {
  const file = join(temporaryFolder(), "file")
  writeFileSync(file, "")
  expect(() => ensureFolder(join(file, "below"))).toThrow("ENOTDIR")
  if (existsSync("/proc/self")) expect(() => ensureFolder("/proc/nowhere/below")).toThrow("ENOENT")
  await expect(openTestApp({ data: { dir: join(file, "below") } })).rejects.toThrow(
    /^The store cannot be used \(ENOTDIR.*\)\. There is a file where the data folder or one above it should be: remove or rename it, or choose another folder: --data <folder>, or data\.dir in the configuration\.$/,
  )
  if (process.getuid?.() === 0 && existsSync("/sys/kernel"))
    await expect(openTestApp({ data: { dir: "/sys/data" } })).rejects.toThrow(
      "Choose a folder that you may write: --data",
    )
})
