import { mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { deferred, openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import {
  builtinTools,
  current_time,
  DEFAULT_TOOL_TIMEOUT,
  isPathAllowed,
  json_parse,
  jsonSchemaToZod,
  loadConfig,
  NETWORK_TOOL_TIMEOUT,
  read_file,
  Semaphore,
  sleep,
  TOOL_CALL_COMPLETED,
  TOOL_CALL_FAILED,
  TOOL_CALL_REQUESTED,
  ToolCategory,
  ToolExecutor,
  ToolRegistry,
  wrapMCPTool,
  write_file,
  type Tool,
  type ToolContext,
} from "./index.ts"
import { workingFolder } from "../testing.ts"

const context: ToolContext = { taskId: "test" }
const text = (part: string) => expect.stringContaining(part) as string

/** S4's own example, with work that can be seen. */
function customTool(work: (input: string, context: ToolContext) => unknown): Tool {
  return {
    name: "my_custom_tool",
    description: "自定义工具描述",
    category: ToolCategory.CUSTOM,
    parameters: z.object({ input: z.string(), optional: z.number().optional() }),
    async execute(params, given) {
      const startedAt = Date.now()
      const toolName = "my_custom_tool"
      try {
        const result = await work((params as { input: string }).input, given)
        return { toolName, success: true, result, startedAt, completedAt: Date.now(), durationMs: 0 }
      } catch (error) {
        return { toolName, success: false, error: error instanceof Error ? error.message : String(error), startedAt }
      }
    },
  }
}

async function openExecutor(tools: Tool[], options: ConstructorParameters<typeof ToolExecutor>[1] = {}) {
  const folder = await workingFolder()
  const registry = new ToolRegistry()
  registry.registerMany(tools)
  const executor = new ToolExecutor(registry, options)
  onTestFinished(() => executor.close())
  return { folder, registry, executor }
}

test("S4's unit test of read_file: content, 'not found', 'Access denied'", async () => {
  const folder = await workingFolder()
  writeFileSync(join(folder, "test.txt"), "hello")
  const found = await read_file.execute({ path: join(folder, "test.txt") }, context)
  expect(found).toEqual({
    toolName: "read_file",
    success: true,
    result: expect.objectContaining({ content: "hello", size: 5 }) as unknown,
    startedAt: expect.any(Number) as number,
    completedAt: expect.any(Number) as number,
    durationMs: expect.any(Number) as number,
  })
  const missing = await read_file.execute({ path: join(folder, "nonexistent.txt") }, context)
  expect(missing).toMatchObject({ success: false, error: text("not found") })
  const refused = await read_file.execute({ path: "/etc/passwd" }, { taskId: "test", allowedPaths: [tmpdir()] })
  const denied = text("Permission denied: Access denied: Path is outside workspace directory")
  expect(refused).toMatchObject({ success: false, error: denied })
  expect(refused).not.toHaveProperty("result")
})

test("S4's eighteen tools have its names, categories, descriptions and Zod parameters", () => {
  const categories = (category: string) =>
    builtinTools.filter((tool) => tool.category === category).map(({ name }) => name)
  expect(categories("system")).toEqual(["current_time", "sleep", "get_env", "set_env"])
  expect(categories("file")).toEqual([
    "read_file",
    "write_file",
    "list_files",
    "delete_file",
    "move_file",
    "get_file_info",
  ])
  expect(categories("network")).toEqual(["http_get", "http_post", "http_request", "web_search"])
  expect(categories("data")).toEqual(["json_parse", "json_stringify", "base64_encode", "base64_decode"])
  expect(current_time.description).toBe("获取当前时间")
  expect(sleep.parameters.parse({ duration: 1 })).toEqual({ duration: 1 })
  expect(() => sleep.parameters.parse({})).toThrow()
})

test("every tool of S4 takes S4's parameters and the core's tool takes the same", async () => {
  const { registry } = await openTestApp()
  for (const tool of builtinTools) {
    const own = Object.keys((z.toJSONSchema(tool.parameters) as { properties: object }).properties)
    const { json } = registry.require(tool.name).input
    expect(Object.keys(json["properties"] as object), tool.name).toEqual(expect.arrayContaining(own))
  }
})

test("a registry starts empty, returns tools as they were registered, and refuses a second one of a name", () => {
  const registry = new ToolRegistry()
  expect(registry.list()).toEqual([])
  const custom = customTool(() => 1)
  registry.register(custom)
  registry.registerMany([read_file, json_parse])
  expect(registry.get("my_custom_tool")).toBe(custom)
  expect(registry.get("nothing")).toBeUndefined()
  expect(registry.has("read_file")).toBe(true)
  expect(registry.list()).toEqual([custom, read_file, json_parse])
  expect(registry.listByCategory(ToolCategory.FILE)).toEqual([read_file])
  expect(() => registry.register(customTool(() => 2))).toThrow("Tool 'my_custom_tool' already registered")
  expect(registry.toLLMTools().find(({ name }) => name === "my_custom_tool")).toMatchObject({
    description: "自定义工具描述",
    parameters: { type: "object", required: ["input"] },
  })
  expect(registry.getStats()).toMatchObject({ total: 3, byCategory: { file: 1, data: 1, custom: 1 }, callStats: {} })
})

test("the executor finds, validates, executes and wraps, and a result of a tool stays as the tool returned it", async () => {
  const seen: ToolContext[] = []
  const { executor, registry } = await openExecutor([
    customTool((input, given) => {
      seen.push(given)
      if (input === "bad") throw new Error("it broke")
      return input.toUpperCase()
    }),
  ])
  const call = (params: unknown) => executor.execute("my_custom_tool", params, { ...context, userId: "u" })
  expect(await call({ input: "a" })).toMatchObject({ toolName: "my_custom_tool", success: true, result: "A" })
  expect(seen[0]).toMatchObject({ taskId: "test", userId: "u" })
  expect(await call({ input: "bad" })).toMatchObject({ success: false, error: "it broke" })
  expect(await call({ input: 1 })).toMatchObject({
    success: false,
    error: "Parameter validation failed: Parameter 'input' expected string, got number",
  })
  expect(await executor.execute("nothing", {}, context)).toMatchObject({ error: 'Tool "nothing" not found' })
  expect(registry.getStats().callStats["my_custom_tool"]).toMatchObject({ count: 3, failures: 2 })
})

test("only registered tools can be called, and built-in ones are asked about like everywhere", async () => {
  const { executor, folder } = await openExecutor([read_file, write_file])
  expect(await executor.execute("json_parse", { text: "1" }, context)).toMatchObject({
    error: 'Tool "json_parse" not found',
  })
  const write = (more = {}) => executor.execute("write_file", { path: "a.txt", content: "x" }, { ...context, ...more })
  expect(await write()).toMatchObject({ success: false, error: text("Nobody agreed") })
  expect(await write({ approve: () => true })).toMatchObject({ success: true, result: { bytesWritten: 1 } })
  expect(await executor.execute("read_file", { path: join(folder, "a.txt") }, context)).toMatchObject({
    result: { content: "x" },
  })
})

test("a tool that returns no whole result returns its value; what a server calls an error is one", async () => {
  const answers: unknown[] = [{ answer: 42 }, { content: [{ type: "text", text: "no" }], isError: true }]
  const raw: Tool = {
    ...customTool(() => 0),
    category: ToolCategory.MCP,
    execute: async () => answers.shift() as never,
  }
  const { executor } = await openExecutor([{ ...raw, name: "plain", category: ToolCategory.CUSTOM }, raw])
  const call = (tool: string | Tool) => executor.execute(tool, { input: "" }, context)
  expect(await call("plain")).toMatchObject({ success: true, result: { answer: 42 } })
  expect(await call(raw)).toMatchObject({ success: false, error: text("no") })
})

test("a tool sees the paths that its call is limited to", async () => {
  const other = temporaryFolder()
  const { executor } = await openExecutor([customTool((_, { allowedPaths }) => allowedPaths)])
  expect(await executor.execute("my_custom_tool", { input: "" }, { ...context, allowedPaths: [other] })).toMatchObject({
    result: [other],
  })
})

test("a tool that takes too long ends with S4's message", async () => {
  const { executor } = await openExecutor([customTool(() => new Promise(() => {}))])
  expect(await executor.execute("my_custom_tool", { input: "" }, { ...context, timeoutMs: 20 })).toMatchObject({
    error: "Tool execution timed out after 20ms",
  })
})

test("what a tool says besides, in words of ours, counts: its time limit, its effect", async () => {
  const never: Tool & { timeoutMs: number } = { ...customTool(() => new Promise(() => {})), timeoutMs: 30 }
  const writes: Tool & { effect: string } = { ...customTool(() => 1), name: "writes", effect: "write" }
  const { executor } = await openExecutor([never, writes])
  const error = async (name: string) => (await executor.execute(name, { input: "" }, context)).error
  expect(await error("my_custom_tool")).toBe("Tool execution timed out after 30ms")
  expect(await error("writes")).toContain("Nobody agreed")
})

test("events: requested, then completed or failed, with S4's fields", async () => {
  const { executor } = await openExecutor([customTool((input) => (input === "" ? Promise.reject("no") : input))])
  const heard: unknown[] = []
  for (const type of [TOOL_CALL_REQUESTED, TOOL_CALL_COMPLETED, TOOL_CALL_FAILED] as const)
    executor.on(type, (event) => heard.push(event))
  await executor.execute("my_custom_tool", { input: "a" }, context)
  await executor.execute("my_custom_tool", { input: "" }, context)
  const toolName = "my_custom_tool"
  const durationMs: unknown = expect.any(Number)
  expect(heard).toMatchObject([
    { type: "TOOL_CALL_REQUESTED", toolName, params: { input: "a" } },
    { type: "TOOL_CALL_COMPLETED", toolName, result: "a", durationMs },
    { type: "TOOL_CALL_REQUESTED", toolName, params: { input: "" } },
    { type: "TOOL_CALL_FAILED", toolName, error: "no", durationMs },
  ])
})

test("a semaphore lets so many through, and the next when one is done", async () => {
  const semaphore = new Semaphore(2)
  const gates = [deferred(), deferred(), deferred()]
  const started: number[] = []
  const runs = gates.map((gate, place) => semaphore.run(() => (started.push(place), gate.promise)))
  await new Promise(setImmediate)
  expect(started).toEqual([0, 1])
  gates[0]!.resolve()
  await runs[0]
  await new Promise(setImmediate)
  expect(started).toEqual([0, 1, 2])
  gates[1]!.resolve()
  gates[2]!.resolve()
  await Promise.all(runs)
  const release = await semaphore.acquire()
  await semaphore.acquire()
  let isIn = false
  const third = semaphore.acquire().then(() => (isIn = true))
  await new Promise(setImmediate)
  expect(isIn).toBe(false)
  release()
  await third
  semaphore.release()
})

test("isPathAllowed compares real paths: no neighbour, no way out, the working folder without a list", async () => {
  const folder = await workingFolder()
  mkdirSync(join(folder, "data"))
  const cases: [string, string[] | undefined, boolean][] = [
    [join(folder, "data", "a"), [join(folder, "data")], true],
    ["data/a", ["./data"], true],
    [join(folder, "data-evil"), [join(folder, "data")], false],
    ["data/../../x", ["./data"], false],
    ["/etc/passwd", [folder], false],
    ["/etc/passwd", undefined, false],
    ["a", undefined, true],
    ["a", [], false],
  ]
  for (const [path, allowed, expected] of cases) expect(isPathAllowed(path, allowed), path).toBe(expected)
})

test("the time limits are 30 and 60 seconds", () => {
  expect([DEFAULT_TOOL_TIMEOUT, NETWORK_TOOL_TIMEOUT]).toEqual([30_000, 60_000])
})

test("jsonSchemaToZod makes a Zod schema that judges as the JSON Schema does", () => {
  const schema = jsonSchemaToZod({ type: "object", properties: { a: { type: "number" } }, required: ["a"] })
  expect(schema.parse({ a: 1 })).toEqual({ a: 1 })
  expect(schema.safeParse({ a: "1" }).success).toBe(false)
  expect(schema.safeParse({}).success).toBe(false)
})

test("a wrapped MCP tool has S4's form, and its calls are asked about and recorded", async () => {
  const called: unknown[] = []
  const client = {
    callTool: (...given: unknown[]) => {
      called.push(given.slice(0, 2))
      return Promise.resolve({ content: [{ type: "text", text: "rain" }] })
    },
  }
  const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  const tool = wrapMCPTool({ name: "weather", description: "Tell the weather.", inputSchema }, client)
  expect(tool).toMatchObject({ name: "weather", description: "Tell the weather.", category: "mcp" })
  expect(tool.parameters.safeParse({}).success).toBe(false)
  const { executor } = await openExecutor([tool])
  const call = (more = {}) => executor.execute("weather", { city: "Ulm" }, { ...context, ...more })
  expect(await call()).toMatchObject({ success: false, error: text("Nobody agreed") })
  expect(called).toEqual([])
  expect(await call({ approve: () => true })).toMatchObject({ success: true, toolName: "weather" })
  expect(called).toEqual([["weather", { city: "Ulm" }]])
})

const config = `# config.yml
tools:
  # 工具调用超时（毫秒）
  timeout: 30000

  # 并发控制（Agent 全局设置中也有）
  maxConcurrent: 3

  # 文件访问白名单
  allowedPaths:
    - "./data"
    - "./docs"
    - "./src"

  # 网络搜索配置
  webSearch:
    provider: "tavily"  # "tavily" | "google" | "bing" | "duckduckgo"
    apiKey: "\${WEB_SEARCH_API_KEY}"
    maxResults: 10

  # MCP 服务器配置
  mcpServers:
    - name: "filesystem"
      url: "http://localhost:3000"
      enabled: true
    - name: "database"
      url: "http://localhost:3001"
      enabled: false
`

test("S4's config.yml is read as it stands, and an executor works by it", async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "config.yml"), config)
  const read = loadConfig(join(folder, "config.yml"))
  expect(read).toMatchObject({ tools: { timeout: 30_000, maxConcurrent: 3, webSearch: { provider: "tavily" } } })
  const { mcpServers: _, ...tools } = read.tools!
  const { executor, folder: working } = await openExecutor([read_file], { config: { tools } })
  mkdirSync(join(working, "data"))
  for (const name of ["data/a.txt", "b.txt"]) writeFileSync(join(working, name), "x")
  const call = async (path: string) => (await executor.execute("read_file", { path }, context)).success
  expect(await Promise.all([call("data/a.txt"), call("b.txt")])).toEqual([true, false])
})
