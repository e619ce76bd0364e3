import { expect, test } from "vitest"
import { runWithTimeLimit } from "./run-with-time-limit.ts"

test("work that takes too much of the processor is stopped, and not begun again for ever", () => {
  let begun = 0
  let stopped = 0
  const forEver = () => {
    begun++
    for (;;);
  }
  expect(
    runWithTimeLimit(
      50,
      () => forEver,
      () => stopped++,
    ),
  ).toBe(false)
  expect(begun).toBeLessThanOrEqual(5)
  expect(stopped).toBe(begun)
})
