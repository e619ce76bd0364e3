import { expect, test } from "vitest"
import { within } from "./budget.ts"

test("work that takes too much of the processor is stopped, and not begun again for ever", () => {
  let begun = 0
  let stopped = 0
  const forEver = () => {
    begun++
    for (;;);
  }
  expect(
    within(
      50,
      () => forEver,
      () => stopped++,
    ),
  ).toBe(false)
  expect(begun).toBeLessThanOrEqual(5)
  expect(stopped).toBe(begun)
})

test("work that only had to wait for the processor is begun again, with longer to wait", () => {
  let begun = 0
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  const waits = () => void (++begun && Atomics.wait(asleep, 0, 0, 750))
  expect(within(500, () => waits)).toBe(true)
  expect(begun).toBeGreaterThan(1)
})
