import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { CodeIndex } from "../../platform/code/code.ts"
import type { ToolContext } from "../../core/tool.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openCodeIndex } from "../../platform/code/code-index.ts"
import { openFiles } from "../../platform/files/files.ts"
import { codeQuery } from "./code-query.ts"
import { textSearchFallback } from "./text-search-fallback.ts"
import { callDirectly } from "./testing.ts"

function workspace(content: Record<string, string>) {
  const dir = temporaryFolder()
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const files = openFiles({ workspace: dir, dataFolder: temporaryFolder() })
  const index = openCodeIndex(files)
  onTestFinished(() => index.close())
  const tools = [codeQuery(files, index)]
  return (input: unknown, context: Partial<ToolContext> = {}) => callDirectly(tools, "code_query", input, context)
}

test("code_query finds functions, classes, variables and files in the workspace", async () => {
  const query = workspace({
    "src/server.ts": "/** Starts. */\nexport class Server {\n  start() {}\n}\n",
    "lib/server.py": "def start_server(port):\n    return port\n",
  })
  expect(await query({ query: "server" })).toMatchObject({
    query: "server",
    type: "all",
    total: 4,
    truncated: false,
    files: 2,
    searched: 0,
    matches: [
      { path: "lib/server.py", kind: "file", method: "name" },
      { path: "src/server.ts", kind: "file", method: "name" },
      { path: "src/server.ts", line: 2, column: 14, kind: "class", name: "Server", code: "export class Server {" },
      { path: "lib/server.py", line: 1, column: 5, kind: "function", name: "start_server", language: "python" },
    ],
  })
  expect(await query({ query: "Server.start", type: "function", contextLines: 1 })).toMatchObject({
    matches: [{ container: "Server", name: "start", context: "export class Server {\n  start() {}\n}" }],
  })
})

test("a path limits the search, and what is outside or missing is refused", async () => {
  const query = workspace({ "a/x.ts": "const one = 1", "b/y.ts": "const one = 1" })
  expect(await query({ query: "one", path: "b" })).toMatchObject({ total: 1, matches: [{ path: "b/y.ts" }] })
  expect(await query({ query: "one", path: "./b/../a/x.ts" })).toMatchObject({
    total: 1,
    matches: [{ path: "a/x.ts" }],
  })
  expect(await query({ query: "one", path: "c" })).toMatchObject({ toolCode: "file_not_found" })
  expect(await query({ query: "one", path: "../" })).toMatchObject({ toolCode: "outside" })
  expect(await query({ query: "one", path: "/etc" })).toMatchObject({ toolCode: "outside" })
})

test("a call that is narrowed to some paths knows of no others", async () => {
  const query = workspace({ "a/x.ts": "const one = 1", "b/y.ts": "const one = 1" })
  expect(await query({ query: "one" }, { allowedPaths: ["a"] })).toMatchObject({ toolCode: "outside" })
  expect(await query({ query: "one", path: "a" }, { allowedPaths: ["a"] })).toMatchObject({ total: 1 })
  expect(await query({ query: "one", path: "b" }, { allowedPaths: ["a"] })).toMatchObject({ toolCode: "outside" })
})

test("protected and confirmed paths are not in the results", async () => {
  const query = workspace({ "a.ts": "const token = 1", ".env": "token=1", ".git/hooks/x.sh": "token", id_rsa: "token" })
  const { matches } = (await query({ query: "*", limit: 100 })) as { matches: { path: string }[] }
  expect([...new Set(matches.map(({ path }) => path))]).toEqual(["a.ts"])
})

test("nothing found is an answer; a query that says nothing is refused", async () => {
  const query = workspace({ "a.ts": "const one = 1" })
  expect(await query({ query: "absent" })).toMatchObject({ matches: [], total: 0, truncated: false })
  expect(await query({ query: "  " })).toMatchObject({ toolCode: "invalid_arguments" })
  expect(await query({ query: "x", type: "thing" })).toMatchObject({ toolCode: "invalid_arguments" })
  expect(await query({ query: "$(touch pwned) ' ; --pre=x" })).toMatchObject({ total: 0 })
})

test("files that are still being read are named in a note", async () => {
  const files = openFiles({ workspace: temporaryFolder(), dataFolder: temporaryFolder() })
  const found = { matches: [], total: 0, files: 9, searched: 0, pending: 7 }
  const index: CodeIndex = { find: () => Promise.resolve(found), close: () => Promise.resolve() }
  const { note } = await callDirectly([codeQuery(files, index)], "code_query", { query: "x" })
  expect(note).toMatch(/^7 files are still being read/)
})

test("when the index fails the text is searched, and the answer has the same shape", () => {
  const given = { query: "get*", type: "all", path: "src", match: undefined, limit: 5, contextLines: 1 }
  expect(textSearchFallback.toInput!(given)).toEqual({
    pattern: String.raw`\bget\w*\b`,
    literal: false,
    ignoreCase: true,
    word: false,
    path: "src",
    limit: 5,
    context: 1,
  })
  expect(textSearchFallback.toInput!({ ...given, query: "a.b(", match: "exact" })).toMatchObject({
    pattern: "a.b(",
    literal: true,
    word: true,
  })
  const match = { file: "src/a.ts", line: 3, column: 7, match: "  getOne()", context: { before: ["x"], after: [] } }
  const result = { matches: [match], total: 1, fileCount: 1, truncated: false, timedOut: false }
  expect(textSearchFallback.toResult!(result, given)).toEqual({
    query: "get*",
    type: "all",
    matches: [
      {
        path: "src/a.ts",
        line: 3,
        column: 7,
        kind: "text",
        name: "get*",
        language: "text",
        method: "search",
        code: "getOne()",
        context: "x\n  getOne()",
      },
    ],
    total: 1,
    truncated: false,
    files: 1,
    searched: 1,
    note: "The syntax could not be read. The text was searched.",
  })
})
