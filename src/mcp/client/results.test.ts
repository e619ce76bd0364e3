import fc from "fast-check"
import { expect, test } from "vitest"
import { Ending, ToolFailure } from "../../model/ending.ts"
import { completionValue, largestResult, promptValue, resourceValue, toolValue } from "./results.ts"

const ending = (act: () => unknown) => {
  try {
    act()
  } catch (error) {
    if (error instanceof Ending) return `${error.code}: ${error.message}`
    throw error
  }
  return "fine"
}

test("[C-26] nothing of what a server sends is lost, whatever is in it", () => {
  const text = fc.string()
  const extra = fc.dictionary(fc.constantFrom("annotations", "_meta", "x"), fc.jsonValue())
  const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"))
  const resource = fc.oneof(fc.record({ uri: text, text }), fc.record({ uri: text, blob: base64, mimeType: text }))
  const part = fc
    .tuple(
      extra,
      fc.oneof(
        fc.record({ type: fc.constant("text"), text }),
        fc.record({ type: fc.constantFrom("image", "audio"), data: base64, mimeType: text }),
        fc.record({ type: fc.constant("resource"), resource }),
        fc.record({ type: fc.constant("resource_link"), uri: text, name: text }),
      ),
    )
    .map(([more, content]) => ({ ...more, ...content }))
  const result = fc.record(
    { content: fc.array(part, { maxLength: 5 }), structuredContent: fc.jsonValue(), _meta: extra },
    { requiredKeys: ["content"] },
  )
  fc.assert(
    fc.property(result, (raw) => {
      expect(toolValue("t", raw)).toEqual(raw)
      try {
        toolValue("t", { ...raw, isError: true })
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(ToolFailure)
        const { content, structuredContent } = raw
        const kept = structuredContent === undefined ? { content } : { content, structuredContent }
        expect((error as ToolFailure).metadata).toEqual(kept)
      }
    }),
    { numRuns: 200 },
  )
})

test.each([
  ["no object", "text", "no object"],
  ["a list", [], "no object"],
  ["a part that is no object", { content: [null] }, "part 0 is no object"],
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
])("%s is no result of a tool", (_what, raw, sentence) => {
  expect(ending(() => toolValue("mcp:box:t", raw))).toMatch(
    /^output_invalid: mcp:box:t returned .* The tool may have run/,
  )
  expect(ending(() => toolValue("mcp:box:t", raw))).toContain(sentence)
})

test("a result without content is an empty one, and one that is too large is refused", () => {
  expect(toolValue("t", {})).toEqual({ content: [] })
  expect(toolValue("t", { structuredContent: [1] })).toEqual({ content: [], structuredContent: [1] })
  const half = { type: "text", text: "x".repeat(largestResult / 2) }
  expect(ending(() => toolValue("t", { content: [half, half] }))).toBe("fine")
  expect(ending(() => toolValue("t", { content: [half, half, { type: "text", text: "x" }] }))).toContain("are the most")
})

test("a long error is cut for the model and kept whole beside it", () => {
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
] as const)("a %s is handed on as it came, or refused", (_what, value, good, bad) => {
  expect(value("p", good)).toBe(good)
  expect(ending(() => value("p", bad))).toMatch(/^output_invalid: p returned/)
})
