import fc from "fast-check"
import { ToolGroupManager } from "../groups.ts"
import type { ToolDefinition } from "../groups.ts"

export const toolDefinition = (name: string, description = `Does ${name}.`): ToolDefinition => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties: {} } },
})
export const emptyGroups = () => new ToolGroupManager({ registerBuiltins: false })
export const nameOf = (definition: ToolDefinition) => definition.function.name

/** Small pools, so that ids meet, tools are shared and prototype names are common. */
export const someGroupId = fc.constantFrom(
  "a",
  "b",
  "ab",
  "a_",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
)
export const someToolName = fc.constantFrom(
  "a",
  "read",
  "read_",
  "Read",
  "write",
  "__proto__",
  "constructor",
  "toString",
)
export const someToolDefinitions = fc
  .array(fc.tuple(someToolName, fc.string()), { maxLength: 6 })
  .map((all) => all.map((one) => toolDefinition(...one)))
export const someGroupDefinition = fc.record({ description: fc.string(), tools: someToolDefinitions })
