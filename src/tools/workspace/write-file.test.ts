import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync, linkSync } from "node:fs"
import { join } from "node:path"
import iconv from "iconv-lite"
import { expect, test } from "vitest"
import { openBench, type Bench } from "./testing.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

const bytesOf = (bench: Bench, path: string) => readFileSync(join(bench.dir, path))
const textOf = (bench: Bench, path: string) => readFileSync(join(bench.dir, path), "utf8")

test("a file is written with its missing parent folders", async () => {
  const bench = openBench()
  expect(await bench.call("write_file", { path: "a/b/c.txt", content: "Grüße\n" })).toEqual({
    ok: true,
    bytesWritten: 8,
    size: 8,
    mode: "overwrite",
    created: true,
    path: "a/b/c.txt",
    encoding: "utf-8",
  })
  expect(textOf(bench, "a/b/c.txt")).toBe("Grüße\n")
})

test("it replaces or appends, keeps the mode, and backs up the previous version", async () => {
  const bench = openBench()
  chmodSync(bench.put("a.sh", "one\n"), 0o750)
  const replaced = await bench.call("write_file", { path: "a.sh", content: "two\n" })
  expect(replaced).toMatchObject({ created: false, mode: "overwrite", size: 4 })
  expect(readFileSync(replaced["backup"] as string, "utf8")).toBe("one\n")
  expect(await bench.call("write_file", { path: "a.sh", content: "three\n", append: true })).toMatchObject({
    created: false,
    mode: "append",
    bytesWritten: 6,
    size: 10,
  })
  expect(textOf(bench, "a.sh")).toBe("two\nthree\n")
  expect(statSync(join(bench.dir, "a.sh")).mode & 0o777).toBe(0o750)
  const made = await bench.call("write_file", { path: "new.txt", content: "x", append: true })
  expect(made).toMatchObject({ created: true, mode: "append", size: 1 })
})

test("it asks a person each time", () => {
  expect(openBench().tools.get("write_file")!.permission.level).toBe("sensitive")
})

test("an existing file keeps its encoding and byte order mark, unless encoding is given", async () => {
  const bench = openBench()
  const chinese = "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n"
  const cases: [string, Buffer, object, Buffer][] = [
    ["utf-8 with mark", Buffer.from("\ufeffold"), { content: "neu" }, Buffer.from("\ufeffneu")],
    ["utf-8 without, asked for", Buffer.from("\ufeffold"), { content: "neu", encoding: "utf8" }, Buffer.from("neu")],
    ["utf-16le", Buffer.from("\ufeffold", "utf16le"), { content: "ä" }, Buffer.from("\ufeffä", "utf16le")],
    ["utf-16le added", Buffer.from("\ufeffold", "utf16le"), { content: "ä", append: true }, Buffer.from("\ufeffoldä", "utf16le")],
    ["gbk", iconv.encode(chinese, "gbk"), { content: "明月\n" }, iconv.encode("明月\n", "gbk")],
    ["gbk added", iconv.encode(chinese, "gbk"), { content: "明月\n", append: true }, iconv.encode(`${chinese}明月\n`, "gbk")],
    ["gbk to utf-8", iconv.encode(chinese, "gbk"), { content: "明月 🎉", encoding: "utf-8" }, Buffer.from("明月 🎉")],
    ["binary", Buffer.from([0, 1, 0, 2, 2]), { content: "text" }, Buffer.from("text")],
    ["new in utf-16be", Buffer.alloc(0), { content: "ab", encoding: "UTF-16BE" }, Buffer.from([0xfe, 0xff, 0, 0x61, 0, 0x62])],
    ["bytes", Buffer.from("text"), { content: "AAH/\n", encoding: "base64" }, Buffer.from([0, 1, 255])],
    ["line ends as given", Buffer.from("a\r\nb\r\n"), { content: "x\ny\r\n" }, Buffer.from("x\ny\r\n")],
  ] // prettier-ignore
  for (const [name, before, input, after] of cases) {
    const path = bench.fresh(before)
    const written = await bench.call("write_file", { path, ...input })
    expect([name, written.error, bytesOf(bench, path)]).toEqual([name, undefined, after])
  }
})

