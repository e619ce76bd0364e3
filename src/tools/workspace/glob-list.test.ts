import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import fc from "fast-check"
import { expect, test } from "vitest"
import { readGlobs } from "./glob-list.ts"
import { openBench } from "./testing.ts"

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
])("the glob %s fits what it says and nothing else", (pattern, fits, misses) => {
  const globs = readGlobs([pattern])
  expect(fits.filter((path) => !globs.fits(path))).toEqual([])
  expect(misses.filter((path) => globs.fits(path))).toEqual([])
})

test.each(["[a", "{a,b", "a}", "../x/*.ts", "a/../b", "x\\", "{".repeat(30), "{a,b}".repeat(20)])(
  "the glob %s is refused with a sentence",
  (pattern) => {
    const { mistake, fits } = readGlobs([pattern])
    expect(mistake?.message).toMatch(/^The glob '.*' (has|ends|leads|is) .*\. Write for example /)
    expect(fits("a")).toBe(false)
  },
)

test("the folder that all patterns name is known, so that nothing else is walked", () => {
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

/** Names that are near each other, so that patterns fit some of them. */
const step = fc.constantFrom("a", "b", "ab", "a.ts", "b.ts", "a.js", "x-y", "[a]", "a b")
const part = fc.constantFrom("*", "?", "a", "b", "a*", "*.ts", "*.{ts,js}", "{a,b}", "[ab]", "[!a]*", "**", "x-y", "*b")

test("law: a glob fits exactly what ripgrep would take for it", () => {
  const bench = openBench()
  const paths = new Set<string>()
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 3 }), (steps) => {
      // A name is a folder or a file, not both.
      const path = [...steps.slice(0, -1).map((one) => `${one}.d`), steps.at(-1)!].join("/")
      bench.put(path, "")
      paths.add(path)
    }),
    { numRuns: 100, seed: 7 },
  )
  const folderPart = fc.constantFrom("**", "*", "a.d", "b.d", "*.d", "{a,b}.d", "?.d", "[ab].d")
  fc.assert(
    fc.property(fc.array(folderPart, { maxLength: 2 }), part, (folders, last) => {
      const pattern = [...folders, last].join("/")
      const { fits } = readGlobs([pattern])
      // ripgrep also takes all that is in a folder that fits; such folders are left to the pattern with /**.
      const options = ["--no-config", "--files", "-uu", "--null", "--type-add", "x:*", `--glob=${pattern}`]
      const theirs = ripgrep([...options, "."], bench.dir).filter((path) => !isInFitting(path, fits))
      const ours = [...paths].filter((path) => fits(path) && !isInFitting(path, fits))
      expect([pattern, ours.toSorted()]).toEqual([pattern, theirs.toSorted()])
    }),
    { numRuns: 100 },
  )
})

function isInFitting(path: string, fits: (path: string) => boolean): boolean {
  const steps = path.split("/")
  return steps.some((_, count) => count > 0 && fits(steps.slice(0, count).join("/")))
}

function ripgrep(options: readonly string[], cwd: string): string[] {
  const chooser = createRequire(import.meta.url).resolve("@vscode/ripgrep")
  const program = createRequire(chooser).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`)
  try {
    const text = execFileSync(program, options, { cwd, encoding: "utf8" })
    return text.split("\0").flatMap((path) => (path === "" ? [] : path.slice(2)))
  } catch (error) {
    // Nothing was found.
    if ((error as { status?: number }).status === 1) return []
    throw error
  }
}
