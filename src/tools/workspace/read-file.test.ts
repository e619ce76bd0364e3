import { execFileSync } from "node:child_process"
import { openSync, closeSync, ftruncateSync, writeSync, chmodSync, readdirSync, symlinkSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import fc from "fast-check"
import iconv from "iconv-lite"
import { expect, onTestFinished, test } from "vitest"
import { openBench } from "./testing.ts"

const poem = "床前明月光，疑是地上霜。举头望明月，低头思故乡。\n这是一个测试文件，用来检查编码。\n"
const haiku = "古池や蛙飛びこむ水の音。日本語のテキストです。\nこれはテストのファイルです。\n"

test("a text is read with its size, lines and encoding", async () => {
  const { put, call } = openBench()
  put("docs/a.md", "# Title\n\nHéllo\n")
  expect(await call("read_file", { path: "docs/a.md" })).toEqual({
    content: "# Title\n\nHéllo\n",
    size: 16,
    chars: 15,
    path: "docs/a.md",
    encoding: "utf-8",
    totalLines: 3,
    truncated: false,
    kind: "text",
    startLine: 1,
    endLine: 3,
  })
})

test("offset is the first line from 1 and limit the number of lines", async () => {
  const { put, call } = openBench()
  put("a.txt", Array.from({ length: 5000 }, (_, index) => `line ${index + 1}\n`).join(""))
  const cases: [object, object][] = [
    [
      { offset: 2, limit: 2 },
      { content: "line 2\nline 3\n", startLine: 2, endLine: 3, truncated: true },
    ],
    [{ offset: 5000 }, { content: "line 5000\n", truncated: false, totalLines: 5000 }],
    [{ limit: 1 }, { content: "line 1\n", notice: "Lines 1-1 of 5000. Go on with offset=2." }],
    [{}, { startLine: 1, endLine: 2000, truncated: true, notice: "Lines 1-2000 of 5000. Go on with offset=2001." }],
    [
      { offset: 5001 },
      { content: "", truncated: false, notice: "The file has 5000 lines; line 5001 is past its end." },
    ],
    [{ tail: 2 }, { content: "line 4999\nline 5000\n", startLine: 4999, truncated: true }],
    [{ tail: 9000 }, { startLine: 1, endLine: 5000, truncated: false }],
  ]
  for (const [input, result] of cases) {
    expect(await call("read_file", { path: "a.txt", ...input }), JSON.stringify(input)).toMatchObject(result)
  }
})

test("contradictory parameters are refused before anything is read", async () => {
  const { call } = openBench()
  const bad = [
    {},
    { path: "a", paths: ["b"] },
    { path: "" },
    { paths: [] },
    { paths: Array.from({ length: 51 }, () => "a") },
    { path: "a", offset: 0 },
    { path: "a", offset: -1 },
    { path: "a", limit: 1.5 },
    { path: "a", tail: 1, offset: 1 },
    { path: "a", encoding: "klingon" },
    { path: "a", encoding: "base64", offset: 1 },
    { path: "a", pages: "one" },
    { path: "a", lines: 3 },
  ]
  for (const input of bad) {
    expect(await call("read_file", input), JSON.stringify(input)).toMatchObject({ toolCode: "invalid_arguments" })
  }
})

test("an empty file is not a failure, and the notice says so", async () => {
  const { put, call } = openBench()
  put("empty.txt", "")
  expect(await call("read_file", { path: "empty.txt" })).toMatchObject({
    content: "",
    size: 0,
    totalLines: 0,
    truncated: false,
    notice: "The file is empty.",
  })
})

test("a missing file is refused with similar names", async () => {
  const { put, call } = openBench()
  put("src/config.ts", "x")
  const missing = await call("read_file", { path: "src/confg.ts" })
  expect(missing).toMatchObject({ toolCode: "file_not_found" })
  expect(missing.error).toMatch(/^File not found: src\/confg\.ts\. Did you mean .*config\.ts/)
  expect((await call("read_file", { path: "nowhere/at/all" })).error).toContain("File not found: nowhere/at/all.")
})

test("folders, pipes, sockets, devices and links out of the workspace are refused immediately", async () => {
  const { dir, put, call } = openBench()
  put("folder/a.txt", "x")
  execFileSync("mkfifo", [join(dir, "pipe")])
  symlinkSync("/etc/passwd", join(dir, "out"))
  symlinkSync("nowhere", join(dir, "dangling"))
  const server = createServer().listen(join(dir, "socket"))
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once("listening", resolve))
  const codes: Record<string, string> = {
    folder: "is_folder",
    pipe: "special_file",
    socket: "special_file",
    out: "outside",
    "../x": "outside",
    "/dev/zero": "outside",
    dangling: "file_not_found",
  }
  for (const [path, toolCode] of Object.entries(codes)) {
    for (const part of [{}, { tail: 3 }, { encoding: "base64" }]) {
      expect((await call("read_file", { path, ...part })).toolCode, path).toBe(toolCode)
    }
  }
})

