import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryFolder } from "../testing/open.ts"
import { readPlain } from "./plain-file.ts"

test("a plain file is read as far as it may be long, and no further", () => {
  const path = join(temporaryFolder(), "file")
  const text = "é".repeat(100_000)
  writeFileSync(path, text)
  expect(readPlain(path, { most: 200_000 })).toBe(text)
  expect(() => readPlain(path, { most: 199_999 })).toThrow("too large")
})

test.skipIf(process.platform !== "linux")("one that says it is empty and is not is read no further either", () => {
  expect(readPlain("/proc/self/cmdline", { most: 100_000 })).not.toBe("")
  expect(() => readPlain("/proc/self/cmdline", { most: 1 })).toThrow("too large")
})

test("a link is followed only where that is meant", () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "file"), "text")
  symlinkSync("file", join(folder, "link"))
  expect(() => readPlain(join(folder, "link"), { most: 10 })).toThrow("ELOOP")
  expect(readPlain(join(folder, "link"), { most: 10, follows: true })).toBe("text")
})

test("a folder is none, and says so", () => {
  const path = join(temporaryFolder(), "folder")
  mkdirSync(path)
  expect(() => readPlain(path, { most: 10 })).toThrow(expect.objectContaining({ code: "EISDIR" }))
})

test.each([false, true])("nobody waits for what comes out of a pipe; links followed: %j", (follows) => {
  const folder = temporaryFolder()
  execFileSync("mkfifo", [join(folder, "pipe")])
  symlinkSync("pipe", join(folder, "link"))
  // Ends the test when somebody waits for it all the same.
  const script = "setTimeout(() => { fs.writeFileSync('waited', ''); fs.openSync('pipe', 'w') }, 20_000)"
  const rescuer = spawn(process.execPath, ["-e", script], { cwd: folder, stdio: "ignore" })
  onTestFinished(() => void rescuer.kill("SIGKILL"))
  expect(() => readPlain(join(folder, follows ? "link" : "pipe"), { most: 10, follows })).toThrow("no plain file")
  expect(existsSync(join(folder, "waited"))).toBe(false)
})
