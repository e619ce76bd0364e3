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

test.each([
  ["a tab", "a:\n\tb: 1\n", 2, 1, /indented with a tab.* Use spaces\.$/],
  ["a line too deep", "a:\n  b: 1\n   c: 2\n", 3, 4, /indented deeper than the one above/],
  ["a line not deep enough", "a:\n    b: 1\n  c: 2\n", 3, 3, /fits none of those above/],
  ["a key beside a list", "a:\n  - b: 1\n   c: 2\n", 3, 4, /fits none of those above/],
  ["a key written twice", "a: 1\na: 2\n", 2, 1, /'a' is written twice here\. Keep one of them\./],
  ["an unclosed quote", 'a: "so\nb: 2\n', 1, 4, /never closed\. Add " where the text ends\./],
  ["an unclosed quote of the other kind", "a: 'so\nb: 2\n", 1, 4, /never closed\. Add ' where the text ends\./],
  ["an unclosed list", "a: [1, 2\nb: 3\n", 1, 4, /The \[ that opens here is never closed\. Add \]/],
  ["an unclosed item", "a:\n  - { b: x\n  - { b: y }\n", 2, 5, /The { that opens here is never closed\. Add }/],
  ["a colon in a text", "a: Note: so\n", 1, 4, /contains ': '.*put it in quotes: "Note: so"\.$/],
  ["a colon in a text in brackets", "a: { b: Note: so }\n", 1, 9, /quotes around a text that contains ': '/],
  ["a missing comma", "a: { b: 1 c: 2 }\n", 1, 9, /Put a comma before it/],
  ["an unknown anchor", "a: *x\n", 1, 4, /nothing above is marked so.*in quotes: "\*x"\.$/],
  ["a pattern without quotes", "a: **/x\n", 1, 4, /in quotes: "\*\*\/x"\.$/],
  ["a star alone", "- { a: *, b: 1 }\n", 1, 8, /begins with \*.*in quotes: "\*"\.$/],
  ["a value that begins with @", "a: @b\n", 1, 4, /begins with @.*in quotes: "@b"\.$/],
  ["no space after the colon", "a:1\nb: 2\n", 1, 1, /with a space after the colon/],
  ["no space after the dash", "a:\n  -b\n  -c: 1\n", 2, 3, /write '- '/],
  ["a list beside its key", "a: - b\n", 1, 4, /Move the dash below the key/],
  ["a backslash in double quotes", 'a: "C:\\Users"\n', 1, 7, /Write \\\\ for a backslash, or use single quotes/],
  ["a bracket too many", "a: [1]]\n", 1, 7, /This \] closes nothing/],
  ["text after a quote", 'a: "x" y\n', 1, 8, /Text follows a value that has ended/],
  ["what is rare, in the parser's words", "a: | foo\n  x\n", 1, 6, /^This is not valid YAML: Not a YAML token: foo\. /],
])("%s is one problem, in plain words, where the mistake is", (_, text, line, column, sentence) => {
  expect(readYaml(text).problems).toEqual([{ line, column, sentence: expect.stringMatching(sentence) as string }])
})