test("no reading leaves a descriptor open, however it ends", async () => {
  const { put, call } = openBench({ maxFileSize: 1000 })
  put("big.txt", "line\n".repeat(1000))
  put("big.bin", Buffer.alloc(5000))
  put("small.txt", "x")
  const open = () => readdirSync("/proc/self/fd").length
  await call("read_file", { path: "small.txt" })
  const before = open()
  for (const input of [{}, { tail: 5 }, { offset: 900 }, { offset: 9000 }, { encoding: "base64" }]) {
    for (const path of ["big.txt", "big.bin", "small.txt", "none.txt", "."]) await call("read_file", { path, ...input })
  }
  const stopped = { signal: AbortSignal.abort(new Error("stopped")) }
  await expect(call("read_file", { path: "big.txt", offset: 9000 }, stopped)).rejects.toThrow("stopped")
  // Other code in this process may close its descriptors meanwhile.
  expect(open()).toBeLessThanOrEqual(before)
})

test("a file that may not be read is refused with a sentence", async () => {
  if (process.getuid?.() === 0) return // Root reads everything.
  const { put, call } = openBench()
  chmodSync(put("secret.txt", "x"), 0)
  expect(await call("read_file", { path: "secret.txt" })).toMatchObject({ toolCode: "unreadable" })
})

test("each encoding is detected and reported, and the text is right", async () => {
  const { put, call } = openBench()
  const latin = "Größe, façade, naïve, déjà vu — wäre schön.\n".repeat(3)
  const russian = "Съешь же ещё этих мягких французских булок, да выпей чаю.\n"
  const cases: [string, string, Buffer, string, boolean?][] = [
    ["utf-8", "häßlich 漢字 🎉\n", Buffer.from("häßlich 漢字 🎉\n"), "utf-8"],
    ["utf-8 with mark", "a\nb\n", Buffer.from("\ufeffa\nb\n"), "utf-8", true],
    ["utf-16le with mark", "häß 🎉\r\n", Buffer.from("\ufeffhäß 🎉\r\n", "utf16le"), "utf-16le", true],
    ["utf-16be with mark", "häß 🎉\n", Buffer.from("\ufeffhäß 🎉\n", "utf16le").swap16(), "utf-16be", true],
    ["utf-16le without", "plain words\n", Buffer.from("plain words\n", "utf16le"), "utf-16le"],
    ["utf-16be without", "plain words\n", Buffer.from("plain words\n", "utf16le").swap16(), "utf-16be"],
    ["utf-32le", "a🎉\n", iconv.encode("\ufeffa🎉\n", "utf-32le"), "utf-32le", true],
    ["gbk", poem, iconv.encode(poem, "gbk"), "gbk"],
    ["a few bytes of gbk", "你好世界\n", iconv.encode("你好世界\n", "gbk"), "gbk"],
    ["a few bytes of big5", "你好世界", iconv.encode("你好世界", "big5"), "big5"],
    ["a few bytes of euc-kr", "안녕하세요", iconv.encode("안녕하세요", "euc-kr"), "euc-kr"],
    ["a few bytes of shift_jis", "こんにちは", iconv.encode("こんにちは", "shift_jis"), "shift_jis"],
    ["a few bytes of Latin", "Müller\n", iconv.encode("Müller\n", "latin1"), "windows-1252"],
    ["fewer bytes of Latin", "café", iconv.encode("café", "latin1"), "windows-1252"],
    ["shift_jis", haiku, iconv.encode(haiku, "shift_jis"), "shift_jis"],
    ["euc-jp", haiku, iconv.encode(haiku, "euc-jp"), "euc-jp"],
    [
      "big5",
      "這是一個測試檔案，用來檢查編碼是否正確。\n",
      iconv.encode("這是一個測試檔案，用來檢查編碼是否正確。\n", "big5"),
      "big5",
    ],
    ["windows-1252", latin, iconv.encode(latin, "windows-1252"), "windows-1252"],
    ["windows-1251", russian, iconv.encode(russian, "windows-1251"), "windows-1251"],
  ]
  for (const [name, content, bytes, encoding, bom] of cases) {
    put("file.txt", bytes)
    const read = await call("read_file", { path: "file.txt" })
    expect({ name, content: read["content"], encoding: read["encoding"], bom: read["bom"] }).toEqual({
      name,
      content,
      encoding,
      bom,
    })
  }
})

