import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Language } from "../../core/language.ts"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { classicDialect } from "./classic.ts"
import { claudeDialect } from "./claude.ts"
import { parameterValue } from "./define-alias.ts"

const notebook = {
  cells: [{ cell_type: "code", id: "a", source: ["1 + 1"], outputs: [], execution_count: 1, metadata: {} }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
}

/** An app with its own workspace, in which everything that is proved is allowed. */
async function openApp() {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\nthree\n")
  writeFileSync(join(workspace, "b.ts"), "export function greet() {}\n")
  for (const name of ["m.ipynb", "n.ipynb"]) writeFileSync(join(workspace, name), JSON.stringify(notebook))
  const server = createServer((_request, response) => response.setHeader("content-type", "text/plain").end("a page"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const dialects = ["native", "claude", "classic"] as const
  const system = await openTestApp(
    {
      org: {
        roles: dialects.map((dialect) => ({ name: dialect, dialect })),
        agents: dialects.map((id) => ({ id, role: id })),
      },
      rules: [{ allow: "*", because: "It is a test." }],
      tools: {
        permissions: { run_command: { allowedRoles: [] } },
        shell: { allow: ["echo", "sleep"], sandbox: "off" },
        hosts: { allow: [`127.0.0.1:${port}`] },
      },
    },
    { workspace, ask: () => Promise.resolve("blue") },
  )
  return { system, workspace, address: `http://127.0.0.1:${port}/` }
}

/** By its own name and by each other name, the same work; what comes back is of the same work too. */
interface Capability {
  tool: string
  input: Record<string, unknown>
  native: unknown
  claude?: [string, Record<string, unknown>, unknown]
  classic?: [string, Record<string, unknown>, unknown]
}

const snippet = { name: "s", code: "x", description: "", language: "plaintext", tags: [] }
const id = expect.any(String)
const any = expect.anything()

const capabilities = (address: string): Capability[] => [
  {
    tool: "read_file",
    input: { path: "a.txt", offset: 2, limit: 1 },
    native: { content: "two\n", totalLines: 3, truncated: true, encoding: "utf-8", size: 14, path: "a.txt" },
    claude: [
      "Read",
      { file_path: "a.txt", offset: 2, limit: 1 },
      { content: "two\n", total_lines: 3, encoding: "utf-8", truncated: true, notice: any },
    ],
    classic: [
      "file_read",
      { path: "a.txt" },
      { path: "a.txt", content: "one\ntwo\nthree\n", size: 14, encoding: "utf8" },
    ],
  },
  {
    tool: "write_file",
    input: { path: "w.txt", content: "new" },
    native: { ok: true, bytesWritten: 3, size: 3, mode: "overwrite", path: "w.txt" },
    claude: ["Write", { file_path: "w.txt", content: "new" }, { file_path: "w.txt", bytes_written: 3, created: false }],
    classic: [
      "file_write",
      { path: "w.txt", content: "!", mode: "append" },
      { path: "w.txt", size: 4, mode: "append" },
    ],
  },
  {
    tool: "edit_file",
    input: { path: "a.txt", oldText: "two", newText: "2", preview: true },
    native: { ok: true, changed: false, replacements: 1 },
    claude: [
      "Edit",
      { file_path: "a.txt", old_string: "two", new_string: "2", preview: true },
      { file_path: "a.txt", changed: false, replacements: 1, diff: expect.stringContaining("+2") },
    ],
  },
  {
    tool: "list_files",
    input: {},
    native: { path: ".", total: 5, truncated: false },
    claude: ["LS", {}, { files: any, total: 5 }],
    classic: ["file_list", {}, { path: ".", files: any }],
  },
  {
    tool: "find_files",
    input: { pattern: "*.ts" },
    native: { files: ["b.ts"], total: 1 },
    claude: ["Glob", { pattern: "*.ts", exclude: ["w*"], limit: 5 }, { files: ["b.ts"], total: 1 }],
  },
  {
    tool: "search_files",
    input: { pattern: "TWO", ignoreCase: true, context: 1, glob: "*.txt" },
    native: { total: 1 },
    claude: [
      "Grep",
      { pattern: "TWO", ignore_case: true, context_lines: 1, include: "*.txt", max_results: 3 },
      {
        matches: [{ file: "a.txt", line: 2, column: 1, match: "two", context: { before: ["one"], after: ["three"] } }],
        total: 1,
        truncated: false,
      },
    ],
  },
  {
    tool: "read_notebook",
    input: { path: "n.ipynb" },
    native: { cells: [{ index: 0, id: "a", type: "code", source: "1 + 1", executionCount: 1 }] },
    claude: [
      "NotebookRead",
      { file_path: "n.ipynb" },
      { cells: [{ index: 0, id: "a", type: "code", source: "1 + 1", outputs: [], execution_count: 1 }], metadata: {} },
    ],
  },
  {
    tool: "edit_notebook",
    input: { path: "m.ipynb", cellIndex: 0, source: "2 + 2" },
    native: { ok: true, index: 0, source: "2 + 2" },
    claude: [
      "NotebookEdit",
      { notebook_path: "n.ipynb", cell_id: "a", new_source: "3 + 3", edit_mode: "replace" },
      { cell_id: "a", cell_type: "code", edit_mode: "replace", new_source: "3 + 3" },
    ],
  },
  {
    tool: "run_command",
    input: { command: "echo hi", timeoutMs: 5000 },
    native: { stdout: "hi\n", stderr: "", exitCode: 0, sandbox: { kind: "none" } },
    claude: ["Bash", { command: "echo hi", timeout: 5 }, { exit_code: 0, stdout: "hi\n", stderr: "", duration: any }],
    classic: [
      "shell_exec",
      { command: "echo hi", timeout: 5000 },
      { command: "echo hi", stdout: "hi\n", stderr: "", exitCode: 0 },
    ],
  },
  {
    tool: "web_fetch",
    input: { url: address },
    native: { content: "a page", status: 200 },
    claude: ["WebFetch", { url: address, prompt: "What is it?" }, { url: address, title: any, content: "a page" }],
  },
  {
    tool: "todo_write",
    input: { operation: "replace", todos: [{ title: "Test" }] },
    native: { todos: [{ title: "Test", status: "pending", owner: "native" }] },
    claude: [
      "TodoWrite",
      { todos: [{ content: "Test", status: "in_progress", activeForm: "Testing" }] },
      { todos: [any], before: [] },
    ],
  },
  {
    tool: "ask_user",
    input: { question: "Which?", options: ["blue", "red"] },
    native: { question: "Which?", answer: "blue" },
    claude: ["AskUser", { question: "Which?" }, { question: "Which?", answer: "blue" }],
    classic: ["ask_user", { question: "Which?" }, { question: "Which?", answer: "blue" }],
  },
  {
    tool: "code_query",
    input: { query: "greet", type: "function" },
    native: { query: "greet", type: "function", total: 1 },
    classic: [
      "code_query",
      { query: "greet", type: "function" },
      { query: "greet", type: "function", matches: [{ file: "b.ts", line: 1, column: 17, code: any, context: any }] },
    ],
  },
  {
    tool: "snippet_save",
    input: { name: "s", code: "x" },
    native: { id, name: "s" },
    classic: ["snippet_save", { name: "s", code: "x" }, { id, name: "s" }],
  },
  {
    tool: "snippet_load",
    input: { name: "s" },
    native: { id, ...snippet },
    classic: ["snippet_load", { name: "s" }, { id, ...snippet }],
  },
  {
    tool: "snippet_list",
    input: {},
    native: { count: 1 },
    classic: [
      "snippet_list",
      {},
      { count: 1, snippets: [{ id, name: "s", description: "", language: "plaintext", tags: [], createdAt: any }] },
    ],
  },
]

/** Calls tools by each of their names, and compares. */
async function same(...tools: string[]): Promise<void> {
  const { system, address } = await openApp()
  for (const tool of tools) {
    const { input, native, claude, classic } = capabilities(address).find((one) => one.tool === tool)!
    const own = await system.call({ agentId: "native", tool, input })
    expect(own, tool).toMatchObject({ success: true, toolName: tool })
    expect(own.result, tool).toMatchObject(native as object)
    for (const [agentId, other] of [["claude", claude] as const, ["classic", classic] as const]) {
      if (other === undefined) continue
      const [name, given, shape] = other
      const result = await system.call({ agentId, tool: name, input: given })
      expect(result, name).toMatchObject({ success: true, toolName: tool, metadata: { calledAs: name } })
      expect(result.result, name).toEqual(shape)
    }
  }
}

test("read_file is Read and file_read", () => same("read_file"))
test("reading takes lines from 1", () => same("read_file"))
test("write_file is Write and file_write", () => same("write_file"))
test("edit_file is Edit", () => same("edit_file"))
test("list_files is LS and file_list", () => same("write_file", "list_files"))
test("find_files is Glob", () => same("find_files"))
test("search_files is Grep", () => same("search_files"))
test("read_notebook is NotebookRead", () => same("read_notebook"))
test("edit_notebook is NotebookEdit", () => same("edit_notebook"))
test("run_command is Bash and shell_exec", () => same("run_command"))
test("web_fetch is WebFetch", () => same("web_fetch"))
test("todo_write is TodoWrite", () => same("todo_write"))
test("ask_user is AskUser and ask_user", () => same("ask_user"))
test("code_query is the same in classic words", () => same("code_query"))
test("snippets are the same in classic words", () => same("snippet_save", "snippet_load", "snippet_list"))

test("every name of both dialects is of a tool that is there, and what it promises is what it gives", async () => {
  const { system } = await openApp()
  for (const { name, tool, dialect } of [...claudeDialect(), ...classicDialect()]) {
    expect(system.registry.has(tool), tool).toBe(true)
    const shown = system.toolsInDialect(dialect).map((each) => each.name)
    expect(shown, `${dialect} ${name}`).toContain(name)
    if (name !== tool) expect(shown, `${dialect} ${tool}`).not.toContain(tool)
  }
  expect(system.toolsInDialect("native").map(({ name }) => name)).not.toContain("Read")
})

test("the classic dialect describes its tools in S3's own Chinese when that is the language, else in English", async () => {
  const names = new Set(classicDialect().map(({ name }) => name))
  const described = async (language: Language) => {
    const org = { roles: [{ name: "classic", dialect: "classic" as const }], agents: [{ id: "a", role: "classic" }] }
    const app = await openTestApp({ language, org })
    return JSON.stringify(app.toolsFor("a").filter((definition) => names.has(definition.function.name)))
  }
  expect(await described("zh")).toContain('"在代码库中搜索函数、类、变量或文件"')
  expect(await described("en")).toMatch(/^[\x20-\x7e]+$/)
})

test("a background command is read on and ended by the names of either dialect", async () => {
  const { system } = await openApp()
  const call = (tool: string, input: unknown) => system.call({ agentId: "claude", tool, input })
  const started = await call("Bash", { command: "echo up; sleep 30", run_in_background: true })
  const { shell_id } = started.result as { shell_id: string }
  expect(shell_id).toEqual(expect.any(String))
  const output = await call("BashOutput", { bash_id: shell_id })
  expect(output).toMatchObject({ success: true, result: { status: "running", exit_code: null } })
  expect(await call("KillBash", { shell_id })).toMatchObject({ result: { shell_id, status: "killed" } })
})

test("seconds are seconds for Bash, milliseconds for shell_exec, and what cannot be seconds is milliseconds", () => {
  const input = (name: string, given: unknown) =>
    [...claudeDialect(), ...classicDialect()].find((alias) => alias.name === name)?.toInput(given as never)
  expect(input("Bash", { command: "x", timeout: 120 })).toMatchObject({ timeoutMs: 120_000 })
  expect(input("Bash", { command: "x", timeout: 120_000 })).toMatchObject({ timeoutMs: 120_000 })
  expect(input("Bash", { command: "x", timeout: 0.5 })).toMatchObject({ timeoutMs: 500 })
  for (const seconds of [590, 591, 600, 3600, 9999]) {
    expect(input("Bash", { command: "x", timeout: seconds }), `${seconds}`).toMatchObject({ timeoutMs: 590_000 })
  }
  expect(input("Bash", { command: "x", timeout: 10_000 })).toMatchObject({ timeoutMs: 10_000 })
  expect(input("Bash", { command: "x", timeout: 3_600_000 })).toMatchObject({ timeoutMs: 590_000 })
  expect(input("shell_exec", { command: "x", timeout: 500 })).toMatchObject({ timeoutMs: 500 })
})

test("Bash takes each parameter of S2: a folder, seconds, variables, and a wish to be confirmed", () => {
  const bash = claudeDialect().find((alias) => alias.name === "Bash")
  const given = { command: "make", working_dir: "sub", timeout: 5, env: { A: "b" }, require_confirmation: true }
  expect(bash?.toInput(given as never)).toEqual({
    command: "make",
    cwd: "sub",
    timeoutMs: 5000,
    env: { A: "b" },
    requireConfirmation: true,
  })
  expect(bash?.toInput({ command: "make" } as never)).toEqual({ command: "make" })
})

test("Grep takes each parameter of S2: a pattern, a path, include and exclude, lines around, case, and how many", async () => {
  const { system, workspace } = await openApp()
  mkdirSync(join(workspace, "sub"))
  writeFileSync(join(workspace, "sub/a.txt"), "one\nTwo\nthree\ntwo\n")
  for (const name of ["sub/b.log", "sub/c.txt", "outside.txt"]) writeFileSync(join(workspace, name), "two\n")
  const input = { pattern: "^t.o$", path: "sub", include: "*.txt", exclude: "c*", context_lines: 1, ignore_case: true }
  const grep = async (more: object) => {
    const { result } = await system.call({ agentId: "claude", tool: "Grep", input: { ...input, ...more } })
    return result as { matches: { file: string; line: number }[] }
  }
  const found = await grep({})
  expect(found.matches.map(({ file, line }) => [file, line])).toEqual([
    ["sub/a.txt", 2],
    ["sub/a.txt", 4],
  ])
  expect(JSON.stringify(found)).toContain("three")
  expect((await grep({ ignore_case: false })).matches.map(({ line }) => line)).toEqual([4])
  expect((await grep({ max_results: 1 })).matches).toHaveLength(1)
})

test("file_read tells the encoding by the names of its own parameter", async () => {
  const { system } = await openApp()
  for (const encoding of [undefined, "utf8", "ascii", "base64"]) {
    const input = { path: "a.txt", ...(encoding && { encoding }) }
    const { result } = await system.call({ agentId: "classic", tool: "file_read", input })
    expect(result).toMatchObject({ encoding: encoding ?? "utf8" })
  }
})

test("find_files, which is Glob, is listed among the file tools", async () => {
  const { system } = await openApp()
  expect(system.registry.listByCategory("file").map(({ name }) => name)).toContain("find_files")
})

test("failures are told in S3's words", async () => {
  const { system, workspace } = await openApp()
  const error = async (tool: string, input: unknown) =>
    (await system.call({ agentId: "classic", tool, input })).error ?? ""
  expect(await error("file_read", { path: "none.txt" })).toMatch(/^Failed to read file: /)
  mkdirSync(join(workspace, "folder"))
  expect(await error("file_write", { path: "folder", content: "" })).toMatch(/^Failed to write file: /)
  expect(await error("file_list", { path: "none" })).toMatch(/^Failed to list files: /)
  expect(await error("snippet_load", { name: "none" })).toMatch(/^Snippet 'none' not found/)
  expect(await error("shell_exec", { command: "sleep 9", timeout: 50 })).toMatch(/^Command execution failed: /)
  const outside = await system.call({ agentId: "classic", tool: "file_read", input: { path: "../../etc/passwd" } })
  expect(outside).toMatchObject({ code: "path_outside_workspace" })
  expect(outside.error).toMatch(/^Failed to read file: .*Path is outside workspace directory/)
})

test("failures speak the names of the dialect, and what they quote stays as it is", async () => {
  const { system, workspace } = await openApp()
  const error = async (agentId: string, tool: string, input: unknown) =>
    (await system.call({ agentId, tool, input })).error ?? ""
  writeFileSync(join(workspace, "code.ts"), "call(oldText, timeoutMs) // read_file\n")
  const missed = await error("claude", "Edit", {
    file_path: "code.ts",
    old_string: "call(oldText, timeoutMs) // read_files",
    new_string: "x",
  })
  expect(missed).toMatch(/^The old_string is not in code\.ts\./)
  expect(missed).toContain("\n1: call(oldText, timeoutMs) // read_file\n")
  expect(missed).toMatch(/\nCopy old_string exactly from the file\.$/)
  const twice = await error("claude", "Edit", { file_path: "a.txt", old_string: "o", new_string: "x" })
  expect(twice).toContain("or set replace_all.")
  const same = await error("claude", "Edit", { file_path: "a.txt", old_string: "one", new_string: "one" })
  expect(same).toContain("old_string and new_string are the same")
  const slow = await error("claude", "Bash", { command: "echo read_file timeoutMs; sleep 9", timeout: 0.2 })
  expect(slow).toContain("Give it a longer timeout (in seconds), or run it with run_in_background.")
  expect(slow).toContain("\nread_file timeoutMs")
  expect(await error("claude", "Read", { file_path: "zzzz.q" })).toContain("Call LS or Glob to see what is there.")
  expect(await error("claude", "Read", { file_path: "list_files.q" })).toContain("list_files.q")
  expect(await error("claude", "NotebookEdit", { file_path: "n.ipynb", new_source: "x" })).toContain(
    "Give cell_id or cell_number; NotebookRead shows both.",
  )
  expect(await error("classic", "shell_exec", { command: "sleep 9", timeout: 50 })).toMatch(
    /^Command execution failed: .*Give it a longer timeout\.$/,
  )
  expect(await error("classic", "file_read", { path: "zzzz.q" })).toMatch(
    /^Failed to read file: .*Call file_list or find_files/,
  )
})

test("an input that the tool itself would refuse is refused in the names of the dialect", async () => {
  const { system } = await openApp()
  const problems = async (tool: string, input: object) => {
    const { code, error } = await system.call({ agentId: "claude", tool, input })
    expect(code, tool).toBe("invalid_arguments")
    expect(error).not.toContain("..")
    expect(error).not.toMatch(/oldText|newText|startLine|endLine|cellI|cellType|: path|: id/)
    return error
  }
  const edit = (input: object) => problems("Edit", { file_path: "a.txt", ...input })
  expect(await edit({ new_string: "x" })).toContain("'old_string' is missing")
  expect(await edit({ old_string: "one" })).toContain("'new_string' is missing")
  expect(await edit({ old_string: "one", new_string: "x", start_line: 1 })).toContain("'start_line' cannot stand")
  expect(await edit({ old_string: "one", new_string: "x", end_line: 1 })).toContain("'end_line' needs 'start_line'")
  expect(await edit({ start_line: 3, end_line: 1, new_content: "x" })).toContain("'end_line' cannot be less")
  const cell = (input: object) => problems("NotebookEdit", { file_path: "n.ipynb", ...input })
  expect(await cell({ cell_number: 0 })).toContain("'new_source' is missing")
  expect(await cell({ cell_number: 0, cell_id: "a", new_source: "x" })).toContain("'cell_number' cannot stand")
  expect(await cell({ edit_mode: "insert", new_source: "x" })).toContain("'cell_type' is missing")
  expect(await problems("NotebookRead", {})).toContain("Missing required parameter: file_path")
  expect(await problems("BashOutput", {})).toContain("Missing required parameter: bash_id")
  expect(await problems("KillBash", {})).toContain("Missing required parameter: shell_id")
})

test("several problems are one sentence with one full stop", async () => {
  const { system } = await openApp()
  const error = async (tool: string, input: object) => (await system.call({ agentId: "claude", tool, input })).error
  expect(await error("LS", { zzz: 1 })).toBe(
    "Validation failed: Unknown parameter 'zzz'. It takes: path. Correct the input of LS.",
  )
  expect(await error("Write", { zzzzzzz: 1 })).toBe(
    "Validation failed: Missing required parameter: file_path, Missing required parameter: content, Unknown parameter 'zzzzzzz'. It takes: file_path, content. Correct the input of Write.",
  )
  expect(await error("LS", { yyyyyyy: 1, zzzzzzz: 1 })).toBe(
    "Validation failed: Unknown parameter 'yyyyyyy'. It takes: path; Unknown parameter 'zzzzzzz'. It takes: path. Correct the input of LS.",
  )
})

test("two spellings of one parameter that say different things are a mistake", async () => {
  const { system } = await openApp()
  const both = (head_limit: number) =>
    system.call({ agentId: "claude", tool: "Grep", input: { pattern: "one", max_results: 5, head_limit } })
  expect(await both(5)).toMatchObject({ success: true })
  expect(await both(6)).toMatchObject({
    code: "invalid_arguments",
    error: expect.stringContaining("'max_results' and 'head_limit' mean the same"),
  })
  expect(parameterValue({ a: undefined, b: false })).toBe(false)
})

test("a model that wants to be confirmed is, whatever is allowed", async () => {
  const { system } = await openApp()
  const request = { agentId: "claude", tool: "Bash", input: { command: "echo hi", require_confirmation: true } }
  expect(await system.why(request)).toMatchObject({ verdict: "ask" })
})

test("an edit by lines and one by text come to the same file by either name", async () => {
  const { system, workspace } = await openApp()
  const edit = (input: unknown) => system.call({ agentId: "claude", tool: "Edit", input })
  expect(
    await edit({ file_path: "a.txt", start_line: 2, end_line: 2, new_content: "2\n", create_backup: false }),
  ).toMatchObject({
    success: true,
    result: { changed: true },
  })
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one\n2\nthree\n")
  expect(await edit({ file_path: "a.txt", old_string: "2", new_string: "two" })).toMatchObject({ success: true })
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n")
})