test("content that cannot be written as given is refused, and nothing is written", async () => {
  const bench = openBench({ maxFileSize: 1000 })
  const chinese = iconv.encode("床前明月光，疑是地上霜。举头望明月，低头思故乡。\n", "gbk")
  bench.put("gbk.txt", chinese)
  bench.put("folder/x", "")
  bench.put("full.txt", "x".repeat(900))
  linkSync(bench.put("named.txt", "one"), join(bench.dir, "twice.txt"))
  symlinkSync("/etc/hostname", join(bench.dir, "out"))
  const cases: [object, string][] = [
    [{ path: "gbk.txt", content: "🎉" }, "unencodable"],
    [{ path: "a.txt", content: "é", encoding: "ascii" }, "unencodable"],
    [{ path: "a.txt", content: "half \ud83c" }, "not_text"],
    [{ path: "a.txt", content: "A-_=", encoding: "base64" }, "invalid_base64"],
    [{ path: "a.txt", content: "x", encoding: "utf-9" }, "invalid_arguments"],
    [{ path: "a.txt", content: "x".repeat(1001) }, "invalid_arguments"],
    [{ path: "a.txt", content: "é".repeat(501), encoding: "utf-8" }, "invalid_arguments"],
    [{ path: "a.txt", content: "AAAA".repeat(400), encoding: "base64" }, "invalid_arguments"],
    [{ path: "a.txt", content: "é".repeat(501) }, "too_large"],
    [{ path: "full.txt", content: "x".repeat(101), append: true }, "too_large"],
    [{ path: "folder", content: "x" }, "is_folder"],
    [{ path: "out", content: "x" }, "outside"],
    [{ path: "../a.txt", content: "x" }, "outside"],
    [{ path: "named.txt", content: "x" }, "linked"],
    [{ path: ".git/hooks/pre-commit", content: "x" }, "sealed"],
  ]
  for (const [input, toolCode] of cases) {
    expect((await bench.call("write_file", input)).toolCode, JSON.stringify(input)).toBe(toolCode)
  }
  expect(bytesOf(bench, "gbk.txt")).toEqual(chinese)
  expect(bench.files.similarNames("a.txt")).not.toContain("a.txt")
})

test("nobody is asked about content that is too large", async () => {
  const app = await openTestApp({ tools: { maxFileSize: 1000 } }, { workspace: temporaryFolder() })
  const write = (length: number) =>
    app.call(
      { agentId: "operator", tool: "write_file", input: { path: "a.txt", content: "x".repeat(length) } },
      { waitMs: 0 },
    )
  expect(await write(1001)).toMatchObject({
    code: "invalid_arguments",
    error: expect.stringContaining("is larger than 1000 bytes (tools.maxFileSize). Write less, or several files"),
  })
  expect(await app.approvals.list()).toEqual([])
  expect(await write(1000)).toMatchObject({ state: "waiting" })
})

test("a file that changed since the agent read it is not overwritten, but can be appended to", async () => {
  const bench = openBench()
  const path = bench.put("a.txt", "one\n")
  await bench.call("read_file", { path: "a.txt" })
  writeFileSync(path, "two\n")
  expect(await bench.call("write_file", { path: "a.txt", content: "mine\n" })).toMatchObject({
    toolCode: "file_changed",
  })
  expect(await bench.call("write_file", { path: "a.txt", content: "three\n", append: true })).toMatchObject({
    ok: true,
  })
  expect(await bench.call("write_file", { path: "a.txt", content: "mine\n" })).toMatchObject({ ok: true })
  expect(textOf(bench, "a.txt")).toBe("mine\n")
})

test("a file is not overwritten by a text with placeholders", async () => {
  const bench = openBench()
  bench.put("a.ts", "const a = 1\nconst b = 2\n")
  const content = "const a = 10\n// ... rest of the code ...\n"
  expect(await bench.call("write_file", { path: "a.ts", content })).toMatchObject({ toolCode: "placeholder" })
  expect(await bench.call("write_file", { path: "new.ts", content })).toMatchObject({ ok: true })
})

test("an approver sees the diff, or the size of binary content", async () => {
  const bench = openBench()
  bench.put("a.txt", "one\ntwo\n")
  bench.put("b.bin", Buffer.from([0, 1, 0, 2, 2]))
  const preview = (input: object) => previewTextOf(bench.tools.get("write_file")!, input)
  expect(await preview({ path: "a.txt", content: "one\n2\n" })).toBe(
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
  )
  expect(await preview({ path: "a.txt", content: "three\n", append: true })).toContain(" two\n+three\n")
  expect(await preview({ path: "new.txt", content: "x" })).toContain("--- /dev/null\n+++ b/new.txt\n")
  expect(await preview({ path: "a.txt", content: "one\ntwo\n" })).toBe("a.txt stays as it is.")
  expect(await preview({ path: "b.bin", content: "x" })).toContain("5 bytes that are not text")
  expect(await preview({ path: "c.bin", content: "AAAA", encoding: "base64" })).toBe(
    "Writes 3 bytes to c.bin (a new file).",
  )
})