test("an encoding that is named is used, by any of its spellings", async () => {
  const { put, call } = openBench()
  put("a.bin", Buffer.from([0xe4, 0x00, 0x41]))
  const cases: [string, string, string][] = [
    ["latin1", "ä\0A", "latin1"],
    ["ISO-8859-1", "ä\0A", "latin1"],
    ["utf8", "\ufffd\0A", "utf-8"],
    ["UTF-8", "\ufffd\0A", "utf-8"],
    ["ascii", "\ufffd\0A", "ascii"],
    ["cp1251", "д\0A", "windows-1251"],
    ["base64", "5ABB", "base64"],
  ]
  for (const [encoding, content, actual] of cases) {
    expect(await call("read_file", { path: "a.bin", encoding })).toMatchObject({ content, encoding: actual, size: 3 })
  }
})

test("invalid bytes are marked, counted, and do not change the encoding", async () => {
  const { put, call } = openBench()
  put(
    "a.txt",
    Buffer.concat([Buffer.from("grün und schön ä ö ü\n"), Buffer.from([0xff, 0xc3]), Buffer.from("\nEnde\n")]),
  )
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({
    content: "grün und schön ä ö ü\n\ufffd\ufffd\nEnde\n",
    encoding: "utf-8",
    invalidBytes: 2,
    notice: "2 bytes are not valid utf-8 and shown as U+FFFD.",
  })
})

test("a binary file is refused, and the refusal names what it is", async () => {
  const { put, call } = openBench()
  const cases: [Buffer, RegExp][] = [
    [Buffer.from("\x7fELF\x02\x01\x01\0\0\0", "latin1"), /a Linux program/],
    [Buffer.from("PK\x03\x04\x14\0\0\0", "latin1"), /a ZIP archive/],
    [Buffer.from("SQLite format 3\0\x10\0", "latin1"), /an SQLite database/],
    [Buffer.from([1, 0, 2, 0, 0, 3, 4]), /a binary file of 7 bytes/],
    [Buffer.from(Array.from({ length: 400 }, (_, index) => 1 + ((index * 89) % 255))), /a binary file of 400 bytes/],
  ]
  for (const [bytes, sentence] of cases) {
    put("file", bytes)
    const read = await call("read_file", { path: "file" })
    expect(read).toMatchObject({ toolCode: "binary_file", error: expect.stringMatching(sentence) })
    expect(read.error).toContain("encoding base64")
    expect(await call("read_file", { path: "file", encoding: "base64" })).toMatchObject({
      content: bytes.toString("base64"),
      kind: "bytes",
    })
  }
})

test("CRLF, CR and mixed endings are returned unchanged, and lines are counted as other tools do", async () => {
  const { put, call } = openBench()
  const cases: [string, number, string][] = [
    ["a\r\nb\r\nc", 3, "b\r\n"],
    ["a\rb\rc\r", 3, "b\r"],
    ["a\nb\r\nc\n", 3, "b\r\n"],
    ["10%\r20%\r30%\nb\n", 2, "b\n"],
    ["\n\n\n", 3, "\n"],
  ]
  for (const [content, totalLines, second] of cases) {
    put("a.txt", content)
    expect(await call("read_file", { path: "a.txt" })).toMatchObject({ content, totalLines })
    expect(await call("read_file", { path: "a.txt", offset: 2, limit: 1 })).toMatchObject({ content: second })
  }
})

test("several files are read at once, and one failure does not affect the others", async () => {
  const { put, call } = openBench()
  put("a.txt", "one\n")
  put("c.txt", "three\n")
  put("d.bin", Buffer.from([0, 1, 0, 2, 3]))
  const read = await call("read_file", { paths: ["a.txt", "b.txt", "c.txt", "d.bin", "../out"], limit: 5 })
  expect(read).toMatchObject({
    failed: 3,
    files: [
      { path: "a.txt", content: "one\n" },
      { path: "b.txt", toolCode: "file_not_found" },
      { path: "c.txt", content: "three\n" },
      { path: "d.bin", toolCode: "binary_file" },
      { path: "../out", toolCode: "outside" },
    ],
  })
})

test("several files together obey the size limit of one file", async () => {
  const { put, call } = openBench({ maxFileSize: 1000 })
  for (const name of ["a", "b", "c"]) put(name, "x".repeat(600))
  put("d", "y")
  const { files } = await call("read_file", { paths: ["a", "b", "c", "d"] })
  expect((files as { path: string; toolCode?: string }[]).map(({ path, toolCode }) => [path, toolCode])).toEqual([
    ["a", undefined],
    ["b", "too_large"],
    ["c", "too_large"],
    ["d", undefined],
  ])
})

