import { mkdirSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openBench, type Bench } from "./testing.ts"

interface Listed {
  name: string
  path: string
  type: string
  size: number
  modified: number | null
}

const list = (bench: Bench, input: object = {}, context = {}) => bench.call("list_files", input, context)
const pathsOf = async (bench: Bench, input: object) =>
  ((await list(bench, input))["files"] as Listed[]).map(({ path }) => path)

test("a folder is listed with folders, sizes and dates, hidden names too", async () => {
  const bench = openBench()
  bench.put("b.txt", "four")
  bench.put(".hidden", "")
  bench.put("sub/deep.txt", "x")
  const outcome = await list(bench)
  expect(outcome).toEqual({
    path: ".",
    files: [
      { name: ".hidden", path: ".hidden", type: "file", size: 0, modified: expect.any(Number) },
      { name: "b.txt", path: "b.txt", type: "file", size: 4, modified: expect.any(Number) },
      { name: "sub", path: "sub", type: "directory", size: 0, modified: expect.any(Number) },
    ],
    total: 3,
    truncated: false,
  })
  expect(Math.abs((outcome["files"] as Listed[])[1]!.modified! - Date.now())).toBeLessThan(60_000)
})

test("a date is in whole milliseconds, as everywhere", async () => {
  const bench = openBench()
  utimesSync(bench.put("a.txt", ""), 1000, 1234.567891)
  expect(await list(bench)).toMatchObject({ files: [{ modified: 1_234_567 }] })
  expect(await bench.call("get_file_info", { path: "a.txt" })).toMatchObject({ modified: 1_234_567 })
})

test("recursive lists level by level, so that a truncated list shows the outline", async () => {
  const bench = openBench()
  for (const path of ["z.txt", "a/b/c.txt", "a/x.txt", ".git/config", "d/e.txt"]) bench.put(path, "x")
  expect(await pathsOf(bench, { recursive: true })).toEqual([".git", "a", "d", "z.txt", "a/b", "a/x.txt", "d/e.txt", "a/b/c.txt"]) // prettier-ignore
  expect(await list(bench, { recursive: true, limit: 3 })).toMatchObject({ total: 8, truncated: true })
  expect(await pathsOf(bench, { recursive: true, limit: 3, offset: 6 })).toEqual(["d/e.txt", "a/b/c.txt"])
  expect(await pathsOf(bench, { path: "a", recursive: true })).toEqual(["a/b", "a/x.txt", "a/b/c.txt"])
})

test("a pattern is a glob over names, or over paths from the folder when it has a slash", async () => {
  const bench = openBench()
  for (const path of ["a.ts", "a.test.ts", "src/b.ts", "src/in/c.ts", "src/x.md"]) bench.put(path, "x")
  expect(await pathsOf(bench, { pattern: "*.ts" })).toEqual(["a.test.ts", "a.ts"])
  expect(await pathsOf(bench, { pattern: "*.{ts,md}", recursive: true })).toHaveLength(5)
  expect(await pathsOf(bench, { pattern: "in/*.ts", path: "src", recursive: true })).toEqual(["src/in/c.ts"])
  expect((await list(bench, { pattern: "[" })).toolCode).toBe("bad_pattern")
})

test("a link is listed and not entered, and nothing outside is revealed", async () => {
  const bench = openBench()
  const outside = openBench()
  outside.put("secret.txt", "12345")
  symlinkSync(outside.dir, join(bench.dir, "folder"))
  symlinkSync(join(outside.dir, "secret.txt"), join(bench.dir, "link"))
  symlinkSync("nowhere", join(bench.dir, "dangling"))
  mkdirSync(join(bench.dir, "ring"))
  symlinkSync("..", join(bench.dir, "ring", "up"))
  const { files } = await list(bench, { recursive: true })
  expect(files).toEqual([
    { name: "dangling", path: "dangling", type: "link", size: 0, modified: null },
    { name: "folder", path: "folder", type: "link", size: 0, modified: null },
    { name: "link", path: "link", type: "link", size: 0, modified: null },
    expect.objectContaining({ path: "ring", type: "directory" }),
    expect.objectContaining({ path: "ring/up", type: "link", size: 0 }),
  ])
})

test.each<[string, object, string, RegExp]>([
  ["missing", { path: "scr" }, "file_not_found", /File not found: scr\. Did you mean src\?/],
  ["a file", { path: "src/a.ts" }, "not_a_folder", /is not a folder/],
  ["outside", { path: ".." }, "outside", /Path is outside workspace directory/],
  ["absolute and outside", { path: "/etc" }, "outside", /Access denied/],
])("a path that is %s is refused with a sentence", async (_, input, toolCode, sentence) => {
  const bench = openBench()
  bench.put("src/a.ts", "x")
  expect(await list(bench, input)).toEqual({ toolCode, error: expect.stringMatching(sentence) })
})

test("a narrowed call lists nothing else", async () => {
  const bench = openBench()
  for (const path of ["src/a.ts", "lib/b.ts"]) bench.put(path, "x")
  const given = { allowedPaths: ["src"] }
  expect(await list(bench, { path: "src" }, given)).toMatchObject({ total: 1 })
  expect((await list(bench, { path: "lib" }, given)).toolCode).toBe("outside")
})
