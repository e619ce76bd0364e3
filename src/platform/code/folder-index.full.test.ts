import { mkdirSync, rmSync, utimesSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openTestIndex } from "./testing.ts"

test("law: however a tree changes, a warm index and a new one find the same", async () => {
  const path = fc.constantFrom("a.ts", "b.py", "d/a.ts", "d/e/c.go", "f.rb", ".gitignore", "d/.gitignore")
  const content = fc.constantFrom(
    "function foo() { const bar = 1 }\nclass Foo {}",
    "def foo():\n    bar = 1\n",
    "package p\nfunc Foo() {}\n",
    "a.ts\n",
    "d\n",
    "!a.ts\n*.rb\n",
    "}}}(((",
    "",
  )
  const change = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("put" as const), path, content, isOld: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("remove" as const), path: fc.constantFrom("a.ts", "d", "d/e", "b.py") }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("fill" as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("ask" as const), query: fc.constantFrom("foo", "bar", "*", "Foo") }),
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 3, maxLength: 12 }), async (changes) => {
      const warm = openTestIndex(temporaryTree())
      for (const [index, step] of changes.entries()) {
        if (step.do === "put") {
          rmSync(join(warm.root, step.path), { recursive: true, force: true })
          warm.put(step.path, step.content)
          // A file that was just written is always read again; an older one is remembered.
          const longAgo = Date.now() / 1000 - 1000 + index
          if (step.isOld) utimesSync(join(warm.root, step.path), longAgo, longAgo)
        } else if (step.do === "remove") rmSync(join(warm.root, step.path), { recursive: true, force: true })
        else if (step.do === "fill") await warm.fill()
        else expect(await warm.find(step.query)).toEqual(await openTestIndex(warm.root).find(step.query))
      }
      expect(await warm.find("*")).toEqual(await openTestIndex(warm.root).find("*"))
    }),
    { numRuns: 100 },
  )
})

const trees = { dir: "", count: 0 }

/** One folder for all runs of a law. */
function temporaryTree(): string {
  if (trees.dir === "") trees.dir = temporaryFolder()
  const dir = join(trees.dir, String(trees.count++))
  mkdirSync(dir)
  return dir
}
