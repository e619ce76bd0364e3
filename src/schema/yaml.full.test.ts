import { expect, test } from "vitest"
import { readYaml } from "./yaml.ts"

const bomb = [
  "a: &a [x, x, x, x, x]",
  ..."bcdefg".split("").map((name, index) => {
    const above = "abcdef"[index]
    return `${name}: &${name} [${Array(5).fill(`*${above}`).join(", ")}]`
  }),
].join("\n")

test.each([
  ["a duplicate key", "agent: a\ntools: {}\nagent: b", 3, 1, "'agent' is written twice here."],
  ["a tab", "tools:\n\ttimeout: 1", 2, 1, "indented with a tab"],
  ["bad syntax", "tools: {\nagent: [", 1, 8, "never closed"],
  ["an unknown tag", "agent: !person ada", 1, 8, "begins with !"],
  ["two documents", "agent: a\n---\nagent: b", 2, 1, "several documents"],
  ["an alias of nothing", "agent: a\ndata: *nobody", 2, 7, "nothing above is marked so"],
  ["a value that contains itself", "tools: &a\n  - *a", 2, 5, "values contain themselves"],
  ["a bomb of aliases", bomb, 2, 8, "Excessive alias count"],
  ["a crowd of aliases", `agent: &a x\ndata: [${Array(20_000).fill("*a").join(",")}]`, 2, 8, "more than 100 aliases"],
  ["a set", "org: !!set {a, b}", 1, 1, "a kind that a configuration cannot have"],
  ["a key named __proto__", "tools: { __proto__: { timeout: 1 } }", 1, 1, "a kind that a configuration cannot have"],
  ["a tower of brackets", "[".repeat(100_000), 1, 1, "nested more than 50 levels deep"],
  ["a tower of dashes", "- ".repeat(100_000), 1, 1, "nested more than 50 levels deep"],
  ["a tower of questions", "? ".repeat(100_000), 1, 1, "nested more than 50 levels deep"],
  ["a stair", Array.from({ length: 600 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"), 1, 1, "levels deep"],
])("%s is a problem with its line and column", (_, text, line, column, words) => {
  expect(readYaml(text).problems[0]).toEqual({ line, column, sentence: expect.stringContaining(words) })
})

test("a file of 20,000 keys is parsed", () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `key${index}: 1`).join("\n")
  expect(Object.keys(readYaml(text).value as object)).toHaveLength(20_000)
})
