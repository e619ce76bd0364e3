import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import fc from "fast-check"
import { expect, test } from "vitest"
import { readGlobs } from "./glob-list.ts"
import { openBench } from "./testing.ts"

/** Similar names, so that patterns match some of them. */
const step = fc.constantFrom("a", "b", "ab", "a.ts", "b.ts", "a.js", "x-y", "[a]", "a b")
const part = fc.constantFrom("*", "?", "a", "b", "a*", "*.ts", "*.{ts,js}", "{a,b}", "[ab]", "[!a]*", "**", "x-y", "*b")

test("law: a glob matches exactly what ripgrep matches", () => {
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
      const { matches } = readGlobs([pattern])
      // ripgrep also matches everything in a matching folder; here that needs a pattern with /**.
      const options = ["--no-config", "--files", "-uu", "--null", "--type-add", "x:*", `--glob=${pattern}`]
      const theirs = ripgrep([...options, "."], bench.dir).filter((path) => !isInFitting(path, matches))
      const ours = [...paths].filter((path) => matches(path) && !isInFitting(path, matches))
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
