import { expect, test } from "vitest"
import { createOutliner } from "./outline.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = createOutliner(grammarFolder())

test("parsing a file of 5,000 levels or one without an end terminates", async () => {
  const deep = `const x = ${"[".repeat(5000)}${"]".repeat(5000)}`
  const long = "a = b + ".repeat(10_000)
  await outlines.outline(deep, "typescript")
  await outlines.outline(long, "python")
  expect(await outlines.outline("def f():\n  pass\n", "python")).toBeDefined()
})
