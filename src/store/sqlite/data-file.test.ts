import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { readFrames } from "./journal-files.ts"
import { loadRecordKey } from "./record-key.ts"
import { readOwnFileSync, readOwnFile } from "./data-file.ts"

const makers: Record<string, (path: string) => void> = {
  "a link": (path) => (writeFileSync(`${path}.target`, "theirs"), symlinkSync(`${path}.target`, path)),
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a folder": (path) => mkdirSync(path),
}

test.each(Object.entries(makers))("%s in the data folder is refused without blocking", async (_, make) => {
  const path = join(temporaryFolder(), "file")
  make(path)
  expect(() => readOwnFileSync(path)).toThrow()
  expect(() => readFrames(path, 0)).toThrow()
  await expect(readOwnFile(path)).rejects.toThrow()
}) // prettier-ignore

test("a regular file is read completely", async () => {
  const path = join(temporaryFolder(), "file")
  writeFileSync(path, "ours")
  expect([readOwnFileSync(path).toString(), (await readOwnFile(path)).toString()]).toEqual(["ours", "ours"])
})

test("a key that is a pipe is refused without blocking, and a key behind a link is accepted", () => {
  const dir = temporaryFolder()
  execFileSync("mkfifo", ["-m", "600", join(dir, "record.key")])
  expect(() => loadRecordKey(dir, () => true)).toThrow(/not a regular file/)
  const other = temporaryFolder()
  writeFileSync(join(other, "mounted"), "0".repeat(64), { mode: 0o600 })
  symlinkSync("mounted", join(other, "record.key"))
  expect(loadRecordKey(other, () => true).text).toBe("0".repeat(64))
})
