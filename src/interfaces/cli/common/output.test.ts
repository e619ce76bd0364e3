import { expect, test } from "vitest"
import { parserSentence, configOverrides, wholeNumberFlag } from "./usage.ts"

test.each([
  ["error: unknown option '--jsn'\n(Did you mean --json?)", "Unknown option '--jsn'. Did you mean --json?"],
  ["error: missing required argument 'tool'", "Missing required argument 'tool'."],
  [
    "error: too many arguments for 'init'. Expected 0 arguments but got 1.",
    "Too many arguments for 'init'. Expected 0 arguments but got 1.",
  ],
])("%j becomes a sentence", (message, sentence) => expect(parserSentence(message)).toBe(sentence))

test("--set takes keys with values, each once; --data is one of them", () => {
  expect(configOverrides(["tools.timeout=5000", "agent=a=b", "__proto__=x"], "here")).toEqual(
    Object.fromEntries([
      ["tools.timeout", "5000"],
      ["agent", "a=b"],
      ["__proto__", "x"],
      ["data.dir", "here"],
    ]),
  )
  expect(() => configOverrides(["tools.timeout"], undefined)).toThrow("--set takes key=value")
  expect(() => configOverrides(["=5"], undefined)).toThrow("--set takes key=value")
  expect(() => configOverrides(["a=1", "a=2"], undefined)).toThrow("'a' is set twice.")
  expect(() => configOverrides(["data.dir=a"], "b")).toThrow("'data.dir' is set twice.")
})

test.each(["0", "-1", "1.5", "abc", "", "1e3", "99999999999999999999"])("'%s' is no count", (text) => {
  expect(() => wholeNumberFlag("--limit", text)).toThrow(`--limit takes a whole number above 0, and '${text}' is none.`)
})
