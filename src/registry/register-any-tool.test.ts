import { describe, expect, it, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../approvals/ask/callback.ts"
import type { ToolParameter } from "../core/schema.ts"
import { openTestApp } from "../testing/test-app.ts"
import { BaseTool, type BaseToolResult } from "./base-tool.ts"
import type { AnyTool } from "./recognise-tool.ts"
import { emptyRegistry } from "./testing/registry.ts"

const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }
const listed: readonly ToolParameter[] = [{ name: "n", type: "number", description: "A number.", required: true }]

abstract class Doubling extends BaseTool {
  readonly description = "Doubles a number."
  readonly parameters = listed
  async execute({ n }: Record<string, unknown>): Promise<BaseToolResult> {
    return { success: true, data: Number(n) * 2, metadata: { source: "table", executionTime: -1, streamed: true } }
  }
}

class Double extends BaseTool {
  readonly name = "double"
  readonly description = "Doubles a number."
  readonly parameters = listed
  override readonly dangerous: boolean = false
  async execute({ n }: Record<string, unknown>): Promise<BaseToolResult> {
    return { success: true, data: Number(n) * 2, metadata: { source: "table", executionTime: -1, streamed: true } }
  }
}

/** A tool of S2, with every field of its interface. */
const beestown = {
  id: "tool-7",
  name: "double",
  description: "Doubles a number.",
  category: "utility",
  type: "builtin",
  inputSchema: { n: "number" },
  outputSchema: { value: "number" },
  permissions: {
    allowedRoles: [],
    allowedDepartments: [],
    minLevel: 0,
    requireConfirmation: false,
    isDangerous: false,
    rateLimit: { maxCallsPerMinute: 100, maxCallsPerHour: 1000 },
  },
  version: "1.0.0",
  author: "bees",
  tags: ["maths"],
  handler: ({ n }: { n: number }) => ({ value: n * 2 }),
} as const satisfies AnyTool

const described = { name: "double", description: "Doubles a number.", parameters }

const forms: [string, AnyTool, unknown][] = [
  ["S0's definition", { type: "function", function: described, execute: ({ n }: { n: number }) => n * 2 }, 4],
  [
    "S1's definition with a permission level",
    {
      definition: { type: "function", function: described, permissionLevel: "public" },
      execute: async ({ n }: { n: number }) => ({ status: "success", data: n * 2 }),
      tags: ["maths"],
    },
    4,
  ],
  ["S2's tool", beestown, { value: 4 }],
  ["S3's BaseTool", new Double(), 4],
  [
    "S4's object",
    {
      name: "double",
      description: "Doubles a number.",
      category: "data",
      parameters: z.object({ n: z.number() }),
      execute: async (params: unknown) => ({
        toolName: "double",
        success: true,
        result: (params as { n: number }).n * 2,
        startedAt: 0,
      }),
    },
    4,
  ],
  [
    "the specification of one of ours",
    {
      name: "double",
      description: "Doubles.",
      input: z.object({ n: z.number() }),
      execute: ({ n }: { n: number }) => n * 2,
    },
    4,
  ],
]

describe("register takes", () => {
  it.each(forms)("%s, in the group custom, and its calls are checked like any other", async (_, form, result) => {
    const approvals = callbackAdapter({ onExecution: () => true })
    const app = await openTestApp({}, { approvals })
    app.registry.register(form)
    expect(app.registry.require("double")).toMatchObject({ group: "custom", type: "custom" })
    const call = (n: unknown) => app.call({ agentId: "operator", tool: "double", input: { n } })
    expect(await call(2)).toMatchObject({ success: true, result })
    expect((await call("2")).code).toBe("invalid_arguments")
  })

  it("all of them through an executor too, with the group its caller gives", async () => {
    const app = await openTestApp()
    const registered = app.executor("operator").register(new Double(), { group: "maths" })
    expect(registered).toMatchObject({ id: "system:double@1.0.0", group: "maths" })
    expect(await app.executor("operator").execute("double", { n: 3 })).toMatchObject({ success: true, result: 6 })
  })
})

