import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/open.ts"
import { readFrames } from "./journal-files.ts"
import { recordKey } from "./key.ts"
import { readPlain, readPlainLater } from "./plain-file.ts"

const makers: Record<string, (path: string) => void> = {
  "a link": (path) => (writeFileSync(`${path}.target`, "theirs"), symlinkSync(`${path}.target`, path)),
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a folder": (path) => mkdirSync(path),
}

test.each(Object.entries(makers))("%s in the data folder is read as nothing of ours, and holds up nobody", async (_, make) => {
  const path = join(temporaryFolder(), "file")
  make(path)
  expect(() => readPlain(path)).toThrow()
  expect(() => readFrames(path, 0)).toThrow()
  await expect(readPlainLater(path)).rejects.toThrow()
}) // prettier-ignore

test("a plain file is read whole", async () => {
  const path = join(temporaryFolder(), "file")
  writeFileSync(path, "ours")
  expect([readPlain(path).toString(), (await readPlainLater(path)).toString()]).toEqual(["ours", "ours"])
})

test("a key that is a pipe is refused and not waited for, and one behind a link is a key", () => {
  const dir = temporaryFolder()
  execFileSync("mkfifo", ["-m", "600", join(dir, "record.key")])
  expect(() => recordKey(dir)).toThrow(/no plain file/)
  const other = temporaryFolder()
  writeFileSync(join(other, "mounted"), "0".repeat(64), { mode: 0o600 })
  symlinkSync("mounted", join(other, "record.key"))
  expect(recordKey(other).text).toBe("0".repeat(64))
})
