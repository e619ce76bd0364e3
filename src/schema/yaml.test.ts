import { expect, test } from "vitest"
import { readScalar, readYaml } from "./yaml.ts"

test("JSON is read like YAML, with tabs or without", () => {
  const value = { tools: { timeout: 5, enabled: ["sleep"] }, agent: "ada" }
  for (const space of [undefined, 2, "\t"]) {
    expect(readYaml(JSON.stringify(value, null, space))).toMatchObject({ value, problems: [] })
  }
})

test.each([
  [["tools", "timeout"], "value", 2, 12],
  [["tools", "timeout"], "key", 2, 3],
  [["org", "agents", 1, "role"], "value", 6, 7],
  [["org", "agents", 0, "role"], "value", 5, 18],
  [["data", "dir"], "value", 7, 7],
  [["copy", "timeout"], "value", 2, 12],
  [["nowhere"], "value", 1, 1],
] as const)("the place of %j (its %s) is found, or the nearest value above it", (path, what, line, column) => {
  const text = "tools: &t\n  timeout: 5\norg:\n  agents:\n    - { role: &r x }\n    - id: a\ndata: *r\ncopy: *t\n"
  expect(readYaml(text).placeOf(path, what)).toEqual({ line, column: column })
})

test.each([
  ["5000", 5000],
  ["true", true],
  ["null", null],
  ["sleep", "sleep"],
  ["", ""],
  ["5 # minutes", "5 # minutes"],
  ["'5'", "'5'"],
  ["[a]", "[a]"],
  ["a: b", "a: b"],
  ["@", "@"],
])("%j read again as a scalar is %j", (text, value) => {
  expect(readScalar(text)).toEqual(value)
})
