import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { describeLimits, smallLimits } from "./limits.contract.ts"
import { fakeFiles, sandboxModes, openTestProcesses, realTemporaryFolder } from "./testing.ts"

for (const layer of sandboxModes) describeLimits(layer)

test.skipIf(sandboxModes.length === 1)("in the sandbox every in-memory folder has a size limit", async () => {
  const workspace = realTemporaryFolder()
  const { processes } = openTestProcesses({
    sandbox: "required",
    files: fakeFiles(workspace),
    hidden: [join(workspace, "own")],
    limits: { ...smallLimits, fileMb: 100 },
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

test("memory shared by several processes counts once", async () => {
  const { processes } = openTestProcesses({ limits: { memoryMb: 150 } })
  const grow =
    "a=$(head -c 40000000 /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6; do (read -t 1 < <(sleep 2)) & done; wait"
  expect(await processes.run({ command: `${grow}; echo done` }, {})).toMatchObject({ stdout: "done\n", exitCode: 0 })
})
