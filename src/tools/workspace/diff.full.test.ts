import { applyPatch } from "diff"
import { expect, test } from "vitest"
import { unifiedDiff } from "./diff.ts"

test("very different texts are shown as removed and added whole, in a bounded time", async () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}\n`).join("")
  const after = `${Array.from({ length: 20_000 }, (_, index) => `new ${index}\n`).join("")}open`
  const { text, additions, deletions } = await unifiedDiff("a.txt", `same\n${before}end\n`, `same\n${after}`)
  expect([additions, deletions]).toEqual([20_001, 20_001])
  expect(applyPatch(`same\n${before}end\n`, text)).toBe(`same\n${after}`)
})
