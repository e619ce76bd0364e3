import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "./config/schema.ts"
import { openTestApp, temporaryFolder } from "./testing/test-app.ts"

const because = "It is a test."
const allowAll: Config["rules"] = [{ allow: "*", because }]

/** An app whose tools reach `docs`, `src` and a folder outside, over a project that has more. */
async function openProject(config: Config = {}) {
  const above = realpathSync(temporaryFolder())
  const [workspace, shared] = [join(above, "ws"), join(above, "shared")]
  for (const folder of ["docs/deep", "src", "private", "../shared"])
    mkdirSync(join(workspace, folder), { recursive: true })
  const files = ["docs/a.md", "docs/deep/b.md", "src/one.ts", "private/p.md", "top.md", "../shared/s.md"]
  for (const file of files) writeFileSync(join(workspace, file), `export function word() {} // ${file}\n`)
  writeFileSync(join(workspace, "private/n.ipynb"), '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}')
  symlinkSync("../private", join(workspace, "docs/out"))
  symlinkSync("../private/p.md", join(workspace, "docs/out.md"))
  symlinkSync("docs", join(workspace, "to-docs"))
  const tools = { allowedPaths: ["docs", "src", shared], ...config.tools }
  const app = await openTestApp({ rules: allowAll, ...config, workspace, tools }, { sweepMs: 0 })
  const call = (tool: string, input: unknown, allowedPaths?: string[]) =>
    app.call({ agentId: "operator", tool, input, allowedPaths })
  return { app, call, workspace, shared }
}

const elsewhere = ["top.md", "private/p.md", "docs/../private/p.md", "docs/out/p.md", "docs/out.md", "../ws/top.md"]
const onPath = (path: string): [string, object][] => [
  ["read_file", { path }],
  ["read_file", { paths: ["docs/a.md", path] }],
  ["get_file_info", { path }],
  ["write_file", { path, content: "x" }],
  ["edit_file", { path, oldText: "word", newText: "x" }],
  ["edit_file", { path, oldText: "word", newText: "x", preview: true }],
  ["move_file", { from: "docs/a.md", to: path, overwrite: true }],
  ["search_files", { pattern: "word", path }],
  ["code_query", { query: "word", path }],
  ["run_command", { command: `cat ${path}`, cwd: "docs/.." }],
  ["Read", { file_path: path }],
  ["file_read", { path }],
]

const denied = { code: "path_outside_workspace", error: expect.stringContaining("Access denied") as string }

test("no tool uses a path that tools.allowedPaths leaves out, also through links and ..", async () => {
  const { call } = await openProject()
  for (const path of elsewhere)
    for (const [tool, input] of onPath(path)) expect(await call(tool, input), `${tool} ${path}`).toMatchObject(denied)
  expect(await call("read_file", { path: "docs/a.md" })).toMatchObject({ success: true })
})

const others: [string, object][] = [
  ["delete_file", { path: "private", recursive: true }],
  ["delete_file", { path: "private/p.md" }],
  ["move_file", { from: "private/p.md", to: "docs/p.md" }],
  ["list_files", { path: "private" }],
  ["list_files", { path: "docs/out" }],
  ["list_files", {}],
  ["find_files", { pattern: "**/*.md" }],
  ["search_files", { pattern: "word" }],
  ["code_query", { query: "word" }],
  ["get_workspace_info", {}],
  ["read_notebook", { path: "private/n.ipynb" }],
  ["edit_notebook", { path: "private/n.ipynb", mode: "insert", cellType: "code", source: "x" }],
  ["run_command", { command: "ls" }],
  ["run_command", { command: "ls", cwd: "private" }],
  ["run_command", { command: "ls", cwd: "docs/out" }],
  ["run_command", { command: "echo x > ../private/new", cwd: "docs" }],
  ["run_command", { command: "eval x; echo x > ../private/new", cwd: "docs" }],
  ["run_command", { command: "cd ../private && ls", cwd: "docs" }],
  ["run_command", { command: "grep -rn word ..", cwd: "docs" }],
  ["Glob", { pattern: "*.md" }],
  ["Bash", { command: "ls" }],
]

