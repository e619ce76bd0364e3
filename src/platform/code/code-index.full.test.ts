import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { CodeSearch } from "./code.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openCodeIndex, type CodeIndexOptions } from "./code-index.ts"
import { describeMatches } from "./testing.ts"

function openIndex(
  files: Record<string, string>,
  isShown: (path: string) => boolean = () => true,
  options: CodeIndexOptions = {},
) {
  const workspace = realpathSync(temporaryFolder())
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  for (const [path, content] of Object.entries(files)) put(path, content)
  const index = openCodeIndex({ workspace, isShown }, options)
  onTestFinished(() => index.close())
  const search = (query: string, more: Partial<CodeSearch> = {}): CodeSearch => ({
    query,
    type: "all",
    limit: 100,
    contextLines: 0,
    ...more,
  })
  return { workspace, index, put, search }
}

test("the index answers from its own thread, again after a change, and asks `files` what it may show", async () => {
  const asked: string[] = []
  const { index, put, search } = openIndex(
    { "src/a.ts": "function alpha() {}", ".env.ts": "", "secret.ts": "" },
    (path) => {
      asked.push(path)
      return path !== "secret.ts"
    },
  )
  expect(describeMatches(await index.find(search("alpha")))).toEqual(["function src/a.ts:1:10 alpha"])
  expect(asked.toSorted()).toEqual(["secret.ts", "src/a.ts"])
  put("src/a.ts", "\nfunction alpha() {}")
  put("b.py", "def alpha(): pass")
  expect(describeMatches(await index.find(search("alpha")))).toEqual([
    "function b.py:1:5 alpha",
    "function src/a.ts:2:10 alpha",
  ])
  expect((await index.find(search("secret"))).total).toBe(0)
})

test("an ignored folder or file is searched when its path is given", async () => {
  const { workspace, index, search } = openIndex({
    ".gitignore": "dist\n",
    "dist/a.js": "function built() {}",
    "node_modules/x/index.js": "function packed() {}",
    ".hidden.ts": "function hidden() {}",
  })
  expect((await index.find(search("built"))).total).toBe(0)
  expect(describeMatches(await index.find(search("built", { path: "dist" })))).toEqual([
    "function dist/a.js:1:10 built",
  ])
  expect(describeMatches(await index.find(search("packed", { path: "node_modules/x" })))).toEqual([
    "function node_modules/x/index.js:1:10 packed",
  ])
  expect(describeMatches(await index.find(search("hidden", { path: ".hidden.ts" })))).toContain(
    "function .hidden.ts:1:10 hidden",
  )
  const elsewhere = realpathSync(temporaryFolder())
  writeFileSync(join(elsewhere, "o.go"), "package o\nfunc Other() {}\n")
  expect(describeMatches(await index.find(search("Other", { path: elsewhere })))).toEqual([
    `function ${elsewhere}/o.go:2:6 Other`,
  ])
  symlinkSync(elsewhere, join(workspace, "linked"))
  await expect(index.find(search("Other", { path: "linked" }))).resolves.toMatchObject({ total: 0 })
})

test("a narrowed call counts and shows only its own files", async () => {
  const { index, search } = openIndex({ "a/x.ts": "const one = 1", "b/y.ts": "const one = 1" })
  const found = await index.find(search("one"), { allows: (path) => path.startsWith("a/") })
  expect(describeMatches(found)).toEqual(["variable a/x.ts:1:7 one"])
  expect(found).toMatchObject({ total: 1, files: 1 })
})

test("the index has only files with allowed extensions", async () => {
  const { index, search } = openIndex({ "a.ts": "const one = 1", "b.py": "one = 1" }, undefined, {
    allowedExtensions: [".PY"],
  })
  expect(describeMatches(await index.find(search("one")))).toEqual(["variable b.py:1:1 one"])
})

test("a cancelled search ends immediately and the others go on", async () => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}.ts`, `const item${at} = ${at}`]))
  const { index, search } = openIndex(files)
  const stop = new AbortController()
  const first = index.find(search("*"), { signal: stop.signal })
  const second = index.find(search("item7", { match: "exact" }))
  stop.abort(new Error("Stopped."))
  await expect(first).rejects.toThrow("Stopped.")
  expect((await second).total).toBe(1)
  await expect(index.find(search("*"), { signal: stop.signal })).rejects.toThrow("Stopped.")
})

test("many searches at once are all answered, and the remaining files are parsed by more than one thread", async () => {
  const body = "export function work() {\n  const value = 1\n  return value\n}\n".repeat(400)
  const files = Object.fromEntries(
    Array.from({ length: 120 }, (_, at) => [`d/f${at}.ts`, `const item${at} = 1\n${body}`]),
  )
  const { index, search } = openIndex(files)
  const answers = await Promise.all(["item5", "work", "value"].map((query) => index.find(search(query, { limit: 1 }))))
  expect(answers.map(({ total }) => total)).toEqual([11, 120 * 400, 120 * 400])
})

test("a bad query and a missing folder are failures with a sentence", async () => {
  const { index, search } = openIndex({})
  await expect(index.find(search("[a", { match: "glob" }))).rejects.toThrow("The query has a '['")
  await expect(index.find(search("a", { path: "missing" }))).rejects.toThrow("The code could not be searched")
})

test("an index that was closed starts again", async () => {
  const { index, search } = openIndex({ "a.ts": "const one = 1" })
  await index.find(search("one"))
  await index.close()
  expect((await index.find(search("one"))).total).toBe(1)
})
