import { expect, test } from "vitest"
import { tamper } from "../../../store/testing/test-store.ts"
import { makeCli } from "../testing.ts"

test("without a server process, the next command ends a call whose deadline has passed", async () => {
  const { run, dataDir } = makeCli()
  expect((await run("call", "set_env", "key=A", "value=1", "--wait", "0")).code).toBe(4)
  await tamper(dataDir, `update calls set deadline = ${Date.now() - 1}`)
  await run("audit", "list")
  expect(JSON.parse((await run("audit", "list", "--json")).stdout)).toMatchObject([
    { tool: "set_env", code: "approval_expired" },
  ])
})
