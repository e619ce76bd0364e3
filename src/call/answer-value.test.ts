import fc from "fast-check"
import { expect, test } from "vitest"
import type { AnswerValue, Question } from "../model/approval.ts"
import { open, tool } from "../testing/open.ts"
import { answerTo } from "./answer-value.ts"
import { leave } from "./testing.ts"

const form = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 20 },
    email: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    colour: {
      type: "string",
      oneOf: [
        { const: "r", title: "Red" },
        { const: "b", title: "Blue" },
      ],
      default: "b",
    },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, maxItems: 2 },
    sure: { type: "boolean", default: false },
  },
  required: ["name"],
}
const asking: Question = { question: "Who are you?", form }
const ofOne = (schema: object): Question => ({ question: "?", form: { type: "object", properties: { only: schema } } })

test.each<[AnswerValue, AnswerValue]>([
  [{ name: "Ada" }, { name: "Ada", colour: "b", sure: false }],
  [
    { name: "Ada", email: "ada@example.com", age: 36, colour: "r", tags: ["a", "c"], sure: true },
    { name: "Ada", email: "ada@example.com", age: 36, colour: "r", tags: ["a", "c"], sure: true },
  ],
])("a form filled in with %j is kept as %j", (given, kept) => expect(answerTo(asking, given)).toEqual({ value: kept }))

test.each<[string, unknown, string]>([
  ["a missing field", {}, "Missing required parameter: name"],
  ["a wrong type", { name: 7 }, "name"],
  ["a number as text", { name: "Ada", age: "36" }, "age"],
  ["half a year", { name: "Ada", age: 36.5 }, "age"],
  ["a text that is too short", { name: "A" }, "name"],
  ["a text that is too long", { name: "A".repeat(21) }, "name"],
  ["a number out of bounds", { name: "Ada", age: 151 }, "age"],
  ["something that is no address", { name: "Ada", email: "ada" }, "email"],
  ["a title instead of the choice", { name: "Ada", colour: "Red" }, "colour"],
  ["a choice that is none", { name: "Ada", tags: ["a", "d"] }, "tags"],
  ["too many choices", { name: "Ada", tags: ["a", "b", "c"] }, "tags"],
  ["one choice that is no list", { name: "Ada", tags: "a" }, "tags"],
  ["null", { name: null }, "name"],
  ["a field that is not asked for", { name: "Ada", admin: true }, "'admin'"],
  ["a field of every object", { name: "Ada", constructor: 1 }, "'constructor'"],
  ["the prototype as a field", JSON.parse('{"name":"Ada","__proto__":{"admin":true}}'), "not allowed"],
  ["a huge text", { name: "A".repeat(2_000_000) }, "1000000 are the most"],
  ["what no JSON can hold", { name: () => 1 }, "JSON data"],
  ["a text", "Ada", "an object of its fields"],
  ["a list", ["Ada"], "an object of its fields"],
])("a form refuses %s", (_what, given, sentence) => {
  expect(answerTo(asking, given as AnswerValue)).toEqual({ wrong: expect.stringContaining(sentence) as string })
})

test("an answer that holds itself is refused, and nothing is left behind on any object", () => {
  const round: Record<string, unknown> = { name: "Ada" }
  round["self"] = round
  expect(answerTo(asking, round)).toHaveProperty("wrong")
  expect(answerTo(asking, JSON.parse('{"name":"Ada","__proto__":{"admin":true}}'))).toHaveProperty("wrong")
  expect({}).not.toHaveProperty("admin")
})

test.each<[object, AnswerValue, unknown]>([
  [{ type: "string" }, "36", "36"],
  [{ type: "string" }, ' {"a":1} ', ' {"a":1} '],
  [{ type: "integer" }, " 36 ", 36],
  [{ type: "number" }, "-1.5e3", -1500],
  [{ type: "boolean" }, "Yes", true],
  [{ type: "boolean" }, "false", false],
  [{ type: "string", enum: ["10", "20"] }, "20", "20"],
  [{ type: "string", enum: ["x", "y"], enumNames: ["Ex", "Why"] }, "Why", "y"],
  [
    {
      type: "string",
      oneOf: [
        { const: "x", title: "y" },
        { const: "y", title: "x" },
      ],
    },
    "x",
    "x",
  ],
  [{ type: "integer", enum: [1, 2] }, "2", 2],
  [{ type: "array", items: { enum: ["a", "b, c", "d"] } }, "b, c", ["b, c"]],
  [{ type: "array", items: { enum: ["a", "b, c", "d"] } }, "a, d, a", ["a", "d"]],
  [{ type: "array", items: { anyOf: [{ const: "a", title: "An A" }] } }, "An A", ["a"]],
  [{ type: "array", items: { enum: ["a", "b"] } }, ["a", "b"], ["a", "b"]],
  [{ type: ["integer", "null"] }, "null", null],
])("where a form has one field %j, %j alone answers it with %j", (schema, given, value) => {
  expect(answerTo(ofOne(schema), given)).toEqual({ value: { only: value } })
})

