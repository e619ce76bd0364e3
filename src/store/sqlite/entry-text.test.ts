import fc from "fast-check"
import { expect, test } from "vitest"
import type { AuditEntry } from "../../core/audit-entry.ts"
import { entryText } from "./entry-text.ts"

const word = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.constantFrom("operator", '{"a":1}', "back\\slash"))
const time = fc.integer({ min: 0 })
const optional = (value: fc.Arbitrary<string>) => fc.option(value, { nil: undefined })
const reasons = fc.option(fc.array(fc.record({ check: word, source: word, sentence: word }), { maxLength: 2 }), {
  nil: undefined,
})
const facts = {
  callId: word, at: time, agentId: word, role: optional(word), tool: word, version: optional(word), layer: optional(word), sessionId: word,
  taskId: optional(word), userId: optional(word), parentCallId: optional(word), traceId: optional(word), key: optional(word), input: optional(word),
  inputDigest: optional(word), policy: optional(word), reasons,
} // prettier-ignore

test("law: the text of an entry equals JSON.stringify, whatever its fields contain", () => {
  const start = fc.record({ kind: fc.constant("start" as const), ...facts })
  const end = fc.record({
    kind: fc.constant("end" as const),
    ...facts,
    status: fc.constantFrom("success" as const, "error" as const),
    code: fc.constantFrom(undefined, "timeout" as const),
    startedAt: time,
    durationMs: time,
    error: optional(word),
    result: optional(word),
    resultDigest: optional(word),
    resultLength: fc.option(time, { nil: undefined }),
    ran: fc.boolean(),
  })
  const step = fc.record({
    kind: fc.constantFrom("asked" as const, "note" as const),
    callId: word,
    at: time,
    agentId: optional(word),
    tool: optional(word),
    text: optional(word),
    by: optional(word),
  })
  fc.assert(
    fc.property(fc.oneof(start, end, step), (entry) => {
      expect(JSON.parse(entryText(entry as AuditEntry))).toEqual(JSON.parse(JSON.stringify(entry)))
    }),
    { numRuns: 1000 },
  )
})
