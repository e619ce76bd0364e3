import { resultOrThrow } from "../../core/errors.ts"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createQuartermaster } from "../../app/create-app.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { ToolContext } from "../../core/tool.ts"
import { dataTools } from "./index.ts"

const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
let system: Quartermaster
beforeAll(async () => void (system = await createQuartermaster({ data: { dir } })))
afterAll(async () => {
  await system.close()
  rmSync(dir, { recursive: true, force: true })
})

const call = (tool: string, input: unknown) => system.call({ agentId: "operator", tool, input })

/** Runs a tool without the app, with the little context S4 asks for. */
function direct(name: string, input: unknown): unknown {
  const found = dataTools().find((tool) => tool.name === name)!
  return found.execute(input, { taskId: "t1" } as ToolContext)
}

test("the data tools do nothing to the world and stand in the group data", () => {
  const rows = system.listGroups().filter(({ id }) => id === "data")
  expect(rows).toMatchObject([{ tools: ["json_parse", "json_stringify", "base64_encode", "base64_decode"] }])
  for (const { effect, permission } of dataTools()) expect([effect, permission.level]).toEqual(["none", "public"])
})

test.each([
  ['{"a":[1,null,"é"]}', { a: [1, null, "é"] }],
  ["1", 1],
  ['"汉字 🎉"', "汉字 🎉"],
  ["null", null],
  [" [ ] ", []],
  ["-0.5e3", -500],
])("json_parse reads %s", async (text, data) => {
  expect(await call("json_parse", { text })).toMatchObject({ success: true, result: { data } })
  expect(direct("json_parse", { text })).toEqual({ data })
})

test.each(["", "{", "{a: 1}", "[1,]", "undefined", "NaN", "'a'", "\u00001", "1 2"])(
  "json_parse says that %j is not JSON",
  async (text) => {
    expect(await call("json_parse", { text })).toMatchObject({
      code: "tool_failed",
      error: expect.stringMatching(/^The text is not JSON: .* Correct it and call again\.$/s),
      metadata: { toolCode: "invalid_json" },
    })
  },
)

test("json_parse of a name that reaches prototypes changes no prototype", async () => {
  const { result } = await call("json_parse", { text: '{"__proto__":{"polluted":true}}' })
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
  expect(Object.getPrototypeOf((result as { data: object }).data)).toBe(Object.prototype)
})

test("json_parse of something too deep to be written ends with a sentence", async () => {
  const text = "[".repeat(50_000) + "]".repeat(50_000)
  expect(await call("json_parse", { text })).toMatchObject({
    code: "output_invalid",
    error: expect.stringContaining("cannot be written as JSON"),
  })
})

test.each([
  [{ data: { b: 1, a: ["é"] } }, '{"b":1,"a":["é"]}'],
  [{ data: null }, "null"],
  [{ data: "line\n" }, '"line\\n"'],
  [{ data: { a: 1 }, pretty: true }, '{\n  "a": 1\n}'],
  [{ data: { a: 1 }, pretty: false }, '{"a":1}'],
])("json_stringify writes %j", async (input, text) => {
  expect(await call("json_stringify", input)).toMatchObject({ success: true, result: { text } })
  expect(direct("json_stringify", input)).toEqual({ text })
})

test("law: JSON is the same after json_stringify and json_parse", async () => {
  const some = fc.record({ data: fc.jsonValue({ stringUnit: "binary", maxDepth: 5 }), pretty: fc.boolean() })
  const unfit = (value: unknown) => JSON.stringify(value).includes('"__proto__":')
  await fc.assert(
    fc.asyncProperty(some, async (input) => {
      fc.pre(!unfit(input.data))
      const text = resultOrThrow(await system.call({ agentId: "operator", tool: "json_stringify", input })) as {
        text: string
      }
      const back = resultOrThrow(
        await system.call({
          agentId: "operator",
          tool: "json_parse",
          input: text,
        }),
      ) as { data: unknown }
      expect(back.data).toEqual(JSON.parse(JSON.stringify(input.data)))
    }),
  )
})

