import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  readlinkSync,
} from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFiles } from "../../platform/files/files.ts"
import { moveFile } from "./move-file.ts"
import type { Workspace } from "./workspace.ts"
import { openBench, type Bench } from "./testing.ts"

const move = (bench: Bench, from: string, to: string, more = {}) => bench.call("move_file", { from, to, ...more })
const text = (bench: Bench, path: string) => readFileSync(join(bench.dir, path), "utf8")

test("a file moves with its bytes and its mode, and missing folders are created", async () => {
  const bench = openBench()
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256)
  chmodSync(bench.put("a.bin", bytes), 0o751)
  expect(await move(bench, "a.bin", "new/deep/b.bin")).toEqual({ success: true, from: "a.bin", to: "new/deep/b.bin" })
  expect(existsSync(join(bench.dir, "a.bin"))).toBe(false)
  expect(readFileSync(join(bench.dir, "new/deep/b.bin")).equals(bytes)).toBe(true)
  expect(statSync(join(bench.dir, "new/deep/b.bin")).mode & 0o777).toBe(0o751)
})

test("a folder moves with its content", async () => {
  const bench = openBench()
  bench.put("src/a.ts", "a")
  symlinkSync("a.ts", join(bench.dir, "src/link"))
  expect(await move(bench, "src", "lib/src")).toMatchObject({ success: true })
  expect(text(bench, "lib/src/a.ts")).toBe("a")
  expect(readlinkSync(join(bench.dir, "lib/src/link"))).toBe("a.ts")
})

test("nothing is overwritten unless asked for", async () => {
  const bench = openBench()
  bench.put("a.txt", "a")
  bench.put("b.txt", "b")
  bench.put("folder/c.txt", "c")
  expect((await move(bench, "a.txt", "b.txt")).toolCode).toBe("exists")
  expect((await move(bench, "a.txt", "folder")).toolCode).toBe("exists")
  expect((await move(bench, "a.txt", "folder", { overwrite: true })).toolCode).toBe("exists")
  expect([text(bench, "a.txt"), text(bench, "b.txt")]).toEqual(["a", "b"])
  expect(await move(bench, "a.txt", "b.txt", { overwrite: true })).toMatchObject({ success: true })
  expect(text(bench, "b.txt")).toBe("a")
})

test("moving onto itself loses nothing, and into itself is refused", async () => {
  const bench = openBench()
  bench.put("src/a.ts", "a")
  for (const more of [{}, { overwrite: true }]) {
    await move(bench, "src/a.ts", "./src/a.ts", more)
    expect(text(bench, "src/a.ts")).toBe("a")
  }
  expect((await move(bench, "src", "src/in/src")).toolCode).toBe("bad_path")
  expect((await move(bench, "src", "src/src")).toolCode).toBe("bad_path")
  expect(text(bench, "src/a.ts")).toBe("a")
})

test.each([
  ["missing.txt", "b.txt", "file_not_found"],
  ["a.txt", "../b.txt", "outside"],
  ["../a.txt", "b.txt", "outside"],
  ["a.txt", "/etc/b.txt", "outside"],
  ["a.txt", ".git/hooks/pre-commit", "sealed"],
  ["a.txt", ".bashrc", "sealed"],
  [".", "b", "sealed"],
  ["a.txt", "b\0", "bad_path"],
  ["a.txt", "out/b.txt", "outside"],
])("%j is not moved to %j", async (from, to, toolCode) => {
  const bench = openBench()
  bench.put("a.txt", "a")
  symlinkSync(temporaryFolder(), join(bench.dir, "out"))
  expect((await move(bench, from, to)).toolCode).toBe(toolCode)
  expect(text(bench, "a.txt")).toBe("a")
})

test("moving a link moves the link itself", async () => {
  const bench = openBench()
  symlinkSync("nowhere", join(bench.dir, "link"))
  expect(await move(bench, "link", "moved")).toMatchObject({ success: true })
  expect(readlinkSync(join(bench.dir, "moved"))).toBe("nowhere")
})

const memory = "/dev/shm"
const isOtherDisk = existsSync(memory) && statSync(memory).dev !== statSync(temporaryFolderBase()).dev

test.runIf(isOtherDisk)(
  "files and folders move from one disk to another, bytes, modes and links as they were",
  async () => {
    const dir = temporaryFolder()
    const other = mkdtempSync(join(memory, "qm-test-"))
    onTestFinished(() => rmSync(other, { recursive: true, force: true }))
    const files = openFiles({ workspace: dir, dataFolder: temporaryFolder(), allowedPaths: [dir, other] })
    const tool = moveFile({ files, allowedExtensions: [] } as unknown as Workspace)
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 31) % 256))
    mkdirSync(join(dir, "src"))
    await files.write("src/a.bin", bytes)
    chmodSync(join(dir, "src/a.bin"), 0o711)
    symlinkSync("a.bin", join(dir, "src/link"))
    const run = (from: string, to: string) => tool.execute({ from, to, overwrite: false }, {} as ToolContext)
    expect(await run("src", join(other, "src"))).toMatchObject({ success: true, to: join(other, "src") })
    expect(existsSync(join(dir, "src"))).toBe(false)
    expect(readFileSync(join(other, "src/a.bin")).equals(bytes)).toBe(true)
    expect(statSync(join(other, "src/a.bin")).mode & 0o777).toBe(0o711)
    expect(readlinkSync(join(other, "src/link"))).toBe("a.bin")
    expect(await run(join(other, "src/a.bin"), "back.bin")).toMatchObject({ success: true, to: "back.bin" })
    expect(readFileSync(join(dir, "back.bin")).equals(bytes)).toBe(true)
  },
)

function temporaryFolderBase(): string {
  return process.env["TMPDIR"] ?? "/tmp"
}

test("files with an extension that is not allowed are not moved, nor created by a move", async () => {
  const bench = openBench({ allowedExtensions: ["md"] })
  bench.put("a.md", "a")
  bench.put("b.sh", "b")
  expect((await move(bench, "b.sh", "b.md")).toolCode).toBe("extension_denied")
  expect((await move(bench, "a.md", "a.sh")).toolCode).toBe("extension_denied")
  expect(await move(bench, "a.md", "c.md")).toMatchObject({ success: true })
})
