import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import type { JsonSchema } from "../core/schema.ts"
import type { Tool, ToolSpec } from "../core/tool.ts"
import { toLLMTools, type LLMFormat, type McpTool } from "./formats.ts"
import type { ToolDefinition } from "./groups.ts"
import { wireName, WireNames } from "./wire-names.ts"

const make = (name: string, rest: Partial<ToolSpec> = {}): Tool =>
  defineTool({ name, description: `Does ${name}.`, group: "test", input: z.object({}), execute: () => null, ...rest })

const given = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, default: "x" },
    tree: { $ref: "#/$defs/node" },
    tags: { type: "array", items: { enum: ["a", 1, null] } },
  },
  required: ["query"],
  additionalProperties: false,
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
}
const parameters = [
  { name: "path", type: "string", description: "Where.", required: true },
  { name: "mode", type: "string", description: "How.", required: false, enum: ["fast", "safe"], default: "safe" },
  { name: "files", type: "array", description: "What.", required: false },
] as const
const long = `long_${"n".repeat(95)}`

const zodTool = make("zod_tool", {
  title: "The Zod tool",
  effect: "read",
  idempotent: true,
  input: z.object({
    path: z.string().describe("Where."),
    depth: z.int().min(1).default(3),
    names: z.array(z.string()),
  }),
  output: z.object({ content: z.string() }),
})
const jsonTool = make("json_tool", { effect: "network", input: given })
const listTool = make("list_tool", { effect: "write", input: parameters })
const mcpTool = make("mcp:github:search", { input: { type: "object" } })
const longTool = make(long, { effect: "communicate", output: z.string() })
const tools = [zodTool, mcpTool, longTool, listTool, jsonTool]
const names = new WireNames(tools.map((tool) => tool.name))

const schemas: Record<string, JsonSchema> = {
  zod_tool: {
    type: "object",
    properties: {
      path: { type: "string", description: "Where." },
      depth: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 3 },
      names: { type: "array", items: { type: "string" } },
    },
    required: ["path", "names"],
    additionalProperties: false,
  },
  json_tool: given,
  list_tool: {
    type: "object",
    properties: {
      path: { type: "string", description: "Where." },
      mode: { type: "string", description: "How.", enum: ["fast", "safe"], default: "safe" },
      files: { type: "array", description: "What.", items: {} },
    },
    required: ["path"],
    additionalProperties: false,
  },
  "mcp:github:search": { type: "object", properties: {} },
  [long]: { type: "object", properties: {}, additionalProperties: false },
}

type Label = { name: string; description: string }

/** The form of one tool in each format. */
const forms: [LLMFormat, (label: Label, schema: JsonSchema) => object][] = [
  ["openai", (label, schema) => ({ type: "function", function: { ...label, parameters: schema } })],
  ["openai-responses", (label, schema) => ({ type: "function", ...label, parameters: schema, strict: false })],
  ["anthropic", (label, schema) => ({ ...label, input_schema: schema })],
  ["gemini", (label, schema) => ({ ...label, parametersJsonSchema: schema })],
  ["flat", (label, schema) => ({ ...label, parameters: schema })],
]
const listed = (all: readonly Tool[], format: LLMFormat): readonly object[] =>
  format === "gemini"
    ? toLLMTools(all, format, names).flatMap((one) => one.functionDeclarations)
    : toLLMTools(all, format, names)

describe.each(forms)("the format %s", (format, form) => {
  it.each(tools.map((tool) => [tool.name, tool] as const))("%s looks as the provider wants it", (name, tool) => {
    const expected = form({ name: wireName(name), description: `Does ${name}.` }, schemas[name] ?? {})
    expect(listed([tool], format)).toStrictEqual([expected])
  })

  it("all tools are there, sorted by name, whatever order they came in", () => {
    const sorted = ["github__search", "json_tool", "list_tool", wireName(long), "zod_tool"]
    const found = listed(tools, format).map((one) => ("function" in one ? (one as ToolDefinition).function : one))
    expect(found.map((one) => (one as Label).name)).toEqual(sorted)
    expect(toLLMTools(tools.toReversed(), format, names)).toStrictEqual(toLLMTools(tools, format, names))
  })

  it("no tools make an empty list", () => {
    expect(toLLMTools([], format, names)).toEqual([])
  })
})

describe("gemini", () => {
  it("one element holds all functions", () => {
    expect(toLLMTools(tools, "gemini", names).map((one) => one.functionDeclarations.length)).toEqual([5])
  })
})

