import { expect, test } from "vitest"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { addressOf, callName, toolAt } from "./tool-address.ts"

const tool = (name: string, version: string, layer = "system") => ({ name, version, layer }) as ToolInfo
const tools = [
  tool("bake", "1.9.0"),
  tool("bake", "1.10.0"),
  tool("bake", "2.0.0", "department:sales"),
  tool("read", "1.0.0"),
]

test("every tool of the list can be chosen by its address", () => {
  for (const each of tools) expect(toolAt(tools, addressOf(each, tools))).toBe(each)
})

test("only what tells tools of one name apart is in the address", () => {
  expect(tools.map((each) => addressOf(each, tools))).toEqual([
    { tool: "bake", version: "1.9.0", layer: "system" },
    { tool: "bake", version: "1.10.0", layer: "system" },
    { tool: "bake", version: "2.0.0", layer: "department:sales" },
    { tool: "read" },
  ])
})

test("a name alone means the newest of the layer system, and an unknown one means none", () => {
  expect(toolAt(tools, { tool: "bake" })).toBe(tools[1])
  expect(toolAt(tools, { tool: "bake", version: "3.0.0" })).toBeUndefined()
  expect(toolAt(tools, {})).toBeUndefined()
})

test("a tool with several versions is called with its version", () => {
  expect(tools.map((each) => callName(each, tools))).toEqual(["bake@1.9.0", "bake@1.10.0", "bake@2.0.0", "read"])
})
