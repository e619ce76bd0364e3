import { expect, test } from "vitest"
import { makeCli } from "./testing.ts"

test("a call that is asked again says who approved what and what has changed, wherever it is looked at", async () => {
  const cli = makeCli()
  cli.write("out.md", "one\n")
  const call = () => cli.run("call", "write_file", "path=out.md", "content=mine", "--wait", "0")
  await call()
  const [item] = JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as [{ callId: string }]
  expect((await cli.run("approvals", "approve", item.callId)).code).toBe(0)
  cli.write("out.md", "two\n")
  const why = / approved revision 1\. Since then out\.md has changed\./
  expect((await call()).stderr).toMatch(why)
  expect((await cli.run("approvals", "show", item.callId)).stdout).toMatch(why)
  expect((await cli.run("audit", "show", item.callId)).stdout).toMatch(why)
  expect((await cli.run("approvals", "approve", item.callId, "--revision", "2")).code).toBe(0)
})
