import { renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openTestIndex, describeMatches } from "./testing.ts"

test("a name is found with its position, its line and the lines around it", async () => {
  const { put, find } = openTestIndex()
  put("src/a.ts", "// one\nexport function start(port: number) {\n  return port\n}\n")
  expect(await find("start")).toEqual({
    matches: [
      {
        path: "src/a.ts",
        line: 2,
        column: 17,
        kind: "function",
        name: "start",
        language: "typescript",
        method: "syntax",
        code: "export function start(port: number) {",
        context: "// one\nexport function start(port: number) {\n  return port",
      },
    ],
    total: 1,
    files: 1,
    searched: 0,
    pending: 0,
  })
})

test("the type narrows the search; all includes files, and a file is found by its name", async () => {
  const { put, find } = openTestIndex()
  put("server.ts", "class Server { server = 1; startServer() {} }\ninterface ServerOptions {}\nconst serverPort = 1\n")
  put("docs/server.md", "server")
  put("docs/other.md", "server")
  expect(describeMatches(await find("server", { type: "function" }))).toEqual(["method server.ts:1:28 startServer"])
  expect(describeMatches(await find("server", { type: "class" }))).toEqual([
    "class server.ts:1:7 Server",
    "interface server.ts:2:11 ServerOptions",
  ])
  expect(describeMatches(await find("server", { type: "variable" }))).toEqual([
    "field server.ts:1:16 server",
    "variable server.ts:3:7 serverPort",
  ])
  expect(describeMatches(await find("server", { type: "file" }))).toEqual(["file docs/server.md", "file server.ts"])
  expect((await find("server")).total).toBe(7)
})

test("exact names come first, then other letter case, then prefixes, then the rest", async () => {
  const { put, find } = openTestIndex()
  put("a.ts", "const restart = 1, Start = 1, startAll = 1\n")
  put("b.ts", "const start = 1\n")
  expect((await find("start")).matches.map(({ name }) => name)).toEqual(["start", "Start", "startAll", "restart"])
})

test.each([
  ["start*", undefined, ["start", "startAll"]],
  ["*All", undefined, ["startAll"]],
  ["s?art", undefined, ["start"]],
  ["start", "exact", ["start"]],
  ["Start", "exact", []],
  ["START", undefined, ["start", "startAll", "restart"]],
  ["all start", undefined, ["startAll"]],
  ["function start", undefined, ["start", "startAll", "restart"]],
  ["start()", undefined, ["start", "startAll", "restart"]],
  ["Server.start", undefined, ["start", "restart"]],
  ["Server::start", "exact", ["start"]],
  ["Client.start", undefined, []],
  ["*", "exact", []],
  ["[rs]*start", "glob", ["restart"]],
] as const)("the query %s (%s) means %j", async (query, match, names) => {
  const { put, find } = openTestIndex()
  put("a.ts", "class Server { start() {} restart() {} }\nfunction startAll() {}\n")
  const found = await find(query, { type: "function", match })
  expect(found.matches.map(({ name }) => name)).toEqual(names)
})

test("ignored and hidden files, node_modules and linked files are not indexed", async () => {
  const { root, put, find } = openTestIndex()
  const outside = temporaryFolder()
  writeFileSync(join(outside, "secret.ts"), "function found() {}")
  put(".gitignore", "dist/\n*.gen.ts\n!kept.gen.ts\n/only-here.ts\n")
  put("sub/.gitignore", "local.ts\n!other.gen.ts\n")
  for (const path of [
    "a.ts",
    "dist/b.ts",
    "c.gen.ts",
    "kept.gen.ts",
    "only-here.ts",
    "sub/only-here.ts",
    "sub/local.ts",
    "sub/other.gen.ts",
    "sub/deep/local.ts",
    ".hidden/d.ts",
    ".hidden.ts",
    "node_modules/x/e.ts",
    "sub/node_modules/y/f.ts",
  ]) {
    put(path, "function found() {}")
  }
  symlinkSync(outside, join(root, "linked"))
  symlinkSync(join(outside, "secret.ts"), join(root, "secret.ts"))
  const { matches } = await find("found")
  expect(matches.map(({ path }) => path)).toEqual(["a.ts", "kept.gen.ts", "sub/only-here.ts", "sub/other.gen.ts"])
})

