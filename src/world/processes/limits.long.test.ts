import { expect, test } from "vitest"
import { describeLimits } from "./limits.contract.ts"
import { openHere } from "./testing.ts"

describeLimits("off")

test("what several processes share counts once", async () => {
  const { processes } = openHere({ limits: { memoryMb: 150 } })
  const grow =
    "a=$(head -c 40000000 /dev/zero | tr '\\0' x); for i in 1 2 3 4 5 6; do (read -t 1 < <(sleep 2)) & done; wait"
  expect(await processes.run({ command: `${grow}; echo done` }, {})).toMatchObject({ stdout: "done\n", exitCode: 0 })
})
