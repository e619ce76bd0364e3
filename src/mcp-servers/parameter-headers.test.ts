import { expect, test } from "vitest"
import { headerFlaw } from "./parameter-headers.ts"

const tool = (properties: object, more: object = {}) => ({
  name: "t",
  inputSchema: { type: "object", properties, ...more },
})
const region = { type: "string", "x-mcp-header": "Region" }

test.each([
  ["no header", tool({ a: { type: "string" } })],
  ["a header", tool({ a: region })],
  [
    "several, at any depth of properties",
    tool({ a: region, b: { type: "object", properties: { c: { type: "boolean", "x-mcp-header": "Flag" } } } }),
  ],
  ["a property with the name of the key", tool({ "x-mcp-header": { type: "string" }, a: region })],
])("a tool with %s is taken", (_, definition) => {
  expect(headerFlaw(definition)).toBeUndefined()
})

test.each([
  ["an empty name", tool({ a: { type: "string", "x-mcp-header": "" } }), /an invalid header name/],
  ["a name with a space", tool({ a: { type: "string", "x-mcp-header": "My Region" } }), /an invalid header name/],
  ["a name with a line end", tool({ a: { type: "string", "x-mcp-header": "A\r\nB" } }), /an invalid header name/],
  ["a name that is no text", tool({ a: { type: "string", "x-mcp-header": 7 } }), /an invalid header name/],
  ["a number", tool({ a: { type: "number", "x-mcp-header": "A" } }), /no string, integer or boolean/],
  ["an object", tool({ a: { type: "object", "x-mcp-header": "A" } }), /no string, integer or boolean/],
  ["one name twice", tool({ a: region, b: { type: "string", "x-mcp-header": "REGION" } }), /twice for REGION/],
  ["one at the root", tool({}, { "x-mcp-header": "A" }), /where no property is/],
  ["one among items", tool({ a: { type: "array", items: region } }), /where no property is/],
  ["one in a choice", tool({}, { oneOf: [{ properties: { a: region } }] }), /where no property is/],
  ["one in a definition", tool({}, { $defs: { a: region } }), /where no property is/],
])("a tool with %s is left out", (_, definition, why) => {
  expect(headerFlaw(definition)).toMatch(why)
})
