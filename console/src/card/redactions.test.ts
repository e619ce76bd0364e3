import { describe, expect, test } from "vitest"
import { countRedacted, everyElement, pointersAt, redactionsOfWords, redactValue, releaseAnswer } from "./redactions.ts"

const value = {
  customers: [
    { name: "Abacus", contact: "a@x.example" },
    { name: "Fjord", contact: "f@x.example", note: "Ask for Ingrid, +47 900." },
  ],
  "a/b": { "*": 1 },
}

describe("a path", () => {
  test.each([
    ["/customers/*/contact", ["/customers/0/contact", "/customers/1/contact"]],
    ["/customers/*/note", ["/customers/1/note"]],
    ["/customers/0", ["/customers/0"]],
    ["/a~1b/*", ["/a~1b/*"]],
    ["/nothing/*", []],
    ["customers", []],
    ["/customers/length", []],
  ])("%s means %o", (path, pointers) => expect(pointersAt(value, path)).toEqual(pointers))

  test("has a star where an element was named", () => {
    expect(everyElement(value, "/customers/1/note")).toBe("/customers/*/note")
    expect(everyElement(value, "/a~1b/*")).toBe("/a~1b/*")
  })
})

describe("a release", () => {
  test("without redactions is the result as it is", () => expect(releaseAnswer(value, [])).toEqual({ kind: "release" }))

  test("of whole values names their pointers", () => {
    expect(releaseAnswer(value, [{ kind: "values", path: "/customers/*/contact" }])).toEqual({
      kind: "release",
      redact: ["/customers/0/contact", "/customers/1/contact"],
    })
  })

  test("with words taken out replaces the result, whole values and all", () => {
    const redactions = [
      { kind: "text", pointer: "/customers/1/note", text: "Ingrid, +47 900" },
      { kind: "values", path: "/customers/*/contact" },
    ] as const
    const { replace } = releaseAnswer(value, redactions) as { replace: typeof value }
    expect(replace.customers[1]?.note).toBe("Ask for [redacted].")
    expect(replace.customers.map(({ contact }) => contact)).toEqual(["[redacted]", "[redacted]"])
    expect(countRedacted(value, redactions)).toBe(3)
    expect(JSON.stringify(replace)).not.toContain("Ingrid")
  })

  test("changes nothing of what is shown as held", () => {
    const before = structuredClone(value)
    redactValue(value, [{ kind: "values", path: "/customers" }])
    expect(value).toEqual(before)
  })

  test("of a plain text takes the words out of it", () => {
    expect(releaseAnswer("key=abc", [{ kind: "text", pointer: "", text: "abc" }])).toEqual({
      kind: "release",
      replace: "key=[redacted]",
    })
  })
})

describe("selected words", () => {
  const text = "to \u202Eevil\u202C, and \\u{202e} as it is written"
  const released = (words: string, of: unknown = text) => redactValue(of, redactionsOfWords(of, "", words))

  test.each([
    ["are taken out where they stand", "and", text.replace("and", "[redacted]")],
    ["have hidden characters for the codes that were shown", "evil\\u{202c}", text.replace("evil\u202C", "[redacted]")],
    [
      "that are both a code and a hidden character take out both",
      "\\u{202e}",
      text.replace("\u202E", "[redacted]").replace("\\u{202e}", "[redacted]"),
    ],
    ["that are half of a code take out the whole value", "202c}, an", "[redacted]"],
  ])("%s", (_, words, rest) => expect(released(words)).toBe(rest))
})
