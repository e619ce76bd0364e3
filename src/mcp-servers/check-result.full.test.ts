import fc from "fast-check"
import { expect, test } from "vitest"
import { ToolFailure } from "../core/ending.ts"
import { toolValue } from "./check-result.ts"

test("no part of a server's result is lost, whatever it contains", () => {
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
        const expected = structuredContent === undefined ? { content } : { content, structuredContent }
        expect((error as ToolFailure).metadata).toEqual(expected)
      }
    }),
    { numRuns: 200 },
  )
})
