import { chmodSync, mkdirSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

test("a file has a size, kind, mode and times", async () => {
  const bench = openBench()
  const path = bench.put("a/b.txt", "hello")
  chmodSync(path, 0o640)
  utimesSync(path, 1000, 2000)
  expect(await bench.call("get_file_info", { path: "a/b.txt" })).toEqual({
    exists: true,
    size: 5,
    modified: 2_000_000,
    path: "a/b.txt",
    type: "file",
    created: expect.any(Number),
    accessed: 1_000_000,
    mode: "640",
  })
  expect(await bench.call("get_file_info", { path: "a" })).toMatchObject({ exists: true, type: "directory", path: "a" })
  expect(await bench.call("get_file_info", { path: "." })).toMatchObject({ exists: true, type: "directory", path: "." })
})

test("a missing file is a result, and one outside is refused", async () => {
  const bench = openBench()
  symlinkSync("/etc/passwd", join(bench.dir, "out"))
  expect(await bench.call("get_file_info", { path: "x/y" })).toEqual({
    exists: false,
    size: 0,
    modified: 0,
    path: "x/y",
  })
  expect(await bench.call("get_file_info", { path: "out" })).toMatchObject({ toolCode: "outside" })
  expect(await bench.call("get_file_info", { path: "/etc/passwd" })).toMatchObject({ toolCode: "outside" })
  expect(await bench.call("get_file_info", {})).toMatchObject({ toolCode: "invalid_arguments" })
})

test("the workspace is counted, links are not followed", async () => {
  const bench = openBench()
  expect(await bench.call("get_workspace_info", {})).toEqual({
    fileCount: 0,
    dirCount: 0,
    totalSize: 0,
    lastModified: null,
    path: bench.dir,
    truncated: false,
  })
  utimesSync(bench.put("a.txt", "12345"), 1, 50)
  utimesSync(bench.put("x/y/b.txt", "123"), 1, 99)
  mkdirSync(join(bench.dir, "empty"))
  symlinkSync("/", join(bench.dir, "root"))
  symlinkSync("..", join(bench.dir, "x", "up"))
  expect(await bench.call("get_workspace_info", {})).toMatchObject({
    fileCount: 2,
    dirCount: 3,
    totalSize: 8,
    lastModified: 99_000,
  })
})
