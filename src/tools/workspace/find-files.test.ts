import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { findFiles } from "./find-files.ts"
import type { Workspace } from "./workspace.ts"
import { openBench, type Bench } from "./testing.ts"

const find = (bench: Bench, input: object, context = {}) =>
  bench.call("find_files", { pattern: "**", ...input }, context)

/** A file last changed this many seconds ago. */
function put(bench: Bench, path: string, age = 0): void {
  const file = bench.put(path, "x")
  const then = Date.now() / 1000 - age
  utimesSync(file, then, then)
}

test("the newest file comes first, and files of the same age go by path", async () => {
  const bench = openBench()
  for (const [path, age] of [["src/old.ts", 50], ["src/new.ts", 1], ["b.ts", 10], ["a.ts", 10], ["readme.md", 0]] as const) put(bench, path, age) // prettier-ignore
  expect(await find(bench, { pattern: "**/*.ts" })).toEqual({
    files: ["src/new.ts", "a.ts", "b.ts", "src/old.ts"],
    total: 4,
    truncated: false,
    order: "modified",
    timedOut: false,
  })
  expect((await find(bench, { pattern: "*.ts", sort: "path" }))["files"]).toEqual([
    "a.ts",
    "b.ts",
    "src/new.ts",
    "src/old.ts",
  ])
})

test("the total counts all matches, however many are shown", async () => {
  const bench = openBench()
  for (let number = 0; number < 30; number++) put(bench, `f${String(number).padStart(2, "0")}.txt`, number)
  expect(await find(bench, { pattern: "*.txt", limit: 2 })).toMatchObject({
    files: ["f00.txt", "f01.txt"],
    total: 30,
    truncated: true,
  })
  expect(await find(bench, { pattern: "*.txt", limit: 2, offset: 28 })).toMatchObject({
    files: ["f28.txt", "f29.txt"],
    total: 30,
    truncated: false,
  })
})

test("ignored and hidden files are left out, even if a pattern matches them, unless asked for", async () => {
  const bench = openBench()
  bench.put(".gitignore", "dist/\n*.log\n")
  for (const path of ["a.ts", "dist/b.ts", "c.log", ".hidden/d.ts", ".e.ts", "sub/.gitignore", "sub/f.log", "sub/g.ts"]) put(bench, path) // prettier-ignore
  bench.put("sub/.gitignore", "g.*\n!f.log\n")
  const names = async (input: object) =>
    ((await find(bench, { sort: "path", ...input }))["files"] as string[]).join(" ")
  expect(await names({})).toBe("a.ts sub/f.log")
  expect(await names({ pattern: "*" })).toBe("a.ts sub/f.log")
  expect(await names({ pattern: "**/*" })).toBe("a.ts sub/f.log")
  expect(await names({ pattern: "*.ts" })).toBe("a.ts")
  expect(await names({ pattern: "*.log" })).toBe("sub/f.log")
  expect(await names({ pattern: "*.ts", hidden: true })).toBe(".e.ts .hidden/d.ts a.ts")
  expect(await names({ pattern: "*.ts", ignored: true })).toBe("a.ts dist/b.ts sub/g.ts")
  expect(await names({ pattern: ".e*" })).toBe(".e.ts")
})

test("a folder named in the pattern or in path is searched, even if it is hidden or ignored", async () => {
  const bench = openBench()
  bench.put(".gitignore", "dist/\n")
  for (const path of ["dist/a.js", ".github/x/b.yml", "src/c.ts"]) put(bench, path)
  expect(await find(bench, { pattern: ".github/**/*.yml" })).toMatchObject({ files: [".github/x/b.yml"], total: 1 })
  expect(await find(bench, { pattern: "*.js", path: "dist" })).toMatchObject({ files: ["dist/a.js"] })
  expect(await find(bench, { pattern: "*.ts", path: "src" })).toMatchObject({ files: ["src/c.ts"] })
  expect(await find(bench, { pattern: `${bench.files.workspace}/src/*.ts` })).toMatchObject({ files: ["src/c.ts"] })
  expect(await find(bench, { pattern: "none/**/*.ts" })).toMatchObject({ files: [], total: 0 })
})

test("exclude leaves out, one glob or several", async () => {
  const bench = openBench()
  for (const path of ["a.ts", "a.test.ts", "fixtures/b.ts", "lib/c.ts"]) put(bench, path)
  const names = async (exclude: unknown) => (await find(bench, { pattern: "*.ts", exclude, sort: "path" }))["files"]
  expect(await names("*.test.ts")).toEqual(["a.ts", "fixtures/b.ts", "lib/c.ts"])
  expect(await names(["*.test.ts", "fixtures", "lib/**"])).toEqual(["a.ts"])
})