test("searches, listings, deletions and the folders of commands reach only tools.allowedPaths", async () => {
  const { call } = await openProject()
  for (const [tool, input] of others)
    expect(await call(tool, input), `${tool} ${JSON.stringify(input)}`).toMatchObject(denied)
})

test("the allowed places are read, searched and listed, and links in them that lead out show nothing", async () => {
  const { call, shared } = await openProject()
  const text = async (tool: string, input: unknown) => JSON.stringify((await call(tool, input)).result ?? null)
  expect(await text("search_files", { pattern: "word", path: "docs" })).toMatch(/docs\/a\.md.*deep\/b\.md/)
  expect(await text("search_files", { pattern: "word", path: "docs" })).not.toContain("private")
  expect(await text("find_files", { pattern: "**/*", path: "docs" })).not.toMatch(/out\/|p\.md/)
  expect(await text("list_files", { path: "docs", recursive: true })).not.toContain("p.md")
  expect(await text("code_query", { query: "word", path: "src" })).toContain('"total":1')
  expect(await text("read_file", { path: join(shared, "s.md") })).toContain("shared/s.md")
  expect(await text("read_file", { path: "to-docs/a.md" })).toContain("docs/a.md")
  expect(await text("list_files", { path: "src" })).toContain("one.ts")
})

test("a call's own allowedPaths narrow the configured ones and never widen them", async () => {
  const { call } = await openProject()
  const read = async (path: string, allowedPaths: string[]) => (await call("read_file", { path }, allowedPaths)).code
  expect(await read("docs/deep/b.md", ["docs/deep"])).toBeUndefined()
  expect(await read("docs/a.md", ["."])).toBeUndefined()
  for (const [path, allowed] of [
    ["docs/a.md", ["docs/deep"]],
    ["private/p.md", ["private"]],
    ["top.md", ["."]],
    ["docs/out/p.md", ["docs", "private"]],
    ["docs/a.md", []],
  ] as const)
    // prettier-ignore
    expect(await read(path, [...allowed]), path).toBe("path_outside_workspace")
  expect(await call("run_command", { command: "cat ../a.md", cwd: "docs/deep" }, ["docs/deep"])).toMatchObject(denied)
  expect(await call("run_command", { command: "ls", cwd: "docs" }, ["docs/deep"])).toMatchObject(denied)
})

test("folders on the way to an allowed place are created, and nothing beside it", async () => {
  const { call, workspace } = await openProject({ tools: { allowedPaths: ["out/reports", "notes/*.md"] } })
  const write = async (path: string) => (await call("write_file", { path, content: "x" })).code
  expect([await write("out/reports/2024/a.md"), await write("notes/a.md")]).toEqual([undefined, undefined])
  for (const path of ["out/a.md", "notes/a.txt", "notes/deep/a.md"]) expect(await write(path)).toBe(denied.code)
  expect(existsSync(join(workspace, "notes/deep"))).toBe(false)
})

test("tools.allowedPaths make no write unasked; an allow rule with touching does", async () => {
  const rules: Config["rules"] = ["write_file", "delete_file"].map((allow) => ({ allow, touching: "write:docs/**", because })) // prettier-ignore
  const verdicts = async (config: Config) => {
    const { app } = await openProject(config)
    const verdict = async (tool: string, path: string, more: object) =>
      (await app.why({ agentId: "operator", tool, input: { path, ...more } })).verdict
    const paths = ["docs/a.md", "src/one.ts", "private/p.md"]
    return Promise.all([
      ...paths.map((path) => verdict("write_file", path, { content: "x" })),
      verdict("delete_file", "docs/a.md", {}),
    ])
  }
  expect(await verdicts({ rules: [] })).toEqual(["ask", "ask", "deny", "ask"])
  expect(await verdicts({ rules })).toEqual(["allow", "ask", "deny", "allow"])
})