describe("mcp", () => {
  const shown = new Map(toLLMTools(tools, "mcp", names).map((one) => [one.name, one]))

  it("a tool has its title, its schemas and its hints", () => {
    expect(shown.get("zod_tool")).toStrictEqual({
      name: "zod_tool",
      title: "The Zod tool",
      description: "Does zod_tool.",
      inputSchema: schemas["zod_tool"],
      outputSchema: zodTool.output?.json,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    })
    expect([...shown.keys()]).toEqual([...shown.keys()].sort())
  })

  it("what a tool does not have is not there, and an output that is no object is not announced", () => {
    expect(Object.keys(shown.get("json_tool") ?? {})).toEqual(["name", "description", "inputSchema", "annotations"])
    expect(shown.get(wireName(long))).not.toHaveProperty("outputSchema")
    expect(shown.get("json_tool")?.inputSchema).toBe(given)
  })

  it.each<[Tool["effect"], string]>([
    ["none", "readOnlyHint"],
    ["read", "readOnlyHint"],
    ["write", "destructiveHint"],
    ["execute", "destructiveHint"],
    ["network", "destructiveHint openWorldHint"],
    ["communicate", "openWorldHint"],
    [undefined, "destructiveHint openWorldHint"],
  ])("the effect %s says: %s", (effect, hints) => {
    const tool = make("zod_tool", effect === undefined ? {} : { effect })
    const annotations = toLLMTools([tool], "mcp", names)[0]?.annotations ?? {}
    const said = Object.entries(annotations).flatMap(([hint, holds]) => (holds ? [hint] : []))
    expect(said.join(" ")).toBe(hints)
    expect(Object.keys(annotations)).toHaveLength(4)
    const destructive = toLLMTools([make("zod_tool", { destructive: true })], "mcp", names)
    expect(destructive[0]?.annotations.destructiveHint).toBe(true)
  })
})

describe("every format", () => {
  const formats = fc.constantFrom<LLMFormat>("openai", "openai-responses", "anthropic", "gemini", "mcp", "flat")

  it("a parameter list keeps its default, its enum and no undefined, and its arrays have items", () => {
    const [tool] = toLLMTools([listTool], "flat", names)
    expect(JSON.parse(JSON.stringify(tool))).toStrictEqual(tool)
    expect(tool?.parameters).toStrictEqual(schemas["list_tool"])
  })

  it("names never collide, whatever servers offer the same tool", () => {
    const offered = ["mcp:a:search", "mcp:b:search", "search", "a__search", "mcp:a:b:c", "mcp:a:b.c"]
    const same = offered.map((name) => make(name))
    const map = new WireNames(same.map((tool) => tool.name))
    const wires = toLLMTools(same, "flat", map).map((tool) => tool.name)
    expect(new Set(wires).size).toBe(same.length)
    expect(wires.map((wire) => map.fromWire(wire)).sort()).toEqual(same.map((tool) => tool.name).sort())
  })

  it("the order of the tools changes nothing, and neither list nor schema is touched", () => {
    const orders = fc.shuffledSubarray(tools, { minLength: tools.length })
    const law = fc.property(formats, orders, (format, order) => {
      const before = [...order]
      expect(JSON.stringify(toLLMTools(order, format, names))).toBe(JSON.stringify(toLLMTools(tools, format, names)))
      expect(order).toEqual(before)
    })
    fc.assert(law, { numRuns: 200 })
    expect(mcpTool.input.json).toEqual({ type: "object" })
  })

  it("a tool that has no wire name is a mistake said aloud", () => {
    for (const format of ["openai", "mcp"] as const) {
      expect(() => toLLMTools([make("stranger")], format, names)).toThrow("has no wire name")
    }
  })

  it("the type follows the format", () => {
    expectTypeOf(toLLMTools(tools, "openai", names)).toEqualTypeOf<ToolDefinition[]>()
    expectTypeOf(toLLMTools(tools, "mcp", names)).toEqualTypeOf<McpTool[]>()
    expectTypeOf(toLLMTools(tools, "anthropic", names)[0]!.input_schema).toEqualTypeOf<JsonSchema>()
    expectTypeOf(toLLMTools(tools, "gemini", names)[0]!.functionDeclarations).toBeArray()
    expectTypeOf(toLLMTools(tools, "openai-responses", names)[0]!.strict).toEqualTypeOf<false>()
    // @ts-expect-error there is no such format
    expect(() => toLLMTools(tools, "xml", names)).toThrow()
  })
})
