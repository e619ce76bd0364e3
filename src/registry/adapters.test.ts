import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { defineHostTool, defineTool } from "../schema/define-tool.ts"
import { ToolFailure } from "../core/ending.ts"
import type { ToolParameter } from "../core/schema.ts"
import { ToolPermissionLevel } from "../core/permission.ts"
import { valueAtPath } from "../schema/problems.ts"
import { ToolExecuteStatus, type ToolResult } from "../core/result.ts"
import type { JsonSchema, SchemaSource } from "../core/schema.ts"
import { ToolCategory, type RegisteredTool, type Tool, type ToolContext } from "../core/tool.ts"
import {
  fromBaseTool,
  fromDefinition,
  fromFunction,
  fromHandler,
  fromModule,
  fromResultTool,
  moduleGroup,
  type DefinedTool,
  type HandlerTool,
  type ModuleContext,
  type ResultTool,
  type ToolModule,
  fromFunctionDefinition,
} from "./adapters.ts"
import type { ResultLike } from "./foreign-results.ts"
import { BaseTool, type BaseToolResult } from "./base-tool.ts"
import { ToolRegistry } from "./registry.ts"
import { shorthandToJsonSchema, type Shorthand } from "./shorthand.ts"

/** S4's smallest context. */
const minimal = { taskId: "test" } as ToolContext
const group = "test"

const run = async (tool: Tool, input: unknown, context = minimal) => tool.execute(input, context)