test("a too large file is refused with what to do, and its parts can be read", async () => {
  const { put, call } = openBench({ maxFileSize: 1000 })
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}\n`)
  put("big.log", lines.join(""))
  const whole = await call("read_file", { path: "big.log" })
  expect(whole).toMatchObject({ toolCode: "too_large" })
  expect(whole.error).toMatch(/offset and limit or with tail/)
  expect(await call("read_file", { path: "big.log", offset: 998 })).toMatchObject({
    content: "line 998\nline 999\nline 1000\n",
    startLine: 998,
    endLine: 1000,
    totalLines: 1000,
    truncated: false,
  })
  expect(await call("read_file", { path: "big.log", tail: 2 })).toMatchObject({
    content: "line 999\nline 1000\n",
    truncated: true,
  })
  expect(await call("read_file", { path: "big.log", offset: 1001 })).toMatchObject({
    content: "",
    totalLines: 1000,
    notice: "The file has 1000 lines; line 1001 is past its end.",
  })
  expect(await call("read_file", { path: "big.log", limit: 500 })).toMatchObject({ truncated: true, chars: 1000 })
})

test("only files with allowed extensions are read", async () => {
  const { put, call } = openBench({ allowedExtensions: ["md", ".TXT"] })
  for (const name of ["a.md", "b.txt", "c.exe", "Makefile", "d.MD"]) put(name, "x")
  for (const path of ["a.md", "b.txt", "d.MD"])
    expect(await call("read_file", { path })).toMatchObject({ content: "x" })
  for (const path of ["c.exe", "Makefile"])
    expect(await call("read_file", { path })).toMatchObject({ toolCode: "extension_denied" })
})

test("a narrowed call reads only its own paths", async () => {
  const { put, call } = openBench()
  put("a/x.txt", "in")
  put("b/x.txt", "out")
  const context = { allowedPaths: ["a"] }
  expect(await call("read_file", { path: "a/x.txt" }, context)).toMatchObject({ content: "in" })
  const refused = await call("read_file", { path: "b/x.txt" }, context)
  expect(refused.toolCode).toBe("outside")
  expect(refused.error).toContain("Access denied")
})

test("a sparse file of 5 GB is refused as a whole, and its end can be read", async () => {
  const { dir, call } = openBench()
  const descriptor = openSync(join(dir, "huge.log"), "w")
  writeSync(descriptor, "first\nsecond\n", 0)
  ftruncateSync(descriptor, 5 * 1024 ** 3)
  writeSync(descriptor, "\nlast but one\nlast\n", 5 * 1024 ** 3)
  closeSync(descriptor)
  expect(await call("read_file", { path: "huge.log" })).toMatchObject({ toolCode: "too_large" })
  expect(await call("read_file", { path: "huge.log", tail: 2 })).toMatchObject({ toolCode: "binary_file" })
  expect(await call("read_file", { path: "huge.log", tail: 2, encoding: "utf-8" })).toMatchObject({
    content: "last but one\nlast\n",
    truncated: true,
  })
  expect(await call("read_file", { path: "huge.log", offset: 1, limit: 1, encoding: "utf-8" })).toMatchObject({
    content: "first\n",
  })
})

test("law: some lines of a text are what splitting it into lines gives", async () => {
  const { put, call } = openBench()
  const line = fc.string({ unit: fc.constantFrom("a", "ä", "漢", "🎉", " ", "\r"), maxLength: 12 })
  const part = { offset: fc.integer({ min: 1, max: 35 }), limit: fc.integer({ min: 1, max: 35 }) }
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 30 }),
      fc.record(part),
      fc.boolean(),
      async (lines, { offset, limit }, wide) => {
        const content = lines.map((text) => `${text}\n`).join("")
        put("a.txt", wide ? Buffer.from(`\ufeff${content}`, "utf16le") : Buffer.from(content))
        const expected = (some: string[]) => some.map((text) => `${text}\n`).join("")
        const read = await call("read_file", { path: "a.txt", offset, limit })
        expect(read).toMatchObject({
          content: expected(lines.slice(offset - 1, offset - 1 + limit)),
          totalLines: lines.length,
        })
        const tail = await call("read_file", { path: "a.txt", tail: limit })
        expect(tail["content"]).toBe(expected(lines.slice(-limit)))
      },
    ),
    { numRuns: 100 },
  )
})
