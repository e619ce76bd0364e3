import fc from "fast-check"
import { expect, test } from "vitest"
import { readGlob, type GlobKind } from "./glob.ts"

function matches(pattern: string, text: string, kind: GlobKind): boolean {
  const read = readGlob(pattern, kind)
  if ("mistake" in read) throw new Error(read.mistake)
  return read.glob.matches(text)
}

test.each<[GlobKind, string, string[], string[]]>([
  ["text", "rm x", ["rm x"], ["rm", "rm x ", " rm x", "RM x", ""]],
  ["text", "rm *", ["rm ", "rm -rf /", "rm a/b\nc"], ["rm", "farm x"]],
  ["text", "*", ["", "a/b"], []],
  ["text", "a*b*c", ["abc", "a--b--c", "abcbc"], ["ab", "acb", "abcd", "xabc"]],
  ["text", "ab*ba", ["abba", "ab-ba"], ["aba", "ab"]],
  ["text", "a?c", ["abc", "a😀c", "a/c"], ["ac", "abbc"]],
  ["text", "[a-c]x", ["ax", "cx"], ["dx", "Ax", "x", "abx"]],
  ["text", "[!a-c]x", ["dx", "/x"], ["ax", "x"]],
  ["text", "[]-]", ["]", "-"], ["[", ""]],
  ["text", "\\*\\[", ["*["], ["\\*[", "a["]],
  ["text", '{"a":*}', ['{"a":1}'], ['{"b":1}']],
  ["path", "docs/*", ["docs/a.md", "docs/"], ["docs", "docs/a/b.md", "mydocs/a.md"]],
  ["path", "docs/**", ["docs/a.md", "docs/a/b.md", "docs/"], ["docs", "docsx/a", "a/docs/b"]],
  ["path", "**/.env", [".env", "a/.env", "a/b/.env"], ["a.env", ".env/a", "x.env", ".envx"]],
  ["path", "a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "axb", "a/b/c"]],
  ["path", "**/*.ts", ["x.ts", "a/b/x.ts", ".ts"], ["x.tsx", "a/x.js"]],
  ["path", "a**b", ["ab", "a/x/b"], ["a/x/bc"]],
  ["path", "**", ["", "a", "a/b"], []],
  ["path", "a?b", ["axb"], ["a/b"]],
  ["path", "a[!x]b", ["ayb"], ["a/b", "axb"]],
  ["path", "*.md", ["a.md", ".md"], ["a/b.md"]],
])("as a %s '%s' matches %j and not %j", (kind, pattern, yes, no) => {
  expect(yes.filter((text) => !matches(pattern, text, kind))).toEqual([])
  expect(no.filter((text) => matches(pattern, text, kind))).toEqual([])
})

test.each([
  ["nothing", "", "is empty"],
  ["an open set", "[a", "not closed"],
  ["an empty set", "[]", "is empty"],
  ["a set that goes backwards", "[z-a]", "goes backwards"],
  ["a last backslash", "a\\", "nothing after it"],
  ["a long one", "x".repeat(1001), "longer than 1000"],
])("%s is no pattern", (_, pattern, words) => {
  for (const kind of ["text", "path"] as const) {
    expect(readGlob(pattern, kind)).toEqual({ mistake: expect.stringContaining(words) })
  }
})

/** The meaning of a pattern, by trying everything. */
function slowly(pattern: string, text: string, kind: GlobKind, atStart = true): boolean {
  if (pattern === "") return text === ""
  const rest = (by: number) => slowly(pattern.slice(1), text.slice(by), kind, pattern[0] === "/")
  const crosses = kind === "text" || pattern.startsWith("**")
  const folders = /^\*{2,}\//.exec(pattern)
  if (folders !== null && kind === "path" && atStart) {
    const after = pattern.slice(folders[0].length)
    const starts = [0, ...Array.from(text, (character, at) => (character === "/" ? at + 1 : -1)).filter((at) => at > 0)]
    return starts.some((at) => slowly(after, text.slice(at), kind, true))
  }
  if (pattern[0] === "*") {
    const after = pattern.replace(/^\*+/, "")
    for (let length = 0; length <= text.length; length++) {
      if (!crosses && text.slice(0, length).includes("/")) return false
      if (slowly(after, text.slice(length), kind, false)) return true
    }
    return false
  }
  if (text === "") return false
  if (pattern[0] === "?") return (kind === "text" || text[0] !== "/") && rest(1)
  return pattern[0] === text[0] && rest(1)
}

const someText = fc.array(fc.constantFrom("a", "b", "/"), { maxLength: 8 }).map((parts) => parts.join(""))
const somePattern = fc
  .array(fc.constantFrom("a", "b", "/", "?", "*", "**", "**/"), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.join(""))

test("law: a pattern matches what trying everything matches, and only what begins and ends as it says", () => {
  fc.assert(
    fc.property(somePattern, someText, fc.constantFrom("text" as const, "path" as const), (pattern, text, kind) => {
      const read = readGlob(pattern, kind)
      if ("mistake" in read) throw new Error(read.mistake)
      const expected = slowly(pattern, text, kind)
      expect(read.glob.matches(text)).toBe(expected)
      if (expected) expect([text.startsWith(read.glob.start), text.endsWith(read.glob.end)]).toEqual([true, true])
      if (read.glob.literal !== undefined) expect(expected).toBe(text === read.glob.literal)
    }),
    { numRuns: 3000 },
  )
})

test("no text makes a pattern try again and again", () => {
  const text = "a".repeat(200_000)
  expect(matches("*a*a*a*a*a*a*a*a*a*b*", text, "text")).toBe(false)
  expect(matches("*?a*?a*?a*?a*?a*?b*", text, "text")).toBe(false)
  expect(matches("**/*a*a*a*/**/*a*a*b*/**", "a/".repeat(100_000), "path")).toBe(false)
})
