import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalJson, sha256 } from "./canonical-json.ts"
import { plainProblems } from "../schema/json-problems.ts"

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

describe("plain data", () => {
  it.each([
    ["a text", "text"],
    ["a number", -0.5],
    ["a boolean", false],
    ["null", null],
    ["nothing", undefined],
    ["a tree", { a: [1, { b: null, c: undefined }] }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["names of every object", { constructor: 1, toString: {}, hasOwnProperty: [] }],
    ["the same part twice", ((part) => ({ one: part, two: part }))({ a: 1 })],
    ["a hundred levels", nested(100)],
    ["half of a pair", "\ud800"],
  ])("%s has no problem", (_, value) => {
    expect(plainProblems(value)).toEqual([])
  })

  class Point {
    x = 1
  }
  const cyclic: unknown[] = []
  cyclic.push({ again: cyclic })

  it.each([
    ["not a number", { a: Number.NaN }, "Parameter 'a' expected a finite number, got NaN"],
    ["infinity", [-Infinity], "Parameter '[0]' expected a finite number, got -Infinity"],
    ["a function", { a: { b: () => 1 } }, "Parameter 'a.b' must be JSON data, got a function"],
    ["a function itself", () => 1, "Parameter 'input' must be JSON data, got a function"],
    ["a symbol", { a: Symbol("x") }, "Parameter 'a' must be JSON data, got a symbol"],
    ["a bigint", { a: 1n }, "Parameter 'a' must be JSON data, got a bigint"],
    ["an own toJSON", { toJSON: () => 1 }, "Parameter 'toJSON' must be JSON data, got a function"],
    ["a class instance", { a: new Point() }, "Parameter 'a' must be a plain JSON object"],
    ["a date", { a: [new Date(0)] }, "Parameter 'a[0]' must be a plain JSON object"],
    ["a map", new Map(), "Parameter 'input' must be a plain JSON object"],
    ["a boxed text", { a: new String("x") }, "Parameter 'a' must be a plain JSON object"],
    [
      "an own __proto__",
      JSON.parse('{"a":{"__proto__":{"b":1}}}'),
      "Parameter 'a.__proto__' has a name that is not allowed",
    ],
    ["a changed prototype", Object.create({ inherited: 1 }), "Parameter 'input' must be a plain JSON object"],
    ["an endless hole", Object.assign([], { length: 4_294_967_295 }), "Parameter 'input' has more than 1000000 parts"],
  ])("%s is a problem with its place", (_, value, problem) => {
    expect(plainProblems(value)).toEqual([problem])
  })

  it("what contains itself, or is too deep, is a problem", () => {
    const [problem, ...more] = plainProblems(cyclic)
    expect(more).toEqual([])
    expect(problem).toMatch(/ is nested deeper than 100 levels or contains itself$/)
    expect(plainProblems(nested(101))).toHaveLength(1)
    expect(plainProblems(nested(50_000 / 10))).toHaveLength(1)
  })

  it("what grows without end because it shares its parts is given up", () => {
    let part: unknown = {}
    for (let level = 0; level < 90; level++) part = [part, part]
    expect(plainProblems(part)).toEqual([expect.stringContaining("has more than 1000000 parts")])
  })

  it("every problem is found, but not more than twenty are told", () => {
    expect(plainProblems({ a: Number.NaN, b: [() => 1, 1n] })).toHaveLength(3)
    expect(plainProblems(Array(1000).fill(Number.NaN))).toHaveLength(20)
  })

  it("whatever JSON can say is plain, unless it says __proto__", () => {
    const law = fc.property(fc.json(), (text) => {
      expect(plainProblems(JSON.parse(text)).length > 0).toBe(/"__proto__"\s*:/.test(text))
    })
    fc.assert(law, { numRuns: 500 })
  })
})

describe("canonical JSON", () => {
  /** Values that nearly meet: few keys, few values. */
  const { value: values } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown[]>(null, true, 0, 1, "", "1", "a"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "1", "constructor", "__proto__", "é"), tie("value"), { maxKeys: 3 }),
    ),
  }))

  function shuffled(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return value.map(shuffled)
    const entries = Object.entries(value).toReversed()
    return Object.fromEntries(entries.map(([key, inner]) => [key, shuffled(inner)]))
  }

  /** Equality without canonicalJson: order of keys aside, the same JSON. */
  function same(one: unknown, other: unknown): boolean {
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    if (keys.length !== Object.keys(other).length) return false
    const at = (value: object, key: string) => Object.getOwnPropertyDescriptor(value, key)?.value as unknown
    return keys.every((key) => Object.hasOwn(other, key) && same(at(one, key), at(other, key)))
  }

  it("is the same text for the same value, whatever the order of its keys", () => {
    const law = fc.property(values, (value) => {
      expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value))
      expect(same(JSON.parse(canonicalJson(value)), value)).toBe(true)
    })
    fc.assert(law, { numRuns: 500 })
  })

  it("is another text for another value", () => {
    const law = fc.property(values, values, (one, other) => {
      expect(canonicalJson(one) === canonicalJson(other)).toBe(same(one, other))
    })
    fc.assert(law, { numRuns: 2000 })
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
  })

  it("sorts keys, keeps lists, and leaves out what is undefined", () => {
    expect(canonicalJson({ b: [2, 1], a: { d: undefined, c: "é" } })).toBe('{"a":{"c":"é"},"b":[2,1]}')
  })
})

describe("sha256", () => {
  it("is the hash everyone knows, of the text in UTF-8", () => {
    expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    expect(sha256("é")).toBe("4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c")
  })
})
