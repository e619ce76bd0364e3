import { expect, test } from "vitest"
import { usableInput } from "./recorded-input.ts"

test.each([
  ["is whole", '{"a":"***","b":1}', true, { input: { a: "***", b: 1 }, leftOut: [] }],
  ["has a mask", '{"a":"***","b":1}', false, { input: { b: 1 }, leftOut: ["a"] }],
  ["has a mask deep inside", '{"a":{"b":["key=***"]},"c":true}', false, { input: { c: true }, leftOut: ["a"] }],
  ["has a value that was cut", '{"a":"…","b":null}', false, { input: { b: null }, leftOut: ["a"] }],
  ["was cut in the middle", '{"a":"12…', false, undefined],
  ["is one masked text", '"***"', false, undefined],
])("an input that %s is used without what is missing", (_, recorded, isWhole, usable) => {
  expect(usableInput(recorded, isWhole)).toEqual(usable)
})
