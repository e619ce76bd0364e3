import { expect, test, vi } from "vitest"
import { runWithTimeLimit } from "./run-with-time-limit.ts"

test("work that only had to wait for the processor is begun again, with longer to wait", () => {
  // Use by other threads of this process in the meantime is counted too, so it is left out here.
  const cpuUsage = vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 0, system: 0 })
  let begun = 0
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  const waits = () => void (++begun && Atomics.wait(asleep, 0, 0, 750))
  try {
    expect(runWithTimeLimit(500, () => waits)).toBe(true)
    expect(begun).toBeGreaterThan(1)
  } finally {
    cpuUsage.mockRestore()
  }
})