test("protected and confirmed paths and link targets are never found", async () => {
  const bench = openBench()
  const outside = openBench()
  outside.put("secret.ts", "x")
  for (const path of ["a.ts", ".env", ".env.local", "credentials.json", "id_rsa", "server.key", ".git/config", ".ssh/known"]) put(bench, path) // prettier-ignore
  symlinkSync(outside.dir, join(bench.dir, "folder-link"))
  symlinkSync(join(outside.dir, "secret.ts"), join(bench.dir, "file-link.ts"))
  symlinkSync(join(bench.dir, "a.ts"), join(bench.dir, "inner-link.ts"))
  expect(await find(bench, { hidden: true, ignored: true })).toMatchObject({ files: ["a.ts"], total: 1 })
  expect(await find(bench, { pattern: "folder-link/**", hidden: true })).toMatchObject({ toolCode: "outside" })
  symlinkSync("src", join(bench.dir, "inner-folder"))
  put(bench, "src/b.ts")
  expect(await find(bench, { pattern: "inner-folder/**" })).toMatchObject({ files: [], total: 0 })
  expect(await find(bench, { path: "folder-link" })).toMatchObject({ toolCode: "outside" })
})

test("a narrowed call finds nothing else", async () => {
  const bench = openBench()
  for (const path of ["src/a.ts", "src/in/b.ts", "lib/c.ts"]) put(bench, path)
  const given = { allowedPaths: ["src/in"] }
  expect(await find(bench, { path: "src/in" }, given)).toMatchObject({ files: ["src/in/b.ts"], total: 1 })
  expect(await find(bench, { path: "lib" }, given)).toMatchObject({ toolCode: "outside" })
})

test("names of any kind are found as they are", async () => {
  const bench = openBench()
  const names = ["-rf.ts", "a b.ts", "line\nbreak.ts", "日本.ts", "é.ts", "'q\".ts", "a$.ts", "#.ts"]
  for (const name of names) writeFileSync(join(bench.dir, name), "x")
  const { files, total } = await find(bench, { pattern: "*.ts", sort: "path" })
  // `files` refuses paths with control characters, so this file could not be read.
  expect(files).toEqual(names.filter((name) => !name.includes("\n")).toSorted())
  expect(total).toBe(names.length - 1)
})

test.each<[string, object, RegExp]>([
  [
    "a glob that is not closed",
    { pattern: "[a" },
    /ripgrep rejected the search: error parsing glob '\[a': unclosed character class/,
  ],
  ["a bad glob to leave out", { exclude: "[a" }, /error parsing glob '.*\[a'/],
  ["a NUL byte", { pattern: "a\0b" }, /NUL byte/],
  ["a way out", { pattern: "../**" }, /leads out of the searched folder/],
  ["a missing folder", { path: "scr" }, /File not found: scr\. Did you mean src\?/],
])("%s is refused with a sentence", async (_, input, sentence) => {
  const bench = openBench()
  put(bench, "src/a.ts")
  expect((await find(bench, input)).error).toMatch(sentence)
})

test("too many matches are ordered by path, unless newest first is asked for", async () => {
  const bench = openBench()
  for (const [path, age] of [
    ["b.txt", 1],
    ["c.txt", 2],
    ["a.txt", 3],
  ] as const)
    put(bench, path, age)
  const tool = (maxToDate: number) => findFiles(workspaceOf(bench), { maxToDate })
  const run = async (maxToDate: number, sort?: string) => {
    const checked = tool(maxToDate).input.check({ pattern: "*.txt", sort })
    return tool(maxToDate).execute((checked as { value: unknown }).value, {
      signal: new AbortController().signal,
    } as ToolContext)
  }
  expect(await run(3)).toMatchObject({ files: ["b.txt", "c.txt", "a.txt"], order: "modified" })
  expect(await run(2)).toMatchObject({ files: ["a.txt", "b.txt", "c.txt"], order: "path", total: 3 })
  expect(await run(2, "modified")).toMatchObject({ files: ["b.txt", "c.txt", "a.txt"], order: "modified" })
})

test("a folder that becomes a link during the search shows nothing from outside", async () => {
  const bench = openBench()
  const outside = openBench()
  outside.put("secret.ts", "x")
  for (let round = 0; round < 10; round++) {
    put(bench, "src/a.ts")
    const running = find(bench, { path: "src" })
    renameSync(join(bench.dir, "src"), join(bench.dir, "away"))
    symlinkSync(outside.dir, join(bench.dir, "src"))
    expect(JSON.stringify(await running.catch(String))).not.toContain("secret")
    rmSync(join(bench.dir, "src"))
    rmSync(join(bench.dir, "away"), { recursive: true })
  }
})

function workspaceOf({ files }: Bench): Workspace {
  return { files, allowedExtensions: [] } as unknown as Workspace
}
