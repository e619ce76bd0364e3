import fc from "fast-check"
import { expect, test } from "vitest"
import {
  endings,
  failedWith,
  type EndedCall,
  type EndingCode,
  type Ticket,
  type ToolResult,
} from "../../core/result.ts"
import { faultOf } from "./errors.ts"
import { callResult, ticketResult, type AnnouncedTool } from "./call-result.ts"
import { textOf } from "./testing.ts"

const base = { callId: "c1", toolName: "probe", version: "1.0.0", startedAt: 0 }
const success = (result: unknown, more: Partial<EndedCall> = {}): ToolResult => ({
  ...base,
  status: "success",
  success: true,
  result,
  ...more,
})
const ended = (code: EndingCode, more: object = {}) =>
  Object.assign(failedWith(code, `It ended ${code}.`, { ...base, metadata: { ran: false } }), more)
const mcp: AnnouncedTool = { isMcp: true }
const promised: AnnouncedTool = { isMcp: true, outputSchema: { type: "object", required: ["a"] } }

test.each(Object.keys(endings) as EndingCode[])(
  "the ending %s is either a JSON-RPC error or a result that says so",
  (code) => {
    const result = ended(code)
    if (code === "unknown_tool") {
      expect(faultOf(result)).toEqual({ code: -32_602, message: "It ended unknown_tool." })
      return
    }
    expect(faultOf(result)).toBeUndefined()
    const converted = callResult(result, undefined)
    expect(converted.isError).toBe(true)
    expect(textOf(converted)).toContain(`It ended ${code}.`)
    expect(textOf(converted)).toMatch(
      code === "result_withheld" ? /^The tool ran, but its result is withheld/ : /^NOT EXECUTED/,
    )
    expect(converted._meta).toEqual({ "quartermaster/ending": { callId: "c1", status: endings[code].status, code } })
  },
)

test("a withheld result is never sent, in any field", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 12 }), fc.boolean(), (text, isMcp) => {
      const secret = `secret:${text}`
      const content = [{ type: "text", text: secret }]
      const result = ended("result_withheld", {
        result: { content, structuredContent: { secret }, _meta: { secret } },
        metadata: { ran: true, content, structuredContent: { secret }, toolCode: "mcp_error" },
      })
      const converted = JSON.stringify(
        callResult(result, isMcp ? promised : { isMcp: false, outputSchema: { type: "object" } }),
      )
      expect(converted).not.toContain(JSON.stringify(secret).slice(1, -1))
    }),
    { numRuns: 100 },
  )
})

test("a rate limit says when to try again", () => {
  const converted = callResult(ended("rate_limited", { metadata: { ran: false, retryAfterMs: 1500 } }), undefined)
  expect(converted._meta).toMatchObject({ "quartermaster/ending": { code: "rate_limited", retryAfterMs: 1500 } })
})

test("a server's value is passed on unchanged, whatever content it has", () => {
  const part = fc.oneof(
    fc.record({ type: fc.constant("text"), text: fc.string({ maxLength: 100 }) }),
    fc.record({ type: fc.constantFrom("image", "audio"), data: fc.base64String(), mimeType: fc.constant("image/png") }),
    fc.record({ type: fc.constant("resource_link"), uri: fc.webUrl(), name: fc.string() }),
    fc.record({ type: fc.constant("resource"), resource: fc.record({ uri: fc.webUrl(), text: fc.string() }) }),
  )
  fc.assert(
    fc.property(
      fc.array(part),
      fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), { nil: undefined }),
      (content, structured) => {
        const value = { content, ...(structured === undefined ? {} : { structuredContent: structured }) }
        expect(callResult(success(value), mcp)).toEqual(value)
      },
    ),
    { numRuns: 100 },
  )
})

test("a server's long texts are cut, its images are not, and the whole result is linked", () => {
  const picture = { type: "image", data: "A".repeat(50_000), mimeType: "image/png" }
  const content = [{ type: "text", text: "a".repeat(20_000) }, picture, { type: "text", text: "b".repeat(20_000) }]
  const converted = callResult(success({ content }, { truncated: { total: 90_000, stored: "art/1" } }), mcp)
  const [first, second, third, link] = converted.content as unknown as { text: string; uri: string }[]
  expect(first).toEqual(content[0])
  expect(second).toEqual(picture)
  expect(third?.text).toBe(`${"b".repeat(10_000)}\n[truncated: 10000 of 20000 characters.]`)
  expect(link?.uri).toBe("qm://artifact/art%2F1")
})