test.each([
  ["", ""],
  ["hello", "aGVsbG8="],
  ["中文", "5Lit5paH"],
  ["🎉\u0000\r\n", "8J+OiQANCg=="],
  ["\ufeffbom", "77u/Ym9t"],
])("base64 of %j is UTF-8 safe both ways", async (text, encoded) => {
  expect(await call("base64_encode", { text })).toMatchObject({ success: true, result: { encoded } })
  expect(await call("base64_decode", { encoded })).toMatchObject({ success: true, result: { decoded: text } })
  expect(direct("base64_encode", { text })).toEqual({ encoded })
  expect(direct("base64_decode", { encoded })).toEqual({ decoded: text })
})

test("law: any text is the same after base64_encode and base64_decode", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      const encoded = resultOrThrow(
        await system.call({
          agentId: "operator",
          tool: "base64_encode",
          input: { text },
        }),
      ) as { encoded: string }
      const decoded = resultOrThrow(await system.call({ agentId: "operator", tool: "base64_decode", input: encoded }))
      expect(decoded).toEqual({ decoded: text })
    }),
  )
})

test("law: a text that is half a character is refused instead of mangled", () => {
  const someText = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units))
  const halfToo = fc.oneof(
    someText,
    fc
      .tuple(someText, fc.integer({ min: 0xd800, max: 0xdfff }))
      .map(([text, half]) => text + String.fromCharCode(half)),
  )
  fc.assert(
    fc.property(halfToo, (text) => {
      let encoded: { encoded: string }
      try {
        encoded = direct("base64_encode", { text }) as typeof encoded
      } catch (error) {
        expect(error).toMatchObject({ toolCode: "not_text" })
        expect(Buffer.from(text).toString()).not.toBe(text)
        return
      }
      expect(direct("base64_decode", encoded)).toEqual({ decoded: text })
    }),
  )
})

test.each([
  ["URL-safe", "8J-OiQ", "🎉"],
  ["without padding", "aGVsbG8", "hello"],
  ["broken into lines", "aGVs\r\nbG8=\n", "hello"],
])("base64_decode reads what is %s", async (_what, encoded, decoded) => {
  expect(await call("base64_decode", { encoded })).toMatchObject({ result: { decoded } })
})

test.each([
  ["is not Base64", "aGVs!bG8=", "invalid_base64"],
  ["is cut off", "aGVsb", "invalid_base64"],
  ["has padding in the middle", "aG=sbG8=", "invalid_base64"],
  ["has too much padding", "aGVsbG8===", "invalid_base64"],
  ["has letters of another alphabet", "áGVsbG8=", "invalid_base64"],
  ["is no UTF-8 text", "/+8=", "not_text"],
  ["is half of a character", "8J+O", "not_text"],
])("base64_decode refuses what %s, with a sentence", async (_what, encoded, toolCode) => {
  const result = await call("base64_decode", { encoded })
  expect(result).toMatchObject({ code: "tool_failed", metadata: { toolCode } })
  expect(result.error).toMatch(/^The .*\. .*\.$/)
})

test.each([
  ["json_parse", {}, "Missing required parameter: text"],
  ["json_parse", { text: 1 }, "Parameter 'text' expected string, got number"],
  ["json_parse", { text: "1", texts: "2" }, "Unknown parameter 'texts'. Did you mean 'text'?"],
  ["json_stringify", {}, "Parameter 'data' is required"],
  ["json_stringify", { data: 1, pretty: "yes" }, "Parameter 'pretty' expected boolean, got string"],
  ["base64_encode", { text: null }, "Parameter 'text' expected string, got null"],
  ["base64_decode", [], "Parameter 'input' expected object, got array"],
])("%s with %j is told what is wrong", async (tool, input, problem) => {
  expect(await call(tool, input)).toMatchObject({ code: "invalid_arguments", metadata: { problems: [problem] } })
})

test("the tools show a model what they need", () => {
  const required = Object.fromEntries(dataTools().map(({ name, input }) => [name, input.json["required"]]))
  expect(required).toEqual({
    json_parse: ["text"],
    json_stringify: ["data"],
    base64_encode: ["text"],
    base64_decode: ["encoded"],
  })
})
