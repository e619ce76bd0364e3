import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { readArguments } from "./arguments.ts"
import { UsageError } from "./usage.ts"

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
    colour: { enum: ["red", "1"] },
    count: { type: "integer" },
    ratio: { type: ["number", "null"] },
    flag: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "number" } },
    person: { type: "object", properties: { name: { type: "string" }, age: { type: "number" } } },
    meta: { type: "object", additionalProperties: {} },
    anything: { description: "No type at all" },
    tree: { $ref: "#/$defs/tree" },
    "a.b": { type: "number" },
  },
  $defs: {
    tree: {
      type: "object",
      properties: { label: { type: "string" }, size: { type: "number" }, next: { $ref: "#/$defs/tree" } },
    },
  },
}

describe("pairs are read by the schema of the tool", () => {
  test.each<[words: string[], input: unknown]>([
    [[], {}],
    [["text=123"], { text: "123" }],
    [["text=null"], { text: "null" }],
    [["text="], { text: "" }],
    [["text=a=b=c"], { text: "a=b=c" }],
    [["text=@/etc/passwd"], { text: "@/etc/passwd" }],
    [['text={"a":1}'], { text: '{"a":1}' }],
    [["maybe=null"], { maybe: "null" }],
    [["colour=1"], { colour: "1" }],
    [["count=3", "flag=false"], { count: 3, flag: false }],
    [["ratio=null"], { ratio: null }],
    [["ratio=-1.5e3"], { ratio: -1500 }],
    [['count="3"'], { count: "3" }],
    [['tags=["a","b"]'], { tags: ["a", "b"] }],
    [["tags=1", "tags=[2]"], { tags: ["1", "[2]"] }],
    [["sizes=1", "text=x", "sizes=2"], { sizes: [1, 2], text: "x" }],
    [["tags:=1", "tags=1"], { tags: [1, "1"] }],
    [["person.name=7", "person.age=7"], { person: { name: "7", age: 7 } }],
    [['person={"name":"Ada"}'], { person: { name: "Ada" } }],
    [["meta.a=1", "meta.b=x", "meta.c.d=true"], { meta: { a: 1, b: "x", c: { d: true } } }],
    [["anything=1"], { anything: 1 }],
    [["anything=one"], { anything: "one" }],
    [["tree.label=1", "tree.next.next.size=1"], { tree: { label: "1", next: { next: { size: 1 } } } }],
    [["a.b=1"], { "a.b": 1 }],
    [["text:=123"], { text: 123 }],
    [["nobody.knows=1", "this=2"], { nobody: { knows: "1" }, this: "2" }],
    [['{"text":"x","more":[1]}'], { text: "x", more: [1] }],
    [[' {"text":"x"}'], { text: "x" }],
  ])("%j", (words, input) => expect(readArguments(words, schema)).toEqual(input))

  test.each<[words: string[], sentence: string]>([
    [["count=abc"], "Parameter 'count' takes a whole number, and 'abc' is not that."],
    [["flag=yes"], "Parameter 'flag' takes true or false, and 'yes' is not that."],
    [["ratio=1,5"], "Parameter 'ratio' takes a number or null, and '1,5' is not that."],
    [
      ["tags=a"],
      "Parameter 'tags' takes a JSON list, and 'a' is not that. Write tags='[\"one\",\"two\"]', or tags=one tags=two.",
    ],
    [["sizes=1", "sizes=b"], "Parameter 'sizes' takes a number, and 'b' is not that."],
    [
      ["person=Ada"],
      "Parameter 'person' takes a JSON object, and 'Ada' is not that. Write person='{\"name\":\"value\"}', or person.name=value.",
    ],
    [["text=a", "text=b"], "Parameter 'text' is given twice. Keep one of them."],
    [["stranger=a", "stranger=b"], "Parameter 'stranger' is given twice. Keep one of them."],
    [["person.age=1", "person={}"], "Parameter 'person' is given as a whole and in parts. Keep one of them."],
    [["person={}", "person.age=1"], "Parameter 'person' is given as a whole and in parts. Keep one of them."],
    [["text:=abc"], "The value of 'text' is not JSON ("],
    [["{oops"], "The arguments are not JSON ("],
    [["word"], "'word' cannot be read. Give key=value, key:=json, one JSON object, or - for stdin."],
    [["=x"], "'=x' cannot be read."],
    [["{}", "text=a"], "'{}' cannot be read."],
    [[`${"a.".repeat(100)}a=1`], "A parameter can be 100 levels deep at most."],
  ])("%j is refused with a sentence", (words, sentence) => {
    expect(() => readArguments(words, schema)).toThrow(UsageError)
    expect(() => readArguments(words, schema)).toThrow(sentence)
  })

  test("without a schema every value is text", () => {
    expect(readArguments(["count=3", "a.b=true"], undefined)).toEqual({ count: "3", a: { b: "true" } })
  })
})

describe("the intended value is read", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("1", "null", "true", "[]", "{}", '"', "=", ":=1", "-", "--json", "@x"),
  )

  test("any text of a string parameter comes out as it went in, at every depth and in lists", () => {
    fc.assert(
      fc.property(texts, texts, fc.array(texts, { minLength: 2 }), (text, name, tags) => {
        const words = [`text=${text}`, `person.name=${name}`, ...tags.map((tag) => `tags=${tag}`)]
        expect(readArguments(words, schema)).toEqual({ text, person: { name }, tags })
      }),
    )
  })

  test("any JSON value comes out of := as it went in, whatever the schema says", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("text", "count", "stranger"), (value, key) => {
        const expected: unknown = JSON.parse(JSON.stringify(value))
        expect(readArguments([`${key}:=${JSON.stringify(value)}`], schema)).toEqual({ [key]: expected })
      }),
    )
  })

  test("no name of a parameter reaches a prototype", () => {
    const names = fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "x")
    const before = Object.getOwnPropertyNames(Object.prototype)
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 4 }), texts, (path, text) => {
        const input = readArguments([`${path.join(".")}=${text}`], schema)
        const there = path.reduce<unknown>((here, name) => Object.getOwnPropertyDescriptor(here, name)?.value, input)
        expect(there).toBe(text)
        expect(Object.getPrototypeOf(input)).toBe(Object.prototype)
      }),
    )
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined()
  })
})