test.each<[string, unknown, string]>([
  ["a text", "replaced", "replaced"],
  ["content that is none", { content: [{ type: "text" }] }, '{"content":[{"type":"text"}]}'],
  ["a piece without its data", { content: [{ type: "image", mimeType: "image/png" }] }, "[image: image/png]"],
  ["nothing", null, "null"],
])("what a person replaced a server's result with, %s, is still a valid result", (_what, value, expected) => {
  const converted = callResult(success(value, { metadata: { redacted: true } }), mcp)
  expect(converted.isError).toBeUndefined()
  expect(textOf(converted)).toBe(expected)
})

const textField = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const optionalNumber = { type: "object", properties: { a: { type: "number" } } }
const changed = { metadata: { redacted: true } }

test.each([
  ["keeps its shape", textField, { a: "[redacted]", b: 1 }, { a: "[redacted]", b: 1 }],
  ["fits without the redacted field", optionalNumber, { a: "[redacted]", b: 1 }, { b: 1 }],
])("a redacted result that %s is no error", (_, outputSchema, value, structuredContent) => {
  const own = callResult(success(value, changed), { isMcp: false, outputSchema })
  expect(own).toMatchObject({ structuredContent })
  expect(own.isError).toBeUndefined()
  const theirs = { content: [{ type: "text", text: "left" }], structuredContent: value }
  const passed = callResult(success(theirs, changed), { isMcp: true, outputSchema })
  expect(passed).toMatchObject({ content: theirs.content, structuredContent })
  expect(passed.isError).toBeUndefined()
})

test.each([promised, { ...promised, isMcp: false }])(
  "a client that knows an output schema is told when a result does not fit it any more (%j)",
  (announced) => {
    const value = announced.isMcp ? { content: [{ type: "text", text: "left" }] } : { left: 1 }
    const converted = callResult(success(value, changed), announced)
    expect(converted.isError).toBe(true)
    expect(textOf(converted)).toContain("left")
    expect(textOf(converted)).toContain("A person changed this result")
  },
)

test.each([true, false])("structured content is cut like the text, and still fits its schema (MCP: %s)", (isMcp) => {
  const outputSchema = {
    type: "object",
    properties: { rows: { type: "array", items: { type: "string" } }, note: { type: "string" } },
    required: ["rows", "note"],
  }
  const structured = { rows: Array.from({ length: 100 }, () => "r".repeat(1000)), note: "n".repeat(1000), more: 1 }
  const value = isMcp ? { content: [{ type: "text", text: "short" }], structuredContent: structured } : structured
  const long = success(value, { truncated: { total: 101_000, stored: "art/1" } })
  const { structuredContent, isError } = callResult(long, { isMcp, outputSchema })
  expect(isError).toBeUndefined()
  const { rows, note } = structuredContent as typeof structured
  expect(rows.slice(0, 29)).toEqual(structured.rows.slice(0, 29))
  expect(JSON.stringify(structuredContent).length).toBeLessThan(32_000)
  expect(note).toContain("[truncated: 0 of 1000 characters.]")
})

test.each<[Ticket["state"], RegExp]>([
  ["waiting", /^NOT EXECUTED YET\. The call waits for a person to approve it\. It waits until 2001-/],
  ["ready", /^NOT EXECUTED YET\. A person has answered/],
  ["held", /^The tool ran, but its result is held back/],
])("a ticket that is %s says so, and how to get the result", (state, words) => {
  const ticket = { callId: "c1", state, until: 1_000_000_000_000 }
  const converted = ticketResult(ticket, "probe")
  expect(textOf(converted)).toMatch(words)
  expect(textOf(converted)).toContain("Call probe again with the same arguments")
  expect(converted).toMatchObject({ isError: true, _meta: { "quartermaster/ticket": ticket } })
  const endless = ticketResult({ ...ticket, until: Infinity }, "probe")
  expect(JSON.parse(JSON.stringify(endless))).toEqual(endless)
})

test("an image in a result is separate content, and its data is in no text", () => {
  const data = Buffer.from("not really an image").toString("base64")
  const value = { content: "An image.", image: { mimeType: "image/png", width: 1, data } }
  const known = { content: "An image.", image: { mimeType: "image/png", width: 1 } }
  const optional = { type: "object", properties: { image: { type: "object", properties: { data: {} } } } }
  const converted = callResult(success(value), { isMcp: false, outputSchema: optional })
  expect(converted).toEqual({
    content: [
      { type: "text", text: JSON.stringify(known) },
      { type: "image", mimeType: "image/png", data },
    ],
    structuredContent: known,
  })
  const required = { type: "object", properties: { image: { type: "object", required: ["data"] } } }
  expect(callResult(success(value), { isMcp: false, outputSchema: required }).structuredContent).toEqual(value)
  for (const image of [null, "x", { data }, { mimeType: "text/html", data }, { mimeType: "image/png", data: 1 }]) {
    expect(callResult(success({ image }), undefined).content).toEqual([
      { type: "text", text: JSON.stringify({ image }) },
    ])
  }
})