async function failureOf(tool: Tool, input: unknown = {}): Promise<ToolFailure> {
  const thrown: unknown = await run(tool, input).then(
    (value) => expect.unreachable(`It returned ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ToolFailure)
  return thrown as ToolFailure
}

function problemsOf(tool: Tool, input: unknown): string[] {
  const checked = tool.input.check(input)
  return checked.ok ? [] : checked.problems
}

/** S3's own example. */
class CustomAPITool extends BaseTool {
  readonly name = "custom_api_call"
  readonly description = "调用自定义 API"
  readonly parameters: readonly ToolParameter[] = [
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

  async execute(args: Record<string, unknown>): Promise<BaseToolResult> {
    return { success: true, data: { called: args } }
  }
}

/** A BaseTool that returns what it is told to. */
class Told extends BaseTool {
  readonly name = "told"
  readonly description = "Returns what it is told to."
  readonly parameters: readonly ToolParameter[] = [
    { name: "text", type: "string", description: "Any text.", required: true },
    { name: "size", type: "number", description: "Any number.", required: false },
    { name: "loud", type: "boolean", description: "Yes or no.", required: false },
    { name: "extra", type: "object", description: "Anything.", required: false },
    { name: "files", type: "array", description: "A list.", required: false },
    { name: "mode", type: "string", description: "How.", required: false, enum: ["fast", "safe"] },
  ]
  readonly #results: unknown[]
  constructor(...results: unknown[]) {
    super()
    this.#results = results
  }
  async execute(): Promise<BaseToolResult> {
    return this.#results[0] as BaseToolResult
  }
}

describe("a BaseTool of S3", () => {
  it("is its name, its description, its parameters and execute(args)", async () => {
    const tool = fromBaseTool(new CustomAPITool(), { group, effect: "network" })
    expect(tool).toMatchObject({ name: "custom_api_call", description: "调用自定义 API", group, effect: "network" })
    expect(Object.keys(tool.input.json["properties"] as object)).toEqual(["endpoint", "method", "data"])
    expect(await run(tool, { endpoint: "/a" })).toEqual({ called: { endpoint: "/a" } })
  })

  it("is not dangerous unless it says so; a dangerous one is confirmed, and no option takes that back", () => {
    class Dangerous extends Told {
      override readonly dangerous = true
    }
    expect(new Told().dangerous).toBe(false)
    expect(fromBaseTool(new Told(), { group, effect: "read" }).permission.level).toBe("public")
    expect(fromBaseTool(new Dangerous(), { group, effect: "read" }).permission.level).toBe("sensitive")
    const options = { group, permission: { dangerous: false, level: "public" } } as const
    expect(fromBaseTool(new Dangerous(), options).permission.level).toBe("sensitive")
    const raised = fromBaseTool(new Told(), { group, effect: "read", permission: { dangerous: true } })
    expect(raised.permission.level).toBe("sensitive")
  })

  it.each([
    ["what is required and missing", {}, "Missing required parameter: text"],
    ["a text that is a number", { text: 1 }, "Parameter 'text' expected string, got number"],
    ["a number that is a text", { text: "", size: "1" }, "Parameter 'size' expected number, got string"],
    ["a boolean that is a text", { text: "", loud: "no" }, "Parameter 'loud' expected boolean, got string"],
    ["an object that is a list", { text: "", extra: [] }, "Parameter 'extra' expected object, got array"],
    ["a list that is an object", { text: "", files: {} }, "Parameter 'files' expected array, got object"],
    ["a word outside the list", { text: "", mode: "slow" }, "Parameter 'mode' must be one of: fast, safe"],
  ])("%s is answered in S3's words", (_, input, problem) => {
    expect(new Told().validate(input)).toEqual({ valid: false, errors: [problem] })
    expect(problemsOf(fromBaseTool(new Told(), { group }), input)).toEqual([problem])
  })

  it("all errors are collected, and a good input has none", () => {
    const errors = [
      "Missing required parameter: text",
      "Parameter 'size' expected number, got boolean",
      "Parameter 'mode' must be one of: fast, safe",
    ]
    expect(new Told().validate({ size: true, mode: "slow" })).toEqual({ valid: false, errors })
    expect(new Told().validate({ text: "a", size: 1, mode: "fast" })).toEqual({ valid: true, errors: [] })
  })

  it("its definition keeps defaults and enums, has no undefined, and its lists have items", () => {
    const definition = new CustomAPITool().getDefinition()
    expect(definition).toStrictEqual({
      name: "custom_api_call",
      description: "调用自定义 API",
      parameters: {
        type: "object",
        properties: {
          endpoint: { type: "string", description: "API 端点" },
          method: { type: "string", description: "HTTP 方法", enum: ["GET", "POST", "PUT", "DELETE"], default: "GET" },
          data: { type: "object", description: "请求数据" },
        },
        required: ["endpoint"],
        additionalProperties: false,
      },
    })
    expect(JSON.parse(JSON.stringify(definition))).toStrictEqual(definition)
    expect(new Told().getDefinition().parameters).toMatchObject({ properties: { files: { type: "array", items: {} } } })
    expect(fromBaseTool(new CustomAPITool(), { group }).input.json).toStrictEqual(definition.parameters)
  })

  it("a declared default takes effect, and the given input stays as it was", () => {
    const input = { endpoint: "/a" }
    const checked = fromBaseTool(new CustomAPITool(), { group }).input.check(input)
    expect(checked).toEqual({ ok: true, value: { endpoint: "/a", method: "GET" } })
    expect(input).toEqual({ endpoint: "/a" })
  })

  it("the custom tool of S3 is registered and offered like any other", () => {
    const registry = new ToolRegistry()
    registry.register(fromBaseTool(new CustomAPITool(), { group }))
    expect(registry.require("custom_api_call").permission.level).toBe("sensitive")
    expect(registry.toLLMTools({ format: "flat" }).map((tool) => tool.name)).toEqual(["custom_api_call"])
    const { input } = registry.require("custom_api_call")
    expect(input.check({ endpoint: "/a", method: "PATCH", data: {} })).toEqual({
      ok: false,
      problems: ["Parameter 'method' must be one of: GET, POST, PUT, DELETE"],
    })
  })

  it("of {success, data, error, metadata} a success gives its data and a failure its error and metadata", async () => {
    const told = (result: BaseToolResult) => fromBaseTool(new Told(result), { group })
    expect(await run(told({ success: true, data: { n: 1 }, metadata: { executionTime: 5 } }), {})).toEqual({ n: 1 })
    expect(await run(told({ success: true }), {})).toBeUndefined()
    const failed = await failureOf(told({ success: false, error: "No route.", metadata: { executionTime: 5 } }))
    expect(failed.message).toBe("No route.")
    expect(failed.metadata).toEqual({ executionTime: 5 })
    expect((await failureOf(told({ success: false }))).message).toBe("told failed without saying why.")
  })

  it.each([[undefined], [null], ["text"], [{ data: 1 }], [{ success: "yes" }]])(
    "%j is no result of a BaseTool and no success",
    async (result) => {
      await expect(run(fromBaseTool(new Told(result), { group }), {})).rejects.toThrow("Return { success, data }")
    },
  )

  it("what it throws is thrown on", async () => {
    class Broken extends Told {
      override execute = () => Promise.reject(new RangeError("Too far."))
    }
    await expect(run(fromBaseTool(new Broken(), { group }), {})).rejects.toThrow(new RangeError("Too far."))
  })

  describe("with a validate of its own", () => {
    class Picky extends Told {
      override validate(args: Record<string, unknown>) {
        const { errors } = super.validate(args)
        if ((args["text"] as string).startsWith("/")) errors.push("Parameter 'text' must be relative")
        return { valid: errors.length === 0, errors }
      }
    }
    const picky = fromBaseTool(new Picky(), { group })

    it("is asked too, and what both say is said once", () => {
      expect(problemsOf(picky, { text: "a" })).toEqual([])
      expect(problemsOf(picky, { text: "/a" })).toEqual(["Parameter 'text' must be relative"])
      expect(problemsOf(picky, { text: "/a", size: "1" })).toEqual([
        "Parameter 'size' expected number, got string",
        "Parameter 'text' must be relative",
      ])
    })

    it("cannot let through what the parameters refuse", () => {
      class Lenient extends Told {
        override validate = () => ({ valid: true, errors: [] })
      }
      const lenient = fromBaseTool(new Lenient(), { group })
      expect(problemsOf(lenient, {})).toEqual(["Missing required parameter: text"])
      expect(problemsOf(lenient, null)).toEqual(["Parameter 'input' expected object, got null"])
      expect(problemsOf(lenient, { text: "a" })).toEqual([])
    })

    it("refuses also without a reason and when it breaks", () => {
      expect(problemsOf(picky, { text: 1 })).toEqual([
        "Parameter 'text' expected string, got number",
        "Parameter 'input' could not be checked by the tool: args.text.startsWith is not a function",
      ])
      class Silent extends Told {
        override validate = () => ({ valid: false, errors: [] })
      }
      const silent = fromBaseTool(new Silent(), { group })
      expect(problemsOf(silent, { text: "a" })).toEqual(["Parameter 'input' was refused by the tool without a reason"])
    })

    it("sees the defaults, and cannot change what was given", () => {
      class Greedy extends CustomAPITool {
        override validate(args: Record<string, unknown>) {
          seen.push({ ...args })
          args["endpoint"] = "/other"
          return { valid: true, errors: [] }
        }
      }
      const seen: object[] = []
      const greedy = fromBaseTool(new Greedy(), { group })
      for (const input of [{ endpoint: "/a" }, { endpoint: "/a", method: 1 }]) {
        const before = { ...input }
        greedy.input.check(input)
        expect(input).toEqual(before)
      }
      expect(seen[0]).toEqual({ endpoint: "/a", method: "GET" })
    })
  })
})

describe("a module of S0", () => {
  const definition = (name: string, parameters: JsonSchema = { type: "object", properties: {} }) => ({
    type: "function" as const,
    function: { name, description: `Does ${name}.`, parameters },
  })
  const calls: { context: ModuleContext; toolName: string; args: unknown }[] = []
  const chrome: ToolModule = {
    name: "chrome",
    getToolDefinitions: () => [
      definition("chrome_click", {
        type: "object",
        properties: { selector: { type: "string" } },
        required: ["selector"],
      }),
      definition("chrome_get_text"),
    ],
    executeToolCall(context, toolName, args) {
      calls.push({ context, toolName, args })
      return { ok: true }
    },
  }
  const returning = (value: unknown) => fromModule({ ...chrome, executeToolCall: async () => value })[0]!

  it("its group is its toolGroupId, or else its name", () => {
    expect(moduleGroup(chrome).id).toBe("chrome")
    expect(fromModule(chrome).map((tool) => tool.group)).toEqual(["chrome", "chrome"])
    const named = { ...chrome, toolGroupId: "browser" }
    expect(moduleGroup(named).id).toBe("browser")
    expect(fromModule(named).map((tool) => tool.group)).toEqual(["browser", "browser"])
  })

  it("its group is described by toolGroupDescription, or else by its name", () => {
    const description = "Chrome 浏览器控制工具"
    expect(moduleGroup({ ...chrome, toolGroupDescription: description })).toEqual({ id: "chrome", description })
    expect(moduleGroup(chrome, "zh").description).toBe("chrome 模块提供的工具")
    expect(moduleGroup(chrome).description).toBe("Tools of the module chrome")
  })

  it("every definition becomes a tool with its own schema", () => {
    const [click, text, ...more] = fromModule(chrome)
    expect(more).toEqual([])
    expect(click).toMatchObject({ name: "chrome_click", description: "Does chrome_click." })
    expect(problemsOf(click!, {})).toEqual(["Missing required parameter: selector"])
    expect(problemsOf(text!, {})).toEqual([])
  })

  it("executeToolCall is given the context first, then the tool's name, then the arguments", async () => {
    const { signal } = new AbortController()
    const agent = { id: "ada", role: "tester", department: "quality" }
    const context = { ...minimal, agent, signal, callId: "c1", log: (message: string) => void logged.push(message) }
    const logged: string[] = []
    await run(fromModule(chrome)[0]!, { selector: "a" }, context)
    const { context: given, ...rest } = calls.at(-1)!
    expect(rest).toEqual({ toolName: "chrome_click", args: { selector: "a" } })
    expect(given).toMatchObject({ taskId: "test", callId: "c1", agent: { ...agent, roleId: "tester" } })
    expect(given.signal).toBe(signal)
    given.log("Clicked.")
    expect(logged).toEqual(["Clicked."])
  })

  it("the module may use everything in the context that another tool may use", async () => {
    const answer = { kind: "text", text: "yes" } as never
    const mayRead = () => true
    const sendRequest = async () => "sent"
    const able = { elicitation: true, sampling: false, roots: false }
    await run(fromModule(chrome)[1]!, {}, { ...minimal, answer, mayRead, sendRequest, able })
    const { context: given } = calls.at(-1)!
    expect(given.answer).toBe(answer)
    expect(given.mayRead).toBe(mayRead)
    expect(given.sendRequest).toBe(sendRequest)
    expect(given.able).toBe(able)
  })

  it("asks the running call for its signal only when the module does", async () => {
    const context = {
      ...minimal,
      get signal(): AbortSignal {
        return expect.unreachable("Nobody asked for it.")
      },
    }
    expect(await run(fromModule(chrome)[1]!, {}, context)).toEqual({ ok: true })
  })

  it("a returned {error} is a failure with that code, whatever else it holds is kept", async () => {
    const blocked = await failureOf(returning({ error: "tab_not_found", message: "The tab is gone.", tabId: 4 }))
    expect(blocked.message).toBe("The tab is gone.")
    expect(blocked.toolCode).toBe("tab_not_found")
    expect(blocked.metadata).toEqual({ tabId: 4 })
    const bare = await failureOf(returning({ error: "wait_timeout" }))
    expect(bare.message).toBe("chrome_click failed: wait_timeout")
    expect(bare.toolCode).toBe("wait_timeout")
  })

  it.each([[null], ["error"], [{ ok: true }], [{ error: null }], [{ error: "", text: "a" }], [[{ error: "x" }]]])(
    "%j is a result",
    async (value) => {
      expect(await run(returning(value), {})).toEqual(value)
    },
  )

  it("options hold for all its tools, and for single ones above that", () => {
    const tools = { chrome_get_text: { effect: "read", idempotent: true }, constructor: { effect: "none" } } as const
    const [click, text] = fromModule(chrome, { effect: "network", version: "2.0.0", tools })
    expect(click).toMatchObject({ effect: "network", version: "2.0.0", idempotent: false })
    expect(text).toMatchObject({ effect: "read", version: "2.0.0", idempotent: true })
  })

  it("a tool without parameters takes none, and a name like those of every object is a name", () => {
    const bare = { type: "function", function: { name: "toString", description: "Says." } } as never
    const [tool] = fromModule({ ...chrome, getToolDefinitions: () => [bare] }, { tools: {} })
    expect(tool?.effect).toBeUndefined()
    expect(problemsOf(tool!, {})).toEqual([])
    expect(problemsOf(tool!, { a: 1 })).toEqual(["Unknown parameter 'a'. It takes none."])
  })
})

describe("a handler of S2", () => {
  /** S2's Read, with all fields of its model. */
  const read: HandlerTool = {
    name: "Read",
    description: "读取文件内容",
    category: "file",
    group: "workspace",
    effect: "read",
    inputSchema: { file_path: "string", offset: "number?", limit: "number?", encoding: "string?" },
    outputSchema: { content: "string", total_lines: "number", encoding: "string", truncated: "boolean" },
    permissions: {
      allowedRoles: ["developer"],
      allowedDepartments: ["engineering"],
      minLevel: 2,
      requireConfirmation: false,
      isDangerous: false,
      rateLimit: { maxCallsPerMinute: 30, maxCallsPerHour: 500 },
    },
    version: "1.2.0",
    author: "bees",
    tags: ["files"],
    handler: ({ file_path }: { file_path: string }, { taskId }) => ({ file_path, taskId }),
  }
  const registered = new ToolRegistry().register(fromHandler(read), { type: "builtin" })
  const permissionOf = (permissions: HandlerTool["permissions"] & {}) =>
    fromHandler({ ...read, permissions }).permission

  it.each<[string, (tool: RegisteredTool) => unknown, unknown]>([
    ["an id", (tool) => tool.id, "system:Read@1.2.0"],
    ["its name", (tool) => tool.name, "Read"],
    ["its description", (tool) => tool.description, "读取文件内容"],
    ["its category", (tool) => tool.category, "file"],
    ["its type", (tool) => tool.type, "builtin"],
    ["its input schema", (tool) => tool.input.json["required"], ["file_path"]],
    ["its output schema", (tool) => Object.keys(tool.output?.json["properties"] ?? {}).length, 4],
    ["its handler", (tool) => tool.execute({ file_path: "a" }, minimal), { file_path: "a", taskId: "test" }],
    ["its permissions", (tool) => [tool.permission.allowedRoles, tool.permission.minLevel], [["developer"], 2]],
    ["its version", (tool) => tool.version, "1.2.0"],
    ["its author", (tool) => tool.author, "bees"],
    ["its tags", (tool) => tool.tags, ["files"]],
  ])("%s is there after registration", (_, part, expected) => {
    expect(part(registered)).toEqual(expected)
  })

  it("the handler is called with (params, context), keeps its `this`, and its value is the result as it is", async () => {
    const counter = {
      ...read,
      outputSchema: {},
      handler(params: unknown, context: ToolContext) {
        return { success: false, error: "mine", same: this === counter, params, context }
      },
    }
    const returned = await run(fromHandler(counter), { file_path: "a" })
    expect(returned).toEqual({
      success: false,
      error: "mine",
      same: true,
      params: { file_path: "a" },
      context: minimal,
    })
  })

  it.each(["file", "search", "execution", "communication", "data", "analysis", "utility"] as const)(
    "there is the category %s",
    (category) => {
      expect(Object.values(ToolCategory)).toContain(category)
      expect(fromHandler({ ...read, category }).category).toBe(category)
    },
  )

  it.each([
    ["requireConfirmation", { requireConfirmation: true }],
    ["isDangerous", { isDangerous: true }],
  ])("%s asks a person every time, whatever the effect", (_, permissions) => {
    expect(permissionOf(permissions).level).toBe("sensitive")
    expect(permissionOf({}).level).toBe("public")
  })

  it("the rate limit has a number for the minute and one for the hour", () => {
    const rateLimit = { maxCallsPerMinute: 30, maxCallsPerHour: 500 }
    expect(permissionOf({ rateLimit }).rateLimit).toEqual(rateLimit)
    expect(permissionOf({}).rateLimit).toEqual({})
  })

  it("saying that nothing is dangerous does not make a tool without an effect public", () => {
    const { effect: _, ...unknown } = read
    expect(fromHandler(unknown).permission.level).toBe("sensitive")
  })

  it("an empty shorthand takes no input, and a handler without an output schema may return anything", async () => {
    const { outputSchema: _, ...bare } = read
    const tool = fromHandler({ ...bare, inputSchema: {}, handler: () => 7 })
    expect(problemsOf(tool, { a: 1 })).toEqual(["Unknown parameter 'a'. It takes none."])
    expect(tool.output).toBeUndefined()
    expect(await run(tool, {})).toBe(7)
  })

  it.each<[string, JsonSchema]>([
    ["says type object", { type: "object", properties: { a: { type: "string" } }, required: ["a"] }],
    ["says $schema", { $schema: "http://json-schema.org/draft-07/schema#", required: ["a"] }],
    ["combines schemas", { allOf: [{ required: ["a"] }] }],
    ["has properties that are schemas", { properties: { a: { type: "string" } }, required: ["a"] }],
  ])("a JSON Schema that %s reaches the model unchanged", (_, inputSchema) => {
    const tool = fromHandler({ ...read, inputSchema })
    expect(tool.input.json).toBe(inputSchema)
    expect(problemsOf(tool, {})).toEqual(["Missing required parameter: a"])
  })

  it("a parameter called type or properties is still shorthand", () => {
    const kinds = fromHandler({
      ...read,
      inputSchema: { type: "'code' | 'markdown'", properties: { title: "string" } },
    })
    expect(problemsOf(kinds, { type: "code", properties: { title: "a" } })).toEqual([])
    expect(problemsOf(kinds, { type: "text", properties: {} })).toEqual([
      "Parameter 'type' must be one of: code, markdown",
      "Missing required parameter: properties.title",
    ])
  })
})

describe("S2's shorthand", () => {
  const list = (items: JsonSchema) => ({ type: "array", items })
  const text = { type: "string" }
  const one = (form: Shorthand[string]) => shorthandToJsonSchema({ x: form }, false)

  it.each<[Shorthand[string], JsonSchema]>([
    ["string", text],
    ["number", { type: "number" }],
    ["boolean", { type: "boolean" }],
    ["object", { type: "object" }],
    ["any", {}],
    ["string[]", list(text)],
    ["any[]", list({})],
    ["number[][]", list(list({ type: "number" }))],
    ["'create'", { type: "string", enum: ["create"] }],
    ["'create' | 'update'", { type: "string", enum: ["create", "update"] }],
    ["'a|b'|'c?'|'c?'", { type: "string", enum: ["a|b", "c?"] }],
    [["string"], list(text)],
    [[{ file: "string" }], list({ type: "object", properties: { file: text }, required: ["file"] })],
    [{ title: "string?" }, { type: "object", properties: { title: text }, required: [] }],
  ])("%j is read", (form, expected) => {
    expect(one(form)).toEqual({ type: "object", properties: { x: expected }, required: ["x"] })
    if (typeof form !== "string") return
    expect(one(`${form}?`)).toEqual({ type: "object", properties: { x: expected }, required: [] })
  })

  it("the output of S2's Grep and the input of its TodoWrite are read as they stand there", () => {
    const grep = shorthandToJsonSchema(
      {
        matches: [{ file: "string", line: "number", context: { before: "string[]", after: "string[]" } }],
        total: "number",
      },
      false,
    )
    const lines = {
      type: "object",
      properties: { before: list(text), after: list(text) },
      required: ["before", "after"],
    }
    expect(valueAtPath(grep, ["properties", "matches", "items", "properties", "context"])).toEqual(lines)
    const todo = fromHandler({
      name: "TodoWrite",
      description: "创建和管理任务清单",
      category: "utility",
      group: "todo",
      inputSchema: {
        operation: "'create' | 'update' | 'delete' | 'list'",
        todo: { title: "string", priority: "'low' | 'high'", deadline: "number?", tags: "string[]?" },
      },
      handler: () => null,
    })
    expect(problemsOf(todo, { operation: "create", todo: { title: "a", priority: "low" } })).toEqual([])
    expect(problemsOf(todo, { operation: "drop", todo: { priority: "low", tags: [1], titel: "a" } })).toEqual([
      "Parameter 'operation' must be one of: create, update, delete, list",
      "Missing required parameter: todo.title",
      "Unknown parameter 'todo.titel'. Did you mean 'title'?",
      "Parameter 'todo.tags[0]' expected string, got number",
    ])
  })

  it("names like those of every object are names", () => {
    const names = JSON.parse('{ "__proto__": "string", "constructor": "number?" }') as Shorthand
    const schema = shorthandToJsonSchema(names, true)
    expect(JSON.stringify(schema["properties"])).toBe('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}')
    expect(schema["required"]).toEqual(["__proto__"])
  })

  it.each([
    ["integer", "'integer' is no form"],
    ["string?[]", "'string?[]' is no form"],
    ["string??", "'string?' is no form"],
    ["", "'' is no form"],
    ["?", "'' is no form"],
    ["'a' | b", "''a' | b' is no form"],
    ["'a' | 'b'[]", "''a' | 'b'[]' is no form"],
    ["constructor", "'constructor' is no form"],
    [[], "a list must hold exactly one form"],
    [["string", "number"], "a list must hold exactly one form"],
    [7, "7 is no form"],
    [null, "null is no form"],
    [undefined, "undefined is no form"],
  ])("%j is refused with a sentence that says where and what to write", (form, problem) => {
    const refused = () => shorthandToJsonSchema({ a: { b: form as string } }, true)
    expect(refused).toThrow(`The shorthand of 'a.b' cannot be read: ${problem}`)
    expect(refused).toThrow("or write JSON Schema.")
  })

  it("an element that may be left out makes no sense", () => {
    expect(() => one(["string?"])).toThrow("The shorthand of 'x[]' cannot be read: 'string?' is no form.")
  })
})

describe("a plain function", () => {
  it("gets (input, context), and its input is typed by the schema", async () => {
    const add = fromFunction(
      ({ one, other }, { taskId }) => {
        expectTypeOf(one).toEqualTypeOf<number>()
        return { sum: one + other, taskId }
      },
      {
        name: "add",
        description: "Adds.",
        group,
        effect: "none",
        input: z.object({ one: z.number(), other: z.number() }),
      },
    )
    expect(await run(add, { one: 1, other: 2 })).toEqual({ sum: 3, taskId: "test" })
    expect(add.permission.level).toBe("public")
  })

  it("may be a generator", async () => {
    const count = fromFunction(
      async function* () {
        yield "one"
      },
      { name: "count", description: "Counts.", group, input: z.object({}) },
    )
    const stream = count.execute({}, minimal) as AsyncGenerator<string>
    expect(await stream.next()).toEqual({ value: "one", done: false })
  })
})

describe("a tool of S1", () => {
  const parameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] }
  const definition = (rest: Partial<DefinedTool["definition"]> = {}): DefinedTool["definition"] => ({
    type: "function",
    function: { name: "search_notes", description: "Searches the notes.", parameters },
    ...rest,
  })
  const returning = (value: unknown) =>
    fromDefinition({ definition: definition(), execute: async () => value }, { group })

  it("is a definition and an execute function, which is given the arguments", async () => {
    const execute = (...args: unknown[]) => args
    const tool = fromDefinition({ definition: definition(), execute }, { group })
    expect(await run(tool, { query: "a" })).toEqual([{ query: "a" }])
  })

  it("its definition carries a name, a description, the parameters and the permission level", () => {
    const moderate = definition({ permissionLevel: ToolPermissionLevel.MODERATE })
    const tool = fromDefinition({ definition: moderate, execute: () => null }, { group })
    expect(tool).toMatchObject({
      name: "search_notes",
      description: "Searches the notes.",
      permission: { level: "moderate" },
    })
    expect(tool.input.json).toBe(parameters)
    expect(problemsOf(tool, {})).toEqual(["Missing required parameter: query"])
  })

  it.each([
    [{}, { level: "sensitive", requireResultApproval: "never" }],
    [{ permissionLevel: "public" }, { level: "public", requireResultApproval: "never" }],
    [
      { permissionLevel: "public", requireResultApproval: true },
      { level: "public", requireResultApproval: "always" },
    ],
    [
      { permissionLevel: "moderate", requireExecutionApproval: false },
      { level: "moderate", requireExecutionApproval: false },
    ],
    [
      { requireExecutionApproval: true, requireResultApproval: false },
      { requireExecutionApproval: true, requireResultApproval: "never" },
    ],
  ] as const)("the level and options %j count once it is registered", (said, expected) => {
    const registry = new ToolRegistry()
    registry.register(fromDefinition({ definition: definition(said), execute: () => null }, { group }))
    expect(registry.require("search_notes").permission).toMatchObject(expected)
  })

  it("options stand above the definition, and an undefined one says nothing", () => {
    const tool = {
      definition: definition({ permissionLevel: "moderate", requireResultApproval: true }),
      execute: () => null,
    }
    expect(fromDefinition(tool, { group, permission: { level: "sensitive" } }).permission).toMatchObject({
      level: "sensitive",
      requireResultApproval: "always",
    })
    const silent = { level: undefined, requireResultApproval: undefined }
    expect(fromDefinition(tool, { group, effect: "read", permission: silent }).permission).toMatchObject({
      level: "moderate",
      requireResultApproval: "always",
    })
  })

  it("a level that does not exist is refused, and tags are optional", () => {
    const wrong = definition({ permissionLevel: "PUBLIC" as never })
    expect(() => fromDefinition({ definition: wrong, execute: () => null }, { group })).toThrow(
      "its level must be one of",
    )
    const tagged = { definition: definition(), execute: () => null, tags: ["notes"] }
    expect(fromDefinition(tagged, { group, tags: ["mine"] }).tags).toEqual(["notes", "mine"])
    expect(returning(null).tags).toEqual([])
  })

  it("a result of S1 is unwrapped", async () => {
    expect(await run(returning({ status: ToolExecuteStatus.SUCCESS, data: [1] }), {})).toEqual([1])
    const error = await failureOf(returning({ status: "error", error: "No index." }))
    expect([error.message, error.toolCode]).toEqual(["No index.", undefined])
    const silent = await failureOf(returning({ status: "error" }))
    expect(silent.message).toBe("search_notes failed without saying why.")
  })

  it.each(["execution_rejected", "result_rejected", "not_found"])(
    "the status %s is a failure with its reason",
    async (status) => {
      const rejected = await failureOf(
        returning({ status, rejectReason: "Not now.", error: "Rejected.", data: "secret" }),
      )
      expect([rejected.message, rejected.toolCode]).toEqual(["Not now.", status])
      expect(rejected.metadata).toEqual({ rejectReason: "Not now." })
      expect((await failureOf(returning({ status, error: "Rejected." }))).message).toBe("Rejected.")
    },
  )

  it.each([
    [7],
    [null],
    [undefined],
    ["error"],
    [{ status: 200 }],
    [{ status: "open" }],
    [{ status: "error", id: 4 }],
    [[]],
  ])("%j is a plain value", async (value) => {
    expect(await run(returning(value), {})).toEqual(value)
  })
})

describe("a tool of S4", () => {
  /** S4's own example. */
  const custom: ResultTool = {
    name: "my_custom_tool",
    description: "自定义工具描述",
    category: ToolCategory.CUSTOM,
    parameters: z.object({ input: z.string(), optional: z.number().optional() }),

    async execute(params: unknown, context: ToolContext): Promise<ResultLike> {
      const { input, optional } = params as { input: string; optional?: number }
      const startedAt = Date.now()
      const took = () => ({ toolName: "my_custom_tool", startedAt, completedAt: Date.now(), durationMs: 0 })
      try {
        if (input === "fail") throw "boom"
        return { success: true, result: { input, optional, ...context }, ...took() }
      } catch (error) {
        return { success: false, error: error instanceof Error ? error.message : String(error), ...took() }
      }
    },
  }
  const tool = fromResultTool(custom, { group })
  const returning = (value: unknown) =>
    fromResultTool({ ...custom, execute: async () => value as ResultLike }, { group })

  it.each<[string, (tool: Tool) => unknown, unknown]>([
    ["name", ({ name }) => name, "my_custom_tool"],
    ["description", ({ description }) => description, "自定义工具描述"],
    ["category", ({ category }) => category, "custom"],
    ["Zod parameters", ({ input }) => input.json["required"], ["input"]],
  ])("has its %s", (_, part, expected) => {
    expect(part(tool)).toEqual(expected)
  })

  it("its name is unique: a second tool of that name is refused", () => {
    const registry = new ToolRegistry()
    registry.register(tool)
    expect(() => registry.register(tool)).toThrow("Tool 'my_custom_tool' already registered")
  })

  it("its Zod schema judges what comes in", () => {
    expect(problemsOf(tool, { input: "a", optional: 1 })).toEqual([])
    expect(problemsOf(tool, { optional: "1" })).toEqual([
      "Missing required parameter: input",
      "Parameter 'optional' expected number, got string",
    ])
  })

  it("execute is called with (params, context), also directly with a minimal context", async () => {
    expect(await run(tool, { input: "a" }, { taskId: "test" } as ToolContext)).toEqual({ input: "a", taskId: "test" })
  })

  it.each([
    ["SYSTEM", "system"],
    ["FILE", "file"],
    ["NETWORK", "network"],
    ["DATA", "data"],
    ["CODE", "code"],
    ["MCP", "mcp"],
    ["CUSTOM", "custom"],
  ] as const)("the category %s is '%s'", (key, value) => {
    expect(ToolCategory[key]).toBe(value)
  })

  it("a result of ours has every field of a result of S4", async () => {
    interface S4Result {
      toolName: string
      success: boolean
      result?: unknown
      error?: string
      startedAt: number
      completedAt?: number
      durationMs?: number
    }
    expectTypeOf<ToolResult>().toExtend<S4Result>()
    const whole: S4Result = { toolName: "t", success: true, result: 1, startedAt: 1, completedAt: 2, durationMs: 1 }
    expect(await run(returning(whole), {})).toBe(1)
  })

  it("its context has the task, the user, the allowed paths and more", async () => {
    const context = { ...minimal, userId: "u", allowedPaths: ["/tmp"], sessionId: "s" }
    expect(await run(tool, { input: "a" }, context)).toEqual({ input: "a", ...context })
  })

  it("both branches are unwrapped, and what was thrown without being an Error is its text", async () => {
    expect(await run(tool, { input: "a", optional: 2 })).toMatchObject({ input: "a", optional: 2 })
    expect((await failureOf(tool, { input: "fail" })).message).toBe("boom")
  })

  it("it is registered like any other tool", () => {
    const registry = new ToolRegistry()
    registry.register(tool)
    expect(registry.get("my_custom_tool")).toMatchObject({ category: "custom", permission: { level: "sensitive" } })
  })

  it("a payload with a success of its own is not opened twice", async () => {
    expect(await run(returning({ success: true, result: { success: false } }), {})).toEqual({ success: false })
  })

  it.each([[undefined], [null], [{ result: 1 }], [{ success: 1 }]])("%j is no result and no success", async (value) => {
    await expect(run(returning(value), {})).rejects.toThrow("Return { success, result }")
  })
})

describe("every adapter", () => {
  const base = { description: "Fails.", group }
  const definition = { type: "function", function: { name: "t", description: "Fails.", parameters: {} } } as const
  const zod = z.object({})

  it("the five ways to fail become one: a thrown failure with its sentence", async () => {
    const sentence = "The door is shut."
    const module: ToolModule = {
      name: "m",
      getToolDefinitions: () => [definition],
      executeToolCall: () => ({ error: "shut", message: sentence }),
    }
    const result = async () => ({ success: false, error: sentence })
    const failing = [
      fromModule(module)[0]!,
      fromDefinition({ definition, execute: () => ({ status: "error", error: sentence }) }, { group }),
      fromBaseTool(new Told({ success: false, error: sentence }), { group }),
      fromResultTool({ ...base, name: "t", category: "custom", parameters: zod, execute: result }, { group }),
    ]
    for (const tool of failing) expect((await failureOf(tool)).message).toBe(sentence)
    const thrower = () => {
      throw new Error(sentence)
    }
    const handler = fromHandler({ ...base, name: "t", category: "file", inputSchema: {}, handler: thrower })
    await expect(run(handler, {})).rejects.toThrow(sentence)
  })

  it("a tool of defineTool, a function and a handler are never opened: {success: false} is their value", async () => {
    for (const value of [
      { success: false },
      { error: "x" },
      { status: "error", error: "x" },
      { success: true, data: 1 },
    ]) {
      const move = defineTool({ ...base, name: "move_file", input: zod, execute: () => value })
      expect(await run(move, {})).toEqual(value)
      expect(
        await run(
          fromFunction(() => value, { ...base, name: "t", input: zod }),
          {},
        ),
      ).toEqual(value)
      const handler = fromHandler({ ...base, name: "t", category: "file", inputSchema: {}, handler: () => value })
      expect(await run(handler, {})).toEqual(value)
    }
  })

  it("the five signatures become execute(input, context)", async () => {
    const seen: unknown[][] = []
    const note = (...args: unknown[]) => void seen.push(args)
    class Noting extends Told {
      override async execute(...args: unknown[]) {
        note(...args)
        return { success: true }
      }
    }
    const module = { name: "m", getToolDefinitions: () => [definition], executeToolCall: note }
    const execute = async (...args: unknown[]) => {
      note(...args)
      return { success: true }
    }
    const input = { a: 1 }
    await run(fromModule(module)[0]!, input)
    await run(fromDefinition({ definition, execute: note }, { group }), input)
    await run(fromHandler({ ...base, name: "t", category: "file", inputSchema: {}, handler: note }), input)
    await run(fromBaseTool(new Noting(), { group }), input)
    await run(fromResultTool({ ...base, name: "t", category: "custom", parameters: zod, execute }, { group }), input)
    await run(fromFunction(note, { ...base, name: "t", input: zod }), input)
    const [[moduleContext, ...moduleRest], ...others] = seen as [unknown[], ...unknown[][]]
    expect(moduleContext).toMatchObject({ taskId: "test" })
    expect(moduleRest).toEqual(["t", input])
    expect(others).toEqual([[input], [input, minimal], [input], [input, minimal], [input, minimal]])
  })

  it("every schema language says the same to the model and judges the same", () => {
    const parameter = { name: "path", type: "string", description: "Where.", required: true } as const
    class Listed extends Told {
      override readonly parameters = [parameter]
    }
    const json = {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    }
    const inputs: SchemaSource<never>[] = [z.object({ path: z.string() }) as never, json, [parameter]]
    const tools = [
      ...inputs.map((input) => defineTool({ ...base, name: "t", input, execute: () => null })),
      fromHandler({ ...base, name: "t", category: "file", inputSchema: { path: "string" }, handler: () => null }),
      fromHandler({ ...base, name: "t", category: "file", inputSchema: json, handler: () => null }),
      fromBaseTool(new Listed(), { group }),
      fromDefinition(
        { definition: { ...definition, function: { ...definition.function, parameters: json } }, execute: () => null },
        { group },
      ),
    ]
    for (const tool of tools) {
      expect(tool.input.json).toMatchObject({
        type: "object",
        properties: { path: { type: "string" } },
        required: ["path"],
      })
      expect(tool.input.check({ path: "a" })).toEqual({ ok: true, value: { path: "a" } })
      expect(problemsOf(tool, { path: 1, paht: "a" }).sort()).toEqual([
        "Parameter 'path' expected string, got number",
        "Unknown parameter 'paht'. Did you mean 'path'?",
      ])
    }
  })

  it("a JSON Schema takes other parameters unless it refuses them; a Zod object drops them, a strict one refuses", () => {
    const properties = { path: { type: "string" } }
    const given = { path: "a", more: 1 }
    const checked = (input: unknown) => {
      const result = defineHostTool({ ...base, name: "t", input: input as never, execute: () => null }).input.check(
        given,
      )
      return result.ok ? result.value : result.problems
    }
    const refused = ["Unknown parameter 'more'. It takes: path."]
    expect(checked({ type: "object", properties })).toEqual(given)
    expect(checked({ type: "object", properties, additionalProperties: false })).toEqual(refused)
    expect(checked(z.object({ path: z.string() }))).toEqual({ path: "a" })
    expect(checked(z.strictObject({ path: z.string() }))).toEqual(refused)
    const asked = fromFunctionDefinition(
      {
        type: "function",
        function: { name: "t", description: "T.", parameters: { type: "object", properties } },
        execute: () => null,
      },
      { group },
    )
    expect(asked.input.check(given)).toEqual({ ok: true, value: given })
  })

  it("gives no effect, so that its tool is sensitive unless somebody says otherwise", () => {
    const module = { name: "m", getToolDefinitions: () => [definition], executeToolCall: () => null }
    const execute = async () => ({ success: true })
    const handler = { ...base, name: "t", category: "file", inputSchema: {}, handler: () => null } as const
    const result = { ...base, name: "t", category: "custom", parameters: zod, execute } as const
    const plain = { ...base, name: "t", input: zod }
    const make = (options: { effect?: "read" }) => [
      fromBaseTool(new Told(), { group, ...options }),
      fromModule(module, options)[0]!,
      fromHandler({ ...handler, ...options }),
      fromFunction(() => null, { ...plain, ...options }),
      fromDefinition({ definition, execute: () => null }, { group, ...options }),
      fromResultTool(result, { group, ...options }),
    ]
    for (const { effect, permission } of make({})) expect([effect, permission.level]).toEqual([undefined, "sensitive"])
    for (const { permission } of make({ effect: "read" })) expect(permission.level).toBe("public")
  })

  it("a mistake in a foreign tool is a sentence that names it", () => {
    const nameless = { ...definition, function: { ...definition.function, name: "" } }
    expect(() => fromDefinition({ definition: nameless, execute: () => null }, { group })).toThrow(
      'The tool "" cannot be',
    )
    expect(() => fromBaseTool(new Told(), { group: "" })).toThrow('The tool "told" cannot be defined: it needs a group')
  })
})
