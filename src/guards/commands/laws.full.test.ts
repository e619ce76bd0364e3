import { expect, test } from "vitest"
import { commandLaws } from "./laws.contract.ts"
import { guardWith, verdictOf } from "./testing.ts"

commandLaws(2000)

test("judging a proved line takes at most a few milliseconds of processor time", async () => {
  const guard = await guardWith()
  const lines = ["ls -la | wc -l", "cat a.txt", "cd src && grep -n foo a.ts | head -5"]
  for (let warm = 0; warm < 50; warm++) for (const line of lines) verdictOf(guard, line)
  const before = process.cpuUsage()
  for (let run = 0; run < 50; run++) for (const line of lines) verdictOf(guard, line)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 150).toBeLessThan(4000)
})
