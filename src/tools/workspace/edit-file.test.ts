import { readdirSync, readFileSync, statSync, chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import iconv from "iconv-lite"
import { expect, test } from "vitest"
import { openBench, type Bench } from "./testing.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

const bytesOf = (bench: Bench, path: string) => readFileSync(join(bench.dir, path))
const textOf = (bench: Bench, path: string) => readFileSync(join(bench.dir, path), "utf8")

test("an exact and unique text is replaced, and the diff says what changed", async () => {
  const bench = openBench()
  bench.put("src/a.ts", "const a = 1\nconst b = 2\nconst c = 3\n")
  const edited = await bench.call("edit_file", { path: "src/a.ts", oldText: "b = 2", newText: "b = 20" })
  expect(edited).toMatchObject({ ok: true, path: "src/a.ts", changed: true, created: false, replacements: 1 })
  expect(edited).toMatchObject({ additions: 1, deletions: 1, encoding: "utf-8", size: 37, bytesWritten: 37 })
  expect(edited["diff"]).toBe(
    "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,3 @@\n const a = 1\n-const b = 2\n+const b = 20\n const c = 3\n",
  )
  expect(textOf(bench, "src/a.ts")).toBe("const a = 1\nconst b = 20\nconst c = 3\n")
})

test("line mode replaces, inserts and removes whole lines", async () => {
  const bench = openBench()
  const cases: [string, object, string][] = [
    ["a\nb\nc\n", { startLine: 2, newText: "B" }, "a\nB\nc\n"],
    ["a\nb\nc\n", { startLine: 2, newText: "B\n" }, "a\nB\nc\n"],
    ["a\nb\nc\n", { startLine: 1, endLine: 2, newText: "x\ny\nz" }, "x\ny\nz\nc\n"],
    ["a\nb\nc\n", { startLine: 2, endLine: 2, newText: "" }, "a\nc\n"],
    ["a\nb\nc\n", { startLine: 2, endLine: 1, newText: "new" }, "a\nnew\nb\nc\n"],
    ["a\nb\nc\n", { startLine: 4, endLine: 3, newText: "d" }, "a\nb\nc\nd\n"],
    ["a\nb", { startLine: 3, endLine: 2, newText: "c" }, "a\nb\nc"],
    ["a\nb", { startLine: 2, newText: "B" }, "a\nB"],
    ["a\r\nb\r\n", { startLine: 1, newText: "x\ny" }, "x\r\ny\r\nb\r\n"],
    ["a\rb\rc", { startLine: 2, newText: "x\ny" }, "a\rx\ry\rc"],
    ["", { startLine: 1, endLine: 0, newText: "first\n" }, "first\n"],
  ]
  for (const [before, edit, after] of cases) {
    const path = bench.fresh(before)
    const edited = await bench.call("edit_file", { path, ...edit })
    expect({ edited: edited.error, edit, text: textOf(bench, path) }).toEqual({ edit, text: after })
  }
})

test("missing lines are refused with the number of lines", async () => {
  const bench = openBench()
  bench.put("a.txt", "a\nb\n")
  for (const edit of [{ startLine: 3 }, { startLine: 1, endLine: 3 }, { startLine: 4, endLine: 3 }]) {
    const refused = await bench.call("edit_file", { path: "a.txt", ...edit, newText: "x" })
    expect(refused).toMatchObject({ toolCode: "no_such_line", error: expect.stringContaining("has 2 lines") })
  }
  expect(textOf(bench, "a.txt")).toBe("a\nb\n")
})

test("a preview changes nothing and shows the diff", async () => {
  const bench = openBench()
  bench.put("a.txt", "one\ntwo\n")
  const before = statSync(join(bench.dir, "a.txt"), { bigint: true })
  const edit = { path: "a.txt", oldText: "two", newText: "2" }
  const seen = await bench.call("edit_file", { ...edit, preview: true })
  expect(seen).toMatchObject({ changed: false, bytesWritten: 0, additions: 1, deletions: 1 })
  expect(seen["diff"]).toContain("-two\n+2\n")
  expect(statSync(join(bench.dir, "a.txt"), { bigint: true }).mtimeNs).toBe(before.mtimeNs)
  expect(await previewTextOf(bench.tools.get("edit_file")!, edit)).toBe(seen["diff"])
  const touches = (input: object) => bench.tools.get("edit_file")!.touches!(input).map(({ kind }) => kind)
  expect([touches(edit), touches({ ...edit, preview: true })]).toEqual([["read", "write"], ["read"]])
})

test("it asks a person each time, and no more than 30 times a minute and 500 an hour", () => {
  const { permission } = openBench().tools.get("edit_file")!
  expect(permission).toMatchObject({
    level: "sensitive",
    rateLimit: { maxCallsPerMinute: 30, maxCallsPerHour: 500 },
  })
})

test("the previous version is backed up, unless backup is false", async () => {
  const bench = openBench()
  bench.put("a.txt", "1")
  const kept = await bench.call("edit_file", { path: "a.txt", oldText: "1", newText: "2" })
  expect(readFileSync(kept["backup"] as string, "utf8")).toBe("1")
  const unkept = await bench.call("edit_file", { path: "a.txt", oldText: "2", newText: "3", backup: false })
  expect(unkept).not.toHaveProperty("backup")
  expect(readdirSync(join(kept["backup"] as string, "..")).length).toBe(1)
})

test("a text that occurs several times is refused with its lines, or replaced everywhere", async () => {
  const bench = openBench()
  bench.put("a.txt", "x = 1\ny = 1\n\nz = 1 + 1\n")
  const refused = await bench.call("edit_file", { path: "a.txt", oldText: "1", newText: "2" })
  expect(refused).toMatchObject({ toolCode: "several_matches" })
  expect(refused.error).toMatch(/is 4 times in a\.txt, in lines 1, 2, 4, 4\..*replaceAll/)
  const edited = await bench.call("edit_file", { path: "a.txt", oldText: "1", newText: "2", replaceAll: true })
  expect(edited).toMatchObject({ replacements: 4 })
  expect(textOf(bench, "a.txt")).toBe("x = 2\ny = 2\n\nz = 2 + 2\n")
})

test("a text that is not found is refused with the most similar lines and their numbers", async () => {
  const bench = openBench()
  bench.put(
    "a.ts",
    "import x\n\nfunction add(a, b) {\n    return a + b\n}\n\nfunction sub(a, b) {\n    return a - b\n}\n",
  )
  const cases: [string, RegExp][] = [
    [
      "function sub(a, b) {\n  return a - b\n}",
      /only in white space:\n7: function sub\(a, b\) \{\n8: {5}return a - b\n9: \}/,
    ],
    ["function add(x, y) {", /most similar lines are these:\n3: function add\(a, b\) \{/],
    ["qqqq zzzz", /Nothing in it is similar/],
  ]
  for (const [oldText, sentence] of cases) {
    const refused = await bench.call("edit_file", { path: "a.ts", oldText, newText: "x" })
    expect(refused).toMatchObject({ toolCode: "no_match", error: expect.stringMatching(sentence) })
  }
})

test("several edits are made together or not at all", async () => {
  const bench = openBench()
  const before = "one\ntwo\nthree\nfour\n"
  bench.put("a.txt", before)
  const call = (edits: object[]) => bench.call("edit_file", { path: "a.txt", edits })
  const refused: [object[], string][] = [
    [[{ oldText: "one", newText: "1" }, { oldText: "five", newText: "5" }], "no_match"],
    [[{ oldText: "one\ntwo", newText: "1" }, { oldText: "two", newText: "2" }], "overlapping_edits"],
    [[{ oldText: "one", newText: "1" }, { startLine: 9, newText: "x" }], "no_such_line"],
    [[{ oldText: "one", newText: "1" }, { oldText: "two", newText: "two" }], "no_change"],
    [[{ oldText: "one", newText: "1" }, { oldText: "", newText: "x" }], "no_match"],
    [[], "invalid_arguments"],
    [[{ oldText: "one" }], "invalid_arguments"],
  ] // prettier-ignore
  for (const [edits, toolCode] of refused) {
    expect((await call(edits)).toolCode).toBe(toolCode)
    expect(textOf(bench, "a.txt")).toBe(before)
  }
  const all = [
    { startLine: 4, newText: "vier" },
    { oldText: "one", newText: "eins\nanderthalb" },
    { startLine: 2, endLine: 2, newText: "zwei" },
  ]
  expect(await call(all)).toMatchObject({ ok: true, replacements: 3 })
  expect(textOf(bench, "a.txt")).toBe("eins\nanderthalb\nzwei\nthree\nvier\n")
})

test("an empty oldText only creates new files", async () => {
  const bench = openBench()
  const made = await bench.call("edit_file", { path: "new/deep/a.txt", oldText: "", newText: "hello\r\n" })
  expect(made).toMatchObject({ created: true, changed: true, size: 7 })
  expect(made["diff"]).toContain("--- /dev/null\n+++ b/new/deep/a.txt\n")
  expect(textOf(bench, "new/deep/a.txt")).toBe("hello\r\n")
  expect(await bench.call("edit_file", { path: "new/deep/a.txt", oldText: "", newText: "x" })).toMatchObject({
    toolCode: "exists",
  })
  bench.put("b.txt", "")
  expect(await bench.call("edit_file", { path: "b.txt", oldText: "", newText: "x" })).toMatchObject({
    toolCode: "exists",
  })
})

test("missing or contradictory parameters are refused", async () => {
  const bench = openBench()
  bench.put("a.txt", "same\r\nsame line\n")
  const cases: [object, string][] = [
    [{ oldText: "same line", newText: "same line" }, "no_change"],
    [{ startLine: 2, newText: "same line" }, "no_change"],
    [{ oldText: "same" }, "invalid_arguments"],
    [{ newText: "same" }, "invalid_arguments"],
    [{ oldText: "a", newText: "b", startLine: 1 }, "invalid_arguments"],
    [{ endLine: 1, newText: "b" }, "invalid_arguments"],
    [{ startLine: 3, endLine: 1, newText: "b" }, "invalid_arguments"],
    [{ startLine: 1, newText: "b", replaceAll: true }, "invalid_arguments"],
    [{ oldText: "a", newText: "b", edits: [{ oldText: "a", newText: "b" }] }, "invalid_arguments"],
    [{ oldText: "same\r", newText: "half \ud83c" }, "no_match"],
    [{ oldText: "same line", newText: "half \ud83c" }, "not_text"],
  ]
  for (const [edit, toolCode] of cases) {
    expect(await bench.call("edit_file", { path: "a.txt", ...edit }), JSON.stringify(edit)).toMatchObject({ toolCode })
  }
  expect(textOf(bench, "a.txt")).toBe("same\r\nsame line\n")
})

test("dollar signs and backslashes in the new text are literal", async () => {
  const bench = openBench()
  bench.put("a.txt", "price: X\n")
  const newText = "$& $1 $$ $` $' \\n \\u0041"
  await bench.call("edit_file", { path: "a.txt", oldText: "X", newText })
  expect(textOf(bench, "a.txt")).toBe(`price: ${newText}\n`)
})

test("a placeholder line is refused, unless it was there before", async () => {
  const bench = openBench()
  bench.put("a.ts", "function a() {\n  work()\n}\n// ... existing code ...\n")
  const refused = [
    "// ... rest of code ...",
    "// ... existing code",
    "  # ... rest of the file unchanged",
    "/* … remaining methods … */",
    "<!-- ... rest of the content ... -->",
    "(rest of methods unchanged)",
    "// ...rest of function remains the same",
    "...rest of code here...",
  ]
  for (const line of refused) {
    const edit = { path: "a.ts", oldText: "  work()", newText: `  play()\n${line}` }
    expect(await bench.call("edit_file", edit), line).toMatchObject({ toolCode: "placeholder" })
  }
  const fine = [
    "  const { a, ...rest } = b",
    "  // the rest of the code is in b.ts",
    "  // remaining tests",
    "  call(...existing, code)",
    "  // ...",
  ]
  for (const line of fine) {
    const edit = { path: "a.ts", oldText: "  work()", newText: `  work()\n${line}`, preview: true }
    expect(await bench.call("edit_file", edit), line).toMatchObject({ ok: true })
  }
  const kept = { path: "a.ts", oldText: "}\n// ... existing code ...", newText: "}\n\n// ... existing code ..." }
  expect(await bench.call("edit_file", kept)).toMatchObject({ ok: true })
})

test("a file that changed since the agent read it is refused until it reads again", async () => {
  const bench = openBench()
  const path = bench.put("a.txt", "one\ntwo\n")
  const edit = { path: "a.txt", oldText: "one", newText: "1" }
  await bench.call("read_file", { path: "a.txt" })
  writeFileSync(path, "one\nthree\n")
  const refused = await bench.call("edit_file", edit)
  expect(refused).toMatchObject({ toolCode: "file_changed", error: expect.stringContaining("Read it again") })
  expect(textOf(bench, "a.txt")).toBe("one\nthree\n")
  const bob = { agent: { id: "bob", role: "dev" } }
  expect(await bench.call("edit_file", { ...edit, preview: true }, bob)).toMatchObject({ ok: true })
  await bench.call("read_file", { path: "a.txt", limit: 1 })
  expect(await bench.call("edit_file", edit)).toMatchObject({ ok: true })
  expect(await bench.call("edit_file", { ...edit, oldText: "1", newText: "2" })).toMatchObject({ ok: true })
})

test("a file that changes during the edit is not overwritten", async () => {
  const bench = openBench()
  const path = bench.put("a.txt", "one\n")
  const { files } = bench
  const write = files.write.bind(files)
  Object.assign(files, {
    write(...given: Parameters<typeof write>) {
      writeFileSync(path, "somebody else\n")
      return write(...given)
    },
  })
  expect(await bench.call("edit_file", { path: "a.txt", oldText: "one", newText: "1" })).toMatchObject({
    toolCode: "file_changed",
  })
  expect(textOf(bench, "a.txt")).toBe("somebody else\n")
})

test("a call aborted before the write changes nothing", async () => {
  const bench = openBench()
  bench.put("a.txt", "one\n")
  const stopped = { signal: AbortSignal.abort(new Error("stopped")) }
  const calls: [string, object][] = [
    ["edit_file", { path: "a.txt", oldText: "one", newText: "1" }],
    ["write_file", { path: "a.txt", content: "1" }],
    ["write_file", { path: "a.txt", content: "1", append: true }],
  ]
  for (const [tool, input] of calls) await expect(bench.call(tool, input, stopped)).rejects.toThrow("stopped")
  expect(textOf(bench, "a.txt")).toBe("one\n")
})

test("concurrent edits of one file are all applied", async () => {
  const bench = openBench()
  bench.put("a.txt", Array.from({ length: 20 }, (_, index) => `line ${index};\n`).join(""))
  const edits = Array.from({ length: 20 }, (_, index) =>
    bench.call("edit_file", {
      path: index % 2 === 0 ? "a.txt" : "./a.txt",
      oldText: `line ${index};`,
      newText: `done ${index};`,
    }),
  )
  expect((await Promise.all(edits)).map(({ error }) => error)).toEqual(Array(20).fill(undefined))
  expect(textOf(bench, "a.txt")).toBe(Array.from({ length: 20 }, (_, index) => `done ${index};\n`).join(""))
})

test("a file keeps its mode, and binary or too large files are refused", async () => {
  const bench = openBench({ maxFileSize: 100, allowedExtensions: ["sh", "bin"] })
  const path = bench.put("run.sh", "#!/bin/sh\necho one\n")
  chmodSync(path, 0o755)
  await bench.call("edit_file", { path: "run.sh", oldText: "one", newText: "two" })
  expect(statSync(path).mode & 0o777).toBe(0o755)
  bench.put("a.bin", Buffer.from([1, 0, 2, 0, 0, 3]))
  bench.put("large.sh", "x".repeat(101))
  const edit = { oldText: "two", newText: "x".repeat(200) }
  expect(await bench.call("edit_file", { path: "a.bin", ...edit })).toMatchObject({ toolCode: "binary_file" })
  expect(await bench.call("edit_file", { path: "large.sh", ...edit })).toMatchObject({ toolCode: "too_large" })
  expect(await bench.call("edit_file", { path: "run.sh", ...edit })).toMatchObject({ toolCode: "too_large" })
  expect(await bench.call("edit_file", { path: "a.txt", ...edit })).toMatchObject({ toolCode: "extension_denied" })
  expect(await bench.call("edit_file", { path: "rum.sh", ...edit })).toMatchObject({
    toolCode: "file_not_found",
    error: expect.stringContaining("Did you mean run.sh?"),
  })
})

test("each line keeps its own ending, also inside the replaced text", async () => {
  const bench = openBench()
  const cases: [string, string, string, string][] = [
    ["a\r\nb\r\nc\r\n", "a\nb\nc", "a\nx\nc", "a\r\nx\r\nc\r\n"],
    ["a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nx\nc\nd", "a\r\nx\nc\r\nd\n"],
    ["a\r\nb\nc\r\nd\n", "b\nc\nd", "b\nnew\nc\nd", "a\r\nb\nnew\r\nc\r\nd\n"],
    ["a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "A\nb\nc\nD\n", "A\r\nb\nc\r\nD\n"],
    ["a\rb\rc\r", "a\nb", "a\nx\ny", "a\rx\ry\rc\r"],
    ["a\r\nb\r\n", "b", "b1\nb2", "a\r\nb1\r\nb2\r\n"],
    ["a\r\nb", "b", "b\n", "a\r\nb\r\n"],
    ["a\r\r\nb\r\n", "b", "B", "a\r\r\nB\r\n"],
    ["one line", "one", "1\r\n2\n", "1\r\n2\n line"],
    ["a\r\nb\r\n", "a\r\nb", "a\r\nc\r\nd", "a\r\nc\r\nd\r\n"],
  ]
  for (const [before, oldText, newText, after] of cases) {
    const path = bench.fresh(before)
    const edited = await bench.call("edit_file", { path, oldText, newText })
    expect([edited.error, before, textOf(bench, path)]).toEqual([undefined, before, after])
  }
})

test("a character that the file's encoding lacks is refused, and others are written in that encoding", async () => {
  const bench = openBench()
  const chinese = "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n这是一个测试文件。\n"
  bench.put("a.txt", iconv.encode(chinese, "gbk"))
  const refused = await bench.call("edit_file", { path: "a.txt", oldText: "测试", newText: "测试 🎉" })
  expect(refused).toMatchObject({ toolCode: "unencodable", error: expect.stringContaining("U+1F389") })
  expect(await bench.call("edit_file", { path: "a.txt", oldText: "测试", newText: "重要" })).toMatchObject({
    encoding: "gbk",
  })
  expect(bytesOf(bench, "a.txt")).toEqual(iconv.encode(chinese.replace("测试", "重要"), "gbk"))
})