test("a file that agents may not see is neither found nor read", async () => {
  const asked: string[] = []
  const { put, find, parsed } = openTestIndex(undefined, {
    shown: (paths) => {
      asked.push(...paths)
      return Promise.resolve(paths.map((path) => path !== "credentials.ts"))
    },
  })
  put("a.ts", "const token = 1")
  put("credentials.ts", "const token = 1")
  expect(describeMatches(await find("token"))).toEqual(["variable a.ts:1:7 token"])
  expect(describeMatches(await find("credentials"))).toEqual([])
  expect(asked.toSorted()).toEqual(["a.ts", "credentials.ts"])
  expect(parsed).toEqual(["a.ts"])
})

/** Sets an old time stamp that no later change can have. */
function age(root: string, ...paths: string[]): void {
  for (const path of paths) utimesSync(join(root, path), new Date(1_000_000), new Date(1_000_000))
}

test("only files whose text has the name are parsed, and each once", async () => {
  const { root, put, find, parsed, fill } = openTestIndex()
  put("a.ts", "function alpha() {}")
  put("b.ts", "function beta() {}")
  age(root, "a.ts", "b.ts")
  await find("alpha")
  expect(parsed).toEqual(["a.ts"])
  await find("alpha")
  await fill()
  await find("beta")
  expect(parsed).toEqual(["a.ts", "b.ts"])
})

test("the next search sees new, changed, renamed, deleted and ignored files", async () => {
  const { root, put, find, fill } = openTestIndex()
  const seen = async () => describeMatches(await find("name*", { type: "function" }))
  put("src/a.ts", "function nameOne() {}")
  age(root, "src/a.ts")
  expect(await seen()).toEqual(["function src/a.ts:1:10 nameOne"])
  await fill()
  put("src/a.ts", "function nameTwo() {}")
  expect(await seen()).toEqual(["function src/a.ts:1:10 nameTwo"])
  put("src/new/b.ts", "function nameThree() {}")
  expect(await seen()).toEqual(["function src/a.ts:1:10 nameTwo", "function src/new/b.ts:1:10 nameThree"])
  renameSync(join(root, "src/new"), join(root, "src/old"))
  expect(await seen()).toEqual(["function src/a.ts:1:10 nameTwo", "function src/old/b.ts:1:10 nameThree"])
  put(".gitignore", "old\n")
  expect(await seen()).toEqual(["function src/a.ts:1:10 nameTwo"])
  put(".gitignore", "a.ts\n")
  expect(await seen()).toEqual(["function src/old/b.ts:1:10 nameThree"])
  rmSync(join(root, "src"), { recursive: true })
  expect(await seen()).toEqual([])
})

test("a changed .gitignore takes effect, also below folders in which nothing changed", async () => {
  const { root, put, find } = openTestIndex()
  put(".gitignore", "nothing\n")
  put("src/deep/a.ts", "function known() {}")
  age(root, "src/deep/a.ts", "src/deep", "src", ".", ".gitignore")
  expect((await find("known")).total).toBe(1)
  put(".gitignore", "deep\n")
  expect((await find("known")).total).toBe(0)
  put(".gitignore", "")
  expect((await find("known")).total).toBe(1)
})

test("a change at the same moment and of the same length is seen", async () => {
  const { put, find } = openTestIndex()
  for (let round = 0; round < 20; round++) {
    const name = round % 2 === 0 ? "one" : "two"
    put("a.ts", `function ${name}() {}`)
    expect((await find("*", { type: "function" })).matches.map((match) => match.name)).toEqual([name])
  }
})

