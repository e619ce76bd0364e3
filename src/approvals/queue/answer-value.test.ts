import { expect, test } from "vitest"
import type { AnswerValue, Question } from "../../core/approval.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { checkAnswer } from "./answer-value.ts"
import { leaveWaiting } from "../../call/testing.ts"
import { formQuestion } from "./testing/answer-value.ts"

const ofOne = (schema: object): Question => ({ question: "?", form: { type: "object", properties: { only: schema } } })

test.each<[AnswerValue, AnswerValue]>([
  [{ name: "Ada" }, { name: "Ada", colour: "b", sure: false }],
  [
    { name: "Ada", email: "ada@example.com", age: 36, colour: "r", tags: ["a", "c"], sure: true },
    { name: "Ada", email: "ada@example.com", age: 36, colour: "r", tags: ["a", "c"], sure: true },
  ],
])("a form filled in with %j is stored as %j", (given, kept) =>
  expect(checkAnswer(formQuestion, given)).toEqual({ value: kept }),
)

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
  expect(checkAnswer(formQuestion, given as AnswerValue)).toEqual({
    wrong: expect.stringContaining(sentence) as string,
  })
})

test("a circular answer is refused, and no object is changed", () => {
  const round: Record<string, unknown> = { name: "Ada" }
  round["self"] = round
  expect(checkAnswer(formQuestion, round)).toHaveProperty("wrong")
  expect(checkAnswer(formQuestion, JSON.parse('{"name":"Ada","__proto__":{"admin":true}}'))).toHaveProperty("wrong")
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
  expect(checkAnswer(ofOne(schema), given)).toEqual({ value: { only: value } })
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
  expect(checkAnswer(ofOne(schema), given)).toEqual({ wrong: expect.stringMatching(/only|input/) as string })
})

test.each<[unknown, boolean]>([
  [{}, true],
  [{ agreed: true }, false],
  ["yes", false],
  ["", false],
  [[], false],
  [null, false],
])("an address to open is answered by %j: %j", (given, counts) => {
  const read = checkAnswer({ question: "Sign in.", url: "https://example.com" }, given as AnswerValue)
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
  expect(checkAnswer({ question: "?", form: bad as never }, { a: "aa" })).toEqual({
    wrong: expect.stringContaining("The form is not filled in as it asks") as string,
  })
})

test("a form without fields takes an empty object and nothing else", () => {
  for (const empty of [{ type: "object" }, { type: "object", properties: {} }]) {
    expect(checkAnswer({ question: "?", form: empty }, {})).toEqual({ value: {} })
    expect(checkAnswer({ question: "?", form: empty }, { a: 1 })).toHaveProperty("wrong")
  }
})

test("the tool that asked gets the form with its defaults, and a wrong answer leaves the call waiting", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      kind: "interactive",
      permission: { level: "public" },
      question: () => formQuestion,
      execute: (_input: never, { answer }) => answer,
    }),
  )
  const { callId } = await leaveWaiting(system)
  const say = (value: AnswerValue) => system.approvals.answer(callId, { kind: "answer", value }, "ann")
  expect(await say({ name: "Ada", age: -1 })).toMatchObject({ ok: false })
  expect(await system.approvals.show(callId)).toMatchObject({ question: formQuestion })
  expect(await say({ name: "Ada", age: 36 })).toMatchObject({ ok: true, done: true })
  expect(await system.resume(callId)).toMatchObject({
    success: true,
    result: { name: "Ada", age: 36, colour: "b", sure: false },
  })
})
