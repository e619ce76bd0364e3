import { spawn } from "node:child_process"
import { onTestFinished, test } from "vitest"
import { until } from "../../testing/test-app.ts"
import { smallLimits } from "./limits.contract.ts"
import { watchLimits } from "./limits.ts"
import { groupOf } from "./process-table.ts"

test("a new command never postpones a planned check", async () => {
  const child = spawn("sleep", ["60"], { detached: true })
  onTestFinished(() => void child.kill("SIGKILL"))
  const watch = watchLimits({ ...smallLimits, memoryMb: 0.001 })
  const group = groupOf(child.pid!, "NOBODY=1", false)
  let isTold = false
  const stops = [watch(group, () => (isTold = true))]
  await until(() => {
    stops.push(watch({ ...group }, () => {}))
    return isTold
  }, "it was looked at")
  for (const stop of stops) stop()
})