test("a folder that becomes a link is no longer searched", async () => {
  const { root, put, find } = openTestIndex()
  const outside = temporaryFolder()
  writeFileSync(join(outside, "a.ts"), "function secret() {}")
  put("src/a.ts", "function known() {}")
  expect((await find("known")).total).toBe(1)
  renameSync(join(root, "src"), join(root, ".gone"))
  symlinkSync(outside, join(root, "src"))
  expect((await find("*", { type: "function" })).matches).toEqual([])
})

test("source code without a grammar is searched as text, and the result says so", async () => {
  const { put, find } = openTestIndex()
  put("a.rb", "# greet somebody\ndef greet(name)\n  puts name\nend\n")
  put("b.ts", "export const greet = () => 1\n")
  put("notes.md", "greet")
  const found = await find("greet")
  expect(
    found.matches.map(({ path, line, kind, method, language }) => ({ path, line, kind, method, language })),
  ).toEqual([
    { path: "b.ts", line: 1, kind: "function", method: "syntax", language: "typescript" },
    { path: "a.rb", line: 1, kind: "text", method: "search", language: "ruby" },
    { path: "a.rb", line: 2, kind: "text", method: "search", language: "ruby" },
  ])
  expect(found).toMatchObject({ files: 2, searched: 1 })
})

test("a file that does not parse or is too large is searched as text", async () => {
  const { put, find } = openTestIndex()
  put("broken.ts", "}}} ((( %%% handle \u0001")
  put("large.js", `function handle() {}\n${"x = 1;\n".repeat(200_000)}`)
  const found = await find("handle")
  expect(found.matches.map(({ path, kind, method }) => ({ path, kind, method }))).toEqual([
    { path: "broken.ts", kind: "text", method: "search" },
    { path: "large.js", kind: "text", method: "search" },
  ])
  expect(found.searched).toBe(2)
})

test("binary, empty, BOM, CRLF and invalid bytes do no harm", async () => {
  const { put, find } = openTestIndex()
  put("binary.ts", Buffer.from("function thing() {}\0\u0001"))
  put("empty.ts", "")
  put("bom.ts", "\uFEFFfunction thing() {}")
  put("crlf.ts", "// a\r\nfunction thing() {}\r\n")
  put("bytes.py", Buffer.concat([Buffer.from("# "), Buffer.from([0xff, 0xfe]), Buffer.from("\ndef thing(): pass\n")]))
  const found = await find("thing", { type: "function" })
  expect(describeMatches(found)).toEqual([
    "function bom.ts:1:11 thing",
    "function bytes.py:2:5 thing",
    "function crlf.ts:2:10 thing",
  ])
  expect(found.matches.at(-1)!.context).toBe("// a\nfunction thing() {}")
})

test("the list is cut at the limit and the total counts all; path and language narrow it", async () => {
  const { put, find } = openTestIndex()
  for (let at = 0; at < 30; at++) put(`d${at % 3}/f${at}.ts`, `export const item${at} = 1`)
  put("d0/x.py", "item = 1")
  expect(await find("item", { limit: 5 })).toMatchObject({ total: 31, matches: { length: 5 } })
  expect((await find("item", { path: "d1" })).total).toBe(10)
  expect((await find("item", { path: "d0/x.py" })).total).toBe(1)
  expect((await find("item", { path: "d" })).total).toBe(0)
  expect((await find("item", { language: "python" })).total).toBe(1)
})

test("a search with little time says how many files it did not wait for", async () => {
  const slow = openTestIndex(undefined, {
    patienceMs: 20,
    parsing: { parse: (_, __, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())) },
  })
  slow.put("a.ts", "function late() {}")
  expect(await slow.find("late")).toMatchObject({ total: 0, pending: 1 })
})

test("letters whose form depends on their position are found", async () => {
  const { put, find } = openTestIndex()
  put("a.ts", "const ΟΔΟΣ = 1, Größe = 2, İstanbul = 3\n")
  for (const query of ["οδοσ", "ΟΔΟΣ", "ΟΔΟς", "größe", "İst"]) expect((await find(query)).total).toBe(1)
})