describe("without an effect a tool", () => {
  const levelOf = (tool: AnyTool) => emptyRegistry().register(tool).permission.level
  const base = { name: "t", description: "Does.", parameters: [] as const, execute: async () => ({ success: true }) }
  const definition = { type: "function", function: described } as const

  class Unsaid extends Doubling {
    readonly name = "double"
  }
  class Said extends BaseTool {
    readonly name = "double"
    readonly description = "Doubles."
    readonly parameters = listed
    override readonly dangerous: boolean = false
    execute = async () => ({ success: true })
  }
  class Direct extends BaseTool {
    readonly name = "double"
    readonly description = "Doubles."
    readonly parameters = listed
    execute = async () => ({ success: true })
  }
  class Below extends Said {}
  class OwnBase {
    dangerous = false
  }
  class OfOwnBase extends OwnBase {
    name = "double"
    description = "Doubles."
    parameters = listed
    execute = async () => ({ success: true })
  }

  it.each<[string, AnyTool]>([
    ["dangerous: false in the class", new Said()],
    ["dangerous: false in an object", { ...base, dangerous: false }],
    ["isDangerous: false and requireConfirmation: false", beestown],
    ["PUBLIC", { definition: { ...definition, permissionLevel: "public" }, execute: () => 1 }],
  ])("runs unasked when its author wrote %s", (_, tool) => {
    expect(levelOf(tool)).toBe("public")
  })

  it.each<[string, AnyTool]>([
    ["nothing, in a class below BaseTool", new Direct()],
    ["nothing, in a class below another one", new Unsaid()],
    ["nothing, and the class above it says false", new Below()],
    ["nothing, and a base class of its own sets false", new OfOwnBase()],
    ["nothing, and its prototype says false", Object.assign(Object.create({ dangerous: false }) as object, base)],
    ["nothing, in an object", base],
    ["dangerous: true", { ...base, dangerous: true }],
    ["only isDangerous: false", { ...beestown, permissions: { isDangerous: false } }],
    ["only requireConfirmation: false", { ...beestown, permissions: { requireConfirmation: false } }],
    ["requireConfirmation: true", { ...beestown, permissions: { ...beestown.permissions, requireConfirmation: true } }],
    ["no level", { definition, execute: () => 1 }],
    ["a definition of S0", { ...definition, execute: () => 1 }],
  ])("asks every time when its author wrote %s", (_, tool) => {
    expect(levelOf(tool)).toBe("sensitive")
  })

  it("an effect of ours decides where there is one", () => {
    expect(levelOf({ ...base, dangerous: false, effect: "write" } as AnyTool)).toBe("moderate")
    expect(levelOf({ ...beestown, effect: "execute" })).toBe("sensitive")
  })
})

test("what the author of a plugin writes does not make its tools run unasked", async () => {
  const app = await openTestApp()
  await app.plugins.manager.loadPlugin({
    name: "p",
    version: "1.0.0",
    tools: [{ ...beestown, name: "other" }, new Double()],
  })
  expect(app.registry.require("double").permission.level).toBe("sensitive")
  expect(app.registry.require("other").permission.level).toBe("sensitive")
})

test.each<[string, unknown, string]>([
  ["nothing", undefined, "This cannot be registered: it must be a tool, and is undefined."],
  ["a text", "read_file", "This cannot be registered: it must be a tool, and is a text."],
  ["an empty object", {}, "This cannot be registered: it needs a name, a description, an execute function or a handler and a schema in 'input' or 'parameters' (an empty one means no input)."], // prettier-ignore
  ["a definition of S0 without its function", { type: "function", function: described }, "The tool 'double' cannot be registered: it needs an execute function or a handler."], // prettier-ignore
  ["S1's tool without a description", { definition: { function: { name: "a" } }, execute() {} }, "The tool 'a' cannot be registered: it needs a description in 'definition.function'."], // prettier-ignore
  ["S2's tool without a schema", { name: "a", description: "b", handler() {} }, "The tool 'a' cannot be registered: it needs a schema in 'inputSchema' (an empty one means no input)."], // prettier-ignore
  ["a module", { name: "m", getToolDefinitions() {}, executeToolCall() {} }, "The tool 'm' cannot be registered: it is a module. Register its tools with registerMany(fromModule(module))."], // prettier-ignore
])("%s is refused with one sentence that lists what is missing", (_, given, sentence) => {
  const registry = emptyRegistry()
  expect(() => registry.register(given as AnyTool)).toThrow(new TypeError(sentence))
  expect(registry.list()).toEqual([])
})

test("requireResultApproval: true holds every result, in a definition of S1 and in one of ours", async () => {
  const app = await openTestApp()
  const definition = {
    type: "function",
    function: described,
    permissionLevel: "public",
    requireResultApproval: true,
  } as const
  app.registry.register({ definition, execute: () => 1 })
  app.registry.register({
    name: "ours", description: "Does.", effect: "none", input: z.object({}), permission: { requireResultApproval: true }, execute: () => 1,
  }) // prettier-ignore
  for (const [tool, input] of [
    ["double", { n: 1 }],
    ["ours", {}],
  ] as const) {
    expect(await app.call({ agentId: "operator", tool, input }, { waitMs: 0 })).toMatchObject({ state: "held" })
  }
})

test("the metadata of a BaseTool's result is in the result's metadata, but says nothing in our name", async () => {
  const app = await openTestApp()
  app.registry.register(new Double())
  const { result, metadata } = await app.call({ agentId: "operator", tool: "double", input: { n: 2 } })
  expect(result).toBe(4)
  expect(metadata).toEqual({ source: "table", executionTime: expect.any(Number) })
  expect(metadata!["executionTime"]).toBeGreaterThanOrEqual(0)
})

test("metadata of a result that a person must release is left out, because the person does not see it", async () => {
  const config = { tools: { permissions: { double: { requireResultApproval: true } } } }
  const app = await openTestApp(config, { approvals: callbackAdapter({ onResult: () => true }) })
  app.registry.register(new Double())
  const { result, metadata } = await app.call({ agentId: "operator", tool: "double", input: { n: 2 } })
  expect(result).toBe(4)
  expect(metadata).not.toHaveProperty("source")
})
