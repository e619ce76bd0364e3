import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../../testing/open.ts"
import { describeLimits, few } from "./limits.contract.ts"
import { watchLimits } from "./limits.ts"
import { groupOf } from "./members.ts"
import { fence, layers, openHere, realFolder } from "./testing.ts"

describeLimits(layers.at(-1)!)

test.skipIf(layers.length === 1)("in the sandbox nothing in memory can be filled, wherever it is", async () => {
  const workspace = realFolder()
  const { processes } = openHere({
    sandbox: "required",
    files: fence(workspace),
    hidden: [join(workspace, "own")],
    limits: { ...few, fileMb: 100 },
    environment: { ...process.env, HOME: "/somewhere" },
  })
  for (const folder of ["/tmp", "/var/tmp", "/dev/shm", "$HOME"]) {
    const command = `head -c 3000000 /dev/zero > ${folder}/big; wc -c < ${folder}/big`
    const { stdout, stderr } = await processes.run({ command }, {})
    expect({ folder, stdout }).toEqual({ folder, stdout: "1048576\n" })
    expect(stderr).toContain("the home folder have 1 MB each. If one of them is full, write into the workspace")
  }
  const own = join(workspace, "own")
  mkdirSync(own)
  for (const place of [`${own}/big`, "/big", "/var/big", "/dev/big", "/etc/big", "/usr/big"]) {
    const { stderr } = await processes.run({ command: `echo x > ${place}` }, {})
    expect(stderr, place).toContain("Read-only file system")
  }
})

test("one that starts after another never puts off the look at both", async () => {
  const child = spawn("sleep", ["60"], { detached: true })
  onTestFinished(() => void child.kill("SIGKILL"))
  const watch = watchLimits({ ...few, memoryMb: 0.001 })
  const group = groupOf(child.pid!, "NOBODY=1", false)
  let isTold = false
  const stops = [watch(group, () => (isTold = true))]
  await until(() => {
    stops.push(watch({ ...group }, () => {}))
    return isTold
  }, "it was looked at")
  for (const stop of stops) stop()
})
