import { expect, test } from "vitest"
import { readGlobs } from "./glob-list.ts"

test.each<[pattern: string, fits: string[], misses: string[]]>([
  ["*.ts", ["a.ts", "src/deep/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
  ["src/*.ts", ["src/a.ts"], ["src/deep/a.ts", "lib/src/a.ts"]],
  ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "lib/src/a.ts"]],
  ["/a.ts", ["a.ts"], ["b/a.ts"]],
  ["./src/a.ts", ["src/a.ts"], ["lib/src/a.ts"]],
  ["src/", ["src/a", "src/b/c"], ["src", "lib/src/a"]],
  ["*.{ts,js}", ["a.ts", "b/a.js"], ["a.tsx", "a.{ts,js}"]],
  ["{src,lib/{a,b}}/*.ts", ["src/x.ts", "lib/b/x.ts"], ["lib/x.ts", "lib/c/x.ts"]],
  ["[ab].ts", ["a.ts", "x/b.ts"], ["c.ts"]],
  ["[{,}].ts", ["{.ts", ",.ts"], ["a.ts"]],
  ["\\{a\\}.ts", ["{a}.ts"], ["a.ts"]],
  ["a?.ts", ["ab.ts"], ["a.ts", "a/.ts"]],
  ["**", ["a", "a/b"], []],
  ["笔记/**", ["笔记/一.md"], ["notes/a.md"]],
])("the glob %s matches what it says and nothing else", (pattern, fits, misses) => {
  const globs = readGlobs([pattern])
  expect(fits.filter((path) => !globs.matches(path))).toEqual([])
  expect(misses.filter((path) => globs.matches(path))).toEqual([])
})

test.each(["[a", "{a,b", "a}", "../x/*.ts", "a/../b", "x\\", "{".repeat(30), "{a,b}".repeat(20)])(
  "the glob %s is refused with a sentence",
  (pattern) => {
    const { mistake, matches } = readGlobs([pattern])
    expect(mistake?.message).toMatch(/^The glob '.*' (has|ends|leads|is) .*\. Write for example /)
    expect(matches("a")).toBe(false)
  },
)

test("the folder shared by all patterns is known, so that nothing else is searched", () => {
  const folders: [string[], string][] = [
    [["src/**/*.ts"], "src"],
    [["src/a/b.ts"], "src/a"],
    [["src/{a,b}/*.ts"], "src"],
    [["src/a/*.ts", "src/b/*.ts"], "src"],
    [["src/*.ts", "lib/*.ts"], ""],
    [["*.ts"], ""],
    [["src*/a/*.ts"], ""],
    [["/etc/*"], "etc"],
  ]
  expect(folders.map(([patterns]) => readGlobs(patterns).folder)).toEqual(folders.map(([, folder]) => folder))
})
