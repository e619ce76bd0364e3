import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
import { readRegularFile } from "./read-regular-file.ts"

test("a file is read up to maxBytes, and a larger one throws", () => {
  const path = join(temporaryFolder(), "file")
  const text = "é".repeat(100_000)
  writeFileSync(path, text)
  expect(readRegularFile(path, { maxBytes: 200_000 })).toBe(text)
  expect(() => readRegularFile(path, { maxBytes: 199_999 })).toThrow("too large")
})

test.skipIf(process.platform !== "linux")("maxBytes also holds for a kernel file that reports a size of 0", () => {
  expect(readRegularFile("/proc/self/cmdline", { maxBytes: 100_000 })).not.toBe("")
  expect(() => readRegularFile("/proc/self/cmdline", { maxBytes: 1 })).toThrow("too large")
})

test("a link is followed only with followLinks", () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "file"), "text")
  symlinkSync("file", join(folder, "link"))
  expect(() => readRegularFile(join(folder, "link"), { maxBytes: 10 })).toThrow("ELOOP")
  expect(readRegularFile(join(folder, "link"), { maxBytes: 10, followLinks: true })).toBe("text")
})

test("a folder throws EISDIR", () => {
  const path = join(temporaryFolder(), "folder")
  mkdirSync(path)
  expect(() => readRegularFile(path, { maxBytes: 10 })).toThrow(expect.objectContaining({ code: "EISDIR" }))
})

test.each([false, true])("a pipe throws at once instead of blocking; links followed: %j", (follows) => {
  const folder = temporaryFolder()
  execFileSync("mkfifo", [join(folder, "pipe")])
  symlinkSync("pipe", join(folder, "link"))
  // Unblocks the test if the read waits for the pipe after all.
  const script = "setTimeout(() => { fs.writeFileSync('waited', ''); fs.openSync('pipe', 'w') }, 20_000)"
  const unblocker = spawn(process.execPath, ["-e", script], { cwd: folder, stdio: "ignore" })
  onTestFinished(() => void unblocker.kill("SIGKILL"))
  expect(() =>
    readRegularFile(join(folder, follows ? "link" : "pipe"), { maxBytes: 10, followLinks: follows }),
  ).toThrow("not a regular file")
  expect(existsSync(join(folder, "waited"))).toBe(false)
})
