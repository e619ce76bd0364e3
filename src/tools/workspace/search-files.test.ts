import { linkSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { until } from "../../testing/test-app.ts"
import type { Workspace } from "./workspace.ts"
import { searchFiles } from "./search-files.ts"
import { openBench, type Bench, type WorkspaceCallResult } from "./testing.ts"

interface Shown {
  file: string
  line: number
  column: number
  match: string
  count?: number
  context: { before: string[]; after: string[] }
}

const search = (bench: Bench, input: object, context = {}) =>
  bench.call("search_files", { pattern: "needle", ...input }, context)
const matchesOf = (outcome: WorkspaceCallResult) => (outcome["matches"] ?? outcome["error"]) as Shown[]
const places = (outcome: WorkspaceCallResult) =>
  matchesOf(outcome).map(({ file, line, column }) => `${file}:${line}:${column}`)

test("each matching line has its file, line, column and the lines around it", async () => {
  const bench = openBench()
  bench.put("b.ts", "one\r\ntwo needle\r\nthree\r\n")
  bench.put("a/c.ts", "needle, needle")
  expect(await search(bench, { context: 1 })).toEqual({
    matches: [
      { file: "a/c.ts", line: 1, column: 1, match: "needle, needle", count: 2, context: { before: [], after: [] } },
      { file: "b.ts", line: 2, column: 5, match: "two needle", context: { before: ["one"], after: ["three"] } },
    ],
    total: 3,
    fileCount: 2,
    truncated: false,
    timedOut: false,
  })
  expect(matchesOf(await search(bench, { before: 1 }))[1]?.context).toEqual({ before: ["one"], after: [] })
  expect(matchesOf(await search(bench, { after: 2 }))[1]?.context).toEqual({ before: [], after: ["three"] })
})

test("context lines include other matches, and never lines from elsewhere", async () => {
  const bench = openBench()
  bench.put("a.txt", ["needle 1", "needle 2", "x", "y", "z", "needle 3"].join("\n"))
  const contexts = matchesOf(await search(bench, { context: 1 })).map(({ context }) => context)
  expect(contexts).toEqual([
    { before: [], after: ["needle 2"] },
    { before: ["needle 1"], after: ["x"] },
    { before: ["z"], after: [] },
  ])
})

test("the total counts all matches even if the list is cut, and nextOffset continues it", async () => {
  const bench = openBench()
  for (let file = 0; file < 12; file++)
    bench.put(`f${String(file).padStart(2, "0")}.txt`, "needle needle\n".repeat(100))
  const first = await search(bench, { limit: 3 })
  expect(first).toMatchObject({ total: 2400, fileCount: 12, truncated: true, nextOffset: 4 })
  expect(places(first)).toEqual(["f00.txt:1:1", "f00.txt:2:1"])
  const all: string[] = []
  for (let offset: unknown = 0; offset !== undefined;) {
    const page = await search(bench, { limit: 1000, offset })
    expect(page["total"]).toBe(2400)
    all.push(...places(page))
    offset = page["nextOffset"]
  }
  expect(all).toHaveLength(1200)
  expect(new Set(all).size).toBe(1200)
  expect(await search(bench, { offset: 5000 })).toMatchObject({ matches: [], total: 2400, truncated: false })
})

test("output files lists each file with its number of matches", async () => {
  const bench = openBench()
  bench.put("a.txt", "needle\nneedle needle\n")
  bench.put("b.txt", "needle\n")
  bench.put("c.txt", "none\n")
  expect(await search(bench, { output: "files" })).toEqual({
    files: [
      { file: "a.txt", count: 3 },
      { file: "b.txt", count: 1 },
    ],
    total: 4,
    fileCount: 2,
    truncated: false,
    timedOut: false,
  })
  expect(await search(bench, { output: "files", limit: 1 })).toMatchObject({
    files: [{ file: "a.txt" }],
    total: 4,
    truncated: true,
    nextOffset: 1,
  })
})

test.each<[string, object, string[]]>([
  ["a regular expression", { pattern: "ne+dle\\d" }, ["a.txt:2:1"]],
  ["plain text", { pattern: "(needle", literal: true }, ["a.txt:3:1"]],
  ["any letter case", { pattern: "NEEDLE2", ignoreCase: true }, ["a.txt:2:1"]],
  ["this letter case", { pattern: "NEEDLE2" }, []],
  ["whole words", { pattern: "needle", word: true }, ["a.txt:1:1", "a.txt:3:2"]],
  ["look-around", { pattern: "needle(?=2)", pcre2: true }, ["a.txt:2:1"]],
  ["what looks like an option", { pattern: "--files" }, ["a.txt:4:1"]],
  ["another that does", { pattern: "-e", literal: true }, ["a.txt:4:8"]],
])("it searches by %s", async (_, input, expected) => {
  const bench = openBench()
  bench.put("a.txt", "needle\nneedle2\n(needle\n--files-e\n")
  expect(places(await search(bench, input))).toEqual(expected)
})

test("a match may span lines, and neighbouring matches are separate", async () => {
  const bench = openBench()
  bench.put("a.txt", "start\nmiddle\nend\nstart\nend\nrest\n")
  const outcome = await search(bench, { pattern: "start.*?end", multiline: true, context: 1 })
  expect(outcome).toMatchObject({ total: 2, fileCount: 1 })
  expect(matchesOf(outcome)).toEqual([
    { file: "a.txt", line: 1, column: 1, match: "start\nmiddle\nend", context: { before: [], after: ["start"] } },
    { file: "a.txt", line: 4, column: 1, match: "start\nend", context: { before: ["end"], after: ["rest"] } },
  ])
})

test("onlyMatching shows each match on its own", async () => {
  const bench = openBench()
  bench.put("a.txt", "v1 and v22\n")
  const outcome = await search(bench, { pattern: "v\\d+", onlyMatching: true })
  expect(matchesOf(outcome).map(({ column, match }) => [column, match])).toEqual([
    [1, "v1"],
    [8, "v22"],
  ])
})

test("columns count UTF-16 units, and text with a byte order mark is searched", async () => {
  const bench = openBench()
  bench.put("a.txt", "日本 🎉 needle\n")
  bench.put("b.txt", "\ufeffneedle with a mark\n")
  bench.put("c.txt", Buffer.from("\ufeffneedle in utf-16\n", "utf16le"))
  bench.put("d.txt", Buffer.concat([Buffer.from("needle "), Buffer.from([0xff, 0xfe]), Buffer.from(" bytes\n")]))
  const found = matchesOf(await search(bench, {}))
  expect(found.map(({ file, column, match }) => `${file}:${column}:${match}`)).toEqual([
    "a.txt:7:日本 🎉 needle",
    "b.txt:1:needle with a mark",
    "c.txt:1:needle in utf-16",
    "d.txt:1:needle \ufffd\ufffd bytes",
  ])
})

test("a long line is shown around its match", async () => {
  const bench = openBench()
  bench.put("a.js", `${"a".repeat(2_000_000)}needle${"b".repeat(2_000_000)}`)
  const [found] = matchesOf(await search(bench, {}))
  expect(found?.column).toBe(2_000_001)
  expect(found?.match).toMatch(/^…a{200}needleb{794}…$/)
})

test("binary files are left out, in a folder and by their name", async () => {
  const bench = openBench()
  bench.put("a.bin", "needle\0needle\n")
  bench.put("b.txt", "needle\n")
  expect(await search(bench, {})).toMatchObject({ total: 1, fileCount: 1 })
  expect(await search(bench, { path: "a.bin" })).toMatchObject({ matches: [], total: 0, fileCount: 0 })
  expect(places(await search(bench, { path: "b.txt" }))).toEqual(["b.txt:1:1"])
})

test.each<[string, object, string[]]>([
  ["nothing said", {}, ["a.ts", "src/c.ts", "src/d.py"]],
  ["hidden ones too", { hidden: true }, [".github/e.ts", "a.ts", "src/c.ts", "src/d.py"]],
  ["ignored ones too", { ignored: true }, ["a.ts", "dist/b.ts", "src/c.ts", "src/d.py"]],
  ["a glob over names", { glob: "*.ts" }, ["a.ts", "src/c.ts"]],
  ["a glob over paths", { glob: "src/**/*.ts" }, ["src/c.ts"]],
  ["a glob that would fit all", { glob: "**/*" }, ["a.ts", "src/c.ts", "src/d.py"]],
  ["several globs", { glob: ["a.*", "*.py"] }, ["a.ts", "src/d.py"]],
  ["a kind", { type: "py" }, ["src/d.py"]],
  ["a kind and a glob", { type: "ts", glob: "src/*" }, ["src/c.ts"]],
  ["something left out", { exclude: ["*.py", "a.*"] }, ["src/c.ts"]],
  ["a folder", { path: "src" }, ["src/c.ts", "src/d.py"]],
  ["a folder and a glob", { path: "src", glob: "*.ts" }, ["src/c.ts"]],
  ["a file", { path: "src/c.ts" }, ["src/c.ts"]],
  ["a file that is ignored", { path: "dist/b.ts" }, ["dist/b.ts"]],
])("with %s it searches these files", async (_, input, expected) => {
  const bench = openBench()
  bench.put(".gitignore", "dist/\n")
  for (const path of ["a.ts", "dist/b.ts", "src/c.ts", "src/d.py", ".github/e.ts"]) bench.put(path, "needle\n")
  expect(matchesOf(await search(bench, input)).map(({ file }) => file)).toEqual(expected)
})

test("protected and confirmed paths are never shown or counted, even if they are named", async () => {
  const bench = openBench()
  const secret = [".env", "src/.env.local", "credentials.json", "id_ed25519", "tls/server.key", ".git/config", ".ssh/x"]
  for (const path of [...secret, "a.txt"]) bench.put(path, "needle\n")
  const wide = { hidden: true, ignored: true }
  expect(await search(bench, wide)).toMatchObject({ total: 1, fileCount: 1, matches: [{ file: "a.txt" }] })
  expect(await search(bench, { ...wide, output: "files" })).toMatchObject({ total: 1, files: [{ file: "a.txt" }] })
  for (const path of secret) {
    const outcome = await search(bench, { ...wide, path })
    expect([path, JSON.stringify(outcome)]).toEqual([path, expect.not.stringContaining("column")])
    expect(outcome.toolCode).toMatch(/^(not_searched|sealed)$/)
  }
})

test("links are not followed, and a root that leads outside is refused", async () => {
  const bench = openBench()
  const outside = openBench()
  outside.put("secret.txt", "needle\n")
  bench.put("a.txt", "needle\n")
  symlinkSync(outside.dir, join(bench.dir, "folder"))
  symlinkSync(join(outside.dir, "secret.txt"), join(bench.dir, "file.txt"))
  symlinkSync("a.txt", join(bench.dir, "inner.txt"))
  expect(await search(bench, {})).toMatchObject({ total: 1, fileCount: 1 })
  for (const path of ["folder", "file.txt", outside.dir, "..", "/etc"])
    expect((await search(bench, { path })).toolCode).toBe("outside")
  expect(places(await search(bench, { path: "inner.txt" }))).toEqual(["a.txt:1:1"])
})

test.each([
  ["nothing is", false, true],
  ["it is while ripgrep looks, and taken away before we read", false, false],
  ["it is after ripgrep has looked", false, false],
  ["it leads to what is left out", false, false],
  ["nothing is", true, true],
  ["it is while ripgrep looks, and taken away before we read", true, false],
  ["it is after ripgrep has looked", true, false],
  ["it leads to what is left out", true, false],
])("a file replaced during the search is not shown: %s (multi-line: %s)", async (moment, multiline, isShown) => {
  const bench = openBench()
  const outside = openBench()
  const secret = outside.put("secret.txt", "needle SECRET\n")
  const file = bench.put("a.txt", "needle and more of it\n")
  bench.put("left-out.txt", "needle and more of it\nSECRET\n")
  let isSwapped = false
  // ripgrep skips links, so the path was a file when it was listed; `files` now sees a link.
  const swap = (put: () => void) => {
    if (isSwapped) return
    isSwapped = true
    renameSync(file, `${file}.away`)
    put()
  }
  const files = {
    ...bench.files,
    facts: (path: string) => {
      if (moment.startsWith("it is while")) swap(() => linkSync(secret, file))
      return bench.files.facts(path)
    },
    isShown: (path: string) => {
      if (moment.startsWith("it is after")) swap(() => symlinkSync(secret, file))
      if (moment.startsWith("it leads")) swap(() => symlinkSync("left-out.txt", file))
      return path === "a.txt" && bench.files.isShown(path)
    },
    readSmall: (path: string, most: number) => {
      if (moment.startsWith("it is while")) renameSync(`${file}.away`, file)
      return bench.files.readSmall(path, most)
    },
  }
  const tool = searchFiles({ files, allowedExtensions: [] } as unknown as Workspace)
  const given = tool.input.check({ pattern: "needle[^\\n]*", after: 1, multiline }) as { value: unknown }
  const outcome = JSON.stringify(
    await tool.execute(given.value, { signal: new AbortController().signal } as ToolContext),
  )
  expect(isSwapped).toBe(!isShown)
  expect(outcome).not.toContain("SECRET")
  expect(outcome.includes('"file":"a.txt"')).toBe(isShown)
})

test.each([
  ["as they come", {}],
  ["by searching its files again, because it begins late", { mostKept: 0 }],
  ["by searching its files again, because there are many matches", { mostMatchLines: 3 }],
])("a page is found %s, and it is the same", async (_, limits) => {
  const bench = openBench()
  bench.put("a.txt", "needle needle\nx\nneedle\n")
  bench.put("b/c.txt", "\ufeffx needle needle needle\r\n")
  bench.put("d.bin", `needle\n${"x".repeat(100_000)}\0`)
  bench.put("e.bin", "needle\0needle\n")
  const tool = searchFiles({ files: bench.files, allowedExtensions: [] } as unknown as Workspace, limits)
  const page = async (input: object) => {
    const given = tool.input.check({ pattern: "needle", ...input }) as { value: unknown }
    return (await tool.execute(given.value, { signal: new AbortController().signal } as ToolContext)) as unknown as WorkspaceCallResult
  }
  const all = { total: 6, fileCount: 2, timedOut: false }
  expect(await page({ limit: 2 })).toMatchObject({ ...all, truncated: true, nextOffset: 2, matches: [{ line: 1, count: 2 }] })
  expect(places(await page({ limit: 2, offset: 2 }))).toEqual(["a.txt:3:1", "b/c.txt:1:3"])
  expect(await page({ limit: 2, offset: 2 })).toMatchObject({ ...all, truncated: false, matches: [{}, { count: 3 }] })
  // In the middle of a line that the previous page has shown.
  expect(places(await page({ offset: 1 }))).toEqual(["a.txt:3:1", "b/c.txt:1:3"])
  expect(places(await page({ limit: 2, offset: 3, onlyMatching: true }))).toEqual(["b/c.txt:1:3", "b/c.txt:1:10"])
  expect(await page({ path: "e.bin" })).toMatchObject({ matches: [], total: 0, fileCount: 0 })
}) // prettier-ignore

test.each([
  ["$", ["a.txt:1:3", "a.txt:2:1", "a.txt:3:2"]],
  ["^$", ["a.txt:2:1"]],
  ["b?$", ["a.txt:1:2", "a.txt:2:1", "a.txt:3:2"]],
])("an empty match is shown at its position: %s", async (pattern, expected) => {
  const bench = openBench()
  bench.put("a.txt", "ab\n\nc\n")
  const outcome = await search(bench, { pattern })
  expect(places(outcome)).toEqual(expected)
  expect(outcome["total"]).toBe(expected.length)
})

test("in a large file the lines around a match are read", async () => {
  const bench = openBench()
  const lines = Array.from({ length: 60_000 }, (_, number) => `line ${number + 1} ${"x".repeat(30)}`)
  for (const number of [1, 30_000, 30_002, 60_000]) lines[number - 1] = `${number} needle needle`
  bench.put("large.txt", `\ufeff${lines.join("\r\n")}`)
  const outcome = await search(bench, { before: 1, after: 2 })
  expect(outcome).toMatchObject({ total: 8, fileCount: 1 })
  const short = (line: string) => line.split(" x")[0]
  const shown = matchesOf(outcome).map(({ line, column, count, context }) => ({
    at: `${line}:${column}:${count}`,
    before: context.before.map(short),
    after: context.after.map(short),
  }))
  expect(shown).toEqual([
    { at: "1:3:2", before: [], after: ["line 2", "line 3"] },
    { at: "30000:7:2", before: ["line 29999"], after: ["line 30001", "30002 needle needle"] },
    { at: "30002:7:2", before: ["line 30001"], after: ["line 30003", "line 30004"] },
    { at: "60000:7:2", before: ["line 59999"], after: [] },
  ])
})

test("in a large file with long lines the context lines are complete", async () => {
  const bench = openBench()
  const lines = Array.from({ length: 40 }, (_, number) => `line ${number + 1} ${"x".repeat(70_000)}`)
  lines[20] = `needle ${lines[20]}`
  bench.put("large.txt", lines.join("\n"))
  const [shown] = matchesOf(await search(bench, { before: 4, after: 1 }))
  expect(shown!.match.slice(0, 14)).toBe("needle line 21")
  expect(shown!.context.before.map((line) => line.slice(0, 7))).toEqual(["line 17", "line 18", "line 19", "line 20"])
  expect(shown!.context.after.map((line) => line.slice(0, 7))).toEqual(["line 22"])
})

test("a narrowed call searches nothing else", async () => {
  const bench = openBench()
  for (const path of ["src/a.ts", "src/in/b.ts", "lib/c.ts"]) bench.put(path, "needle\n")
  const given = { allowedPaths: ["src/in"] }
  expect(places(await search(bench, { path: "src/in" }, given))).toEqual(["src/in/b.ts:1:1"])
  expect((await search(bench, { path: "lib" }, given)).toolCode).toBe("outside")
})

test("files with an extension that is not allowed are not searched", async () => {
  const bench = openBench({ allowedExtensions: ["md"] })
  for (const path of ["a.md", "b.txt"]) bench.put(path, "needle\n")
  expect(places(await search(bench, {}))).toEqual(["a.md:1:1"])
})

test.each<[string, object, RegExp]>([
  ["a group that is not closed", { pattern: "(a" }, /regex parse error:[\s\S]*unclosed group/],
  ["an end of a line", { pattern: "a\\nb" }, /is not allowed in a regex[\s\S]*multiline/],
  ["look-around", { pattern: "a(?=b)" }, /look-around.*is not supported/],
  ["a glob", { glob: "[a" }, /error parsing glob '\[a': unclosed character class/],
  ["a glob to leave out", { exclude: "{a" }, /error parsing glob .*unclosed alternate group/],
  ["a kind of file", { type: "nothing" }, /unrecognized file type: nothing/],
  ["a NUL byte", { pattern: "a\0b" }, /NUL byte/],
])("a search that ripgrep rejects is refused with its message: %s", async (_, input, words) => {
  const bench = openBench()
  bench.put("a.txt", "needle\n")
  expect(await search(bench, input)).toEqual({ error: expect.stringMatching(words), toolCode: "bad_pattern" })
})

test("neither a ripgrep configuration nor the environment has an effect", async () => {
  const bench = openBench()
  bench.put("a.txt", "NEEDLE\n")
  process.env["RIPGREP_CONFIG_PATH"] = bench.put(".ripgreprc", "--ignore-case\n")
  try {
    expect(await search(bench, {})).toMatchObject({ total: 0 })
  } finally {
    delete process.env["RIPGREP_CONFIG_PATH"]
  }
})

test("names of any kind are searched", async () => {
  const bench = openBench()
  const names = ["-rf.txt", "--", "a b.txt", "日本.txt", "'q\".txt", "a:1:2.txt"]
  for (const name of names) writeFileSync(join(bench.dir, name), "needle\n")
  expect(matchesOf(await search(bench, {})).map(({ file }) => file)).toEqual(names.toSorted())
})

test("an abort ends ripgrep and leaves no process, and a search that takes too long reports it", async () => {
  const bench = openBench()
  const file = bench.put("a.txt", `${"ab".repeat(500)}\n`.repeat(10_000))
  // Many hard links to one file take as long as many files: without a limit, half a minute.
  for (let number = 0; number < 500; number++) linkSync(file, join(bench.dir, `${number}.txt`))
  const slow = { pattern: "(?:[ab]?){300}[^ab\\n]" }
  const stop = new AbortController()
  const running = search(bench, slow, { signal: stop.signal })
  await until(() => children().length > 0, "ripgrep had started")
  stop.abort(new Error("Enough."))
  await expect(running).rejects.toThrow("Enough.")
  expect(children()).toEqual([])

  const tool = searchFiles({ files: bench.files, allowedExtensions: [] } as unknown as Workspace, { searchMs: 100 })
  const given = tool.input.check(slow) as { value: unknown }
  const outcome = await tool.execute(given.value, { signal: new AbortController().signal } as ToolContext)
  expect(outcome).toMatchObject({ timedOut: true, total: 0 })
  expect(children()).toEqual([])
})

/** The child processes, including zombies. */
function children(): string[] {
  return readdirSync("/proc/self/task")
    .flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8").trim().split(" "))
    .filter((pid) => pid !== "" && /\(rg\)/.test(statOf(pid)))
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return ""
  }
}
