import { expect, test } from "vitest"
import { Ending } from "../core/ending.ts"
import { completionValue, maxResultCharacters, promptValue, resourceValue, toolValue } from "./check-result.ts"

const ending = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof Ending) return `${error.code}: ${error.message}`
    throw error
  }
  return "fine"
}

test.each([
  ["a text", "text", "not an object"],
  ["a list", [], "not an object"],
  ["a part that is not an object", { content: [null] }, "part 0 is not an object"],
  ["a part without a type", { content: [{ text: "a" }] }, "part 0 has the type undefined"],
  ["a sound without a type of its own", { content: [{ type: "audio", data: "AAAA" }] }, "a sound without a mimeType"],
  [
    "data that is long and wrong at its end",
    { content: [{ type: "image", data: `${" ".repeat(1_000_000)}!`, mimeType: "i" }] },
    "not in base64",
  ],
  ["an image that is no data", { content: [{ type: "image", data: 5, mimeType: "i" }] }, "not in base64"],
  ["a resource without an address", { content: [{ type: "resource", resource: { text: "a" } }] }, "without a uri"],
  ["a resource with nothing", { content: [{ type: "resource", resource: { uri: "a" } }] }, "neither text nor blob"],
  ["a link without a name", { content: [{ type: "resource_link", uri: "a" }] }, "without a name"],
  [
    "too many parts",
    { content: Array.from({ length: 10_001 }, () => ({ type: "text", text: "" })) },
    "10000 are the most",
  ],
])("%s is not a valid result", (_what, raw, sentence) => {
  expect(ending(() => toolValue("mcp:box:t", raw))).toMatch(
    /^output_invalid: mcp:box:t returned .* The tool may have run/,
  )
  expect(ending(() => toolValue("mcp:box:t", raw))).toContain(sentence)
})

test("a result without content is empty, and one that is too large is refused", () => {
  expect(toolValue("t", {})).toEqual({ content: [] })
  expect(toolValue("t", { structuredContent: [1] })).toEqual({ content: [], structuredContent: [1] })
  const half = { type: "text", text: "x".repeat(maxResultCharacters / 2) }
  expect(ending(() => toolValue("t", { content: [half, half] }))).toBe("fine")
  expect(ending(() => toolValue("t", { content: [half, half, { type: "text", text: "x" }] }))).toContain("are the most")
})

test("a long error is cut for the model and complete in the metadata", () => {
  const content = [{ type: "text", text: "x".repeat(40_000) }]
  expect(() => toolValue("t", { content, isError: true })).toThrow(
    expect.objectContaining({ message: "x".repeat(30_000), metadata: { content } }),
  )
})

test.each([
  ["resource", resourceValue, { contents: [{ uri: "a", text: "b" }], ttlMs: 5 }, { contents: [{ uri: "a" }] }],
  [
    "prompt",
    promptValue,
    { messages: [{ role: "user", content: { type: "text", text: "a" } }], description: "d" },
    { messages: [{ role: "user", content: { type: "text" } }] },
  ],
  ["prompt without content", promptValue, { messages: [] }, { messages: [{ role: "user" }] }],
  ["prompt without a role", promptValue, { messages: [] }, { messages: [{ content: { type: "text", text: "a" } }] }],
  ["completion", completionValue, { completion: { values: ["a"], hasMore: true } }, { completion: { values: [5] } }],
  ["completion of nothing", completionValue, { completion: { values: [] } }, {}],
  ["resource of nothing", resourceValue, { contents: [] }, { contents: {} }],
  ["prompt of nothing", promptValue, { messages: [] }, null],
] as const)("a %s is passed on unchanged, or refused", (_what, value, good, bad) => {
  expect(value("p", good)).toBe(good)
  expect(ending(() => value("p", bad))).toMatch(/^output_invalid: p returned/)
})