test.each<[object, AnswerValue]>([
  [{ type: "integer" }, "36.5"],
  [{ type: "integer" }, "thirty"],
  [{ type: "number" }, ""],
  [{ type: "number" }, "1e999"],
  [{ type: "number" }, "NaN"],
  [{ type: "boolean" }, "maybe"],
  [{ type: "boolean" }, "constructor"],
  [{ type: "string", enum: ["10", "20"] }, "1"],
  [
    {
      type: "string",
      oneOf: [
        { const: "x", title: "Same" },
        { const: "y", title: "Same" },
      ],
    },
    "Same",
  ],
  [{ type: "array", items: { enum: ["a", "b"] } }, "a, z"],
  [{ type: "array", items: { enum: ["a", "b"] } }, ["z"]],
  [{ type: "string" }, ["a"]],
  [{ type: "string", format: "date" }, "tomorrow"],
])("where a form has one field %j, %j does not answer it", (schema, given) => {
  expect(answerTo(ofOne(schema), given)).toEqual({ wrong: expect.stringMatching(/only|input/) as string })
})

test.each<[unknown, boolean]>([
  [{}, true],
  [{ agreed: true }, false],
  ["yes", false],
  ["", false],
  [[], false],
  [null, false],
])("an address to open is answered by %j: %j", (given, counts) => {
  const read = answerTo({ question: "Sign in.", url: "https://example.com" }, given as AnswerValue)
  expect(read).toEqual(counts ? { value: {} } : { wrong: expect.stringContaining("empty object") as string })
})

test.each<[string, object]>([
  ["cannot be compiled", { type: "object", properties: { a: { type: "sting" } } }],
  [
    "has a pattern nobody can match in time",
    { type: "object", properties: { a: { type: "string", pattern: "(a)\\1" } } },
  ],
  ["asks for no object", { type: "string" }],
  ["has a field that is no schema and is required", { type: "object", properties: { a: 7 }, required: ["a"] }],
])("a form that %s takes no answer, and says so", (_what, bad) => {
  expect(answerTo({ question: "?", form: bad as never }, { a: "aa" })).toEqual({
    wrong: expect.stringContaining("The form is not filled in as it asks") as string,
  })
})

test("a form without fields takes an empty object and nothing else", () => {
  for (const empty of [{ type: "object" }, { type: "object", properties: {} }]) {
    expect(answerTo({ question: "?", form: empty }, {})).toEqual({ value: {} })
    expect(answerTo({ question: "?", form: empty }, { a: 1 })).toHaveProperty("wrong")
  }
})

test("whatever is kept of a form counts as an answer to it again, and unchanged", () => {
  const value = fc.oneof(
    fc.constantFrom("Ada", "r", "Red", "a", "", 36, -1, 0.5, true, null, ["a"], ["a", "b"], ["a", "a"], {}),
    fc.jsonValue(),
  )
  const name = fc.oneof(fc.constantFrom(...Object.keys(form.properties)), fc.constantFrom("__proto__", "toString"))
  const given = fc.oneof(
    fc.dictionary(name, value, { maxKeys: 5 }),
    fc.dictionary(name, value, { maxKeys: 3 }).map((some) => ({ ...some, name: "Ada" })),
  )
  let kept = 0
  fc.assert(
    fc.property(given, (answer) => {
      const read = answerTo(asking, answer)
      if ("wrong" in read) return
      kept += 1
      expect(answerTo(asking, read.value)).toEqual(read)
      expect(Object.keys(form.properties)).toEqual(expect.arrayContaining(Object.keys(read.value)))
    }),
    { numRuns: 500 },
  )
  expect(kept).toBeGreaterThan(20)
})

test("the tool that asked finds the form with its defaults, and a wrong one leaves it waiting", async () => {
  const system = await open()
  system.registry.register(
    tool({
      kind: "interactive",
      permission: { level: "public" },
      question: () => asking,
      execute: (_input: never, { answer }) => answer,
    }),
  )
  const { callId } = await leave(system)
  const say = (value: AnswerValue) => system.desk.say(callId, { say: "answer", value }, "ann")
  expect(await say({ name: "Ada", age: -1 })).toMatchObject({ ok: false })
  expect(await system.desk.show(callId)).toMatchObject({ question: asking })
  expect(await say({ name: "Ada", age: 36 })).toMatchObject({ ok: true, done: true })
  expect(await system.resume(callId)).toMatchObject({
    success: true,
    result: { name: "Ada", age: 36, colour: "b", sure: false },
  })
})
