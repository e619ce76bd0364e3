import { expect, test } from "vitest"
import { failure } from "../core/ending.ts"
import { openTestApp, tool } from "../testing/test-app.ts"

class Broken extends Error {}

/** An app with a tool of its own that throws this. */
async function appThatThrows(thrown: unknown) {
  const app = await openTestApp({})
  app.registry.register(
    tool({
      name: "breaks",
      execute() {
        throw thrown
      },
    }),
  )
  const call = () => app.call({ agentId: "operator", tool: "breaks", input: {} })
  return { app, call }
}

test("the author of a tool gets what it threw, with its stack, and nobody who gets the result as JSON does", async () => {
  const broken = new Broken("The list is empty.")
  const { call } = await appThatThrows(broken)
  const result = await call()
  expect(result).toMatchObject({ code: "tool_failed", error: "The list is empty." })
  expect("cause" in result && result.cause).toBe(broken)
  expect(JSON.stringify(result)).not.toContain("cause.test.ts")
  expect(Object.keys(result)).not.toContain("cause")
  expect({ ...result }).not.toHaveProperty("cause")
})

test("the audit log has the stack of an unexpected error, masked and cut", async () => {
  const broken = new Broken("The key is sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz.")
  broken.stack = `${broken.stack}\n${"    at far.ts:1\n".repeat(1000)}`
  const { app, call } = await appThatThrows(broken)
  const end = (await app.audit.show((await call()).callId)).find(({ kind }) => kind === "end")
  const { stack = "" } = end as { stack?: string }
  expect(stack).toContain("cause.test.ts")
  expect(stack).not.toContain("0123456789abcdef")
  expect(stack.length).toBeLessThan(4500)
  expect(await app.audit.verify()).toMatchObject({ ok: true })
})

test("a failure that the tool meant has no stack in the audit log, and calls that nothing threw have no cause", async () => {
  const { app, call } = await appThatThrows(failure("There is no such row."))
  const end = (await app.audit.show((await call()).callId)).find(({ kind }) => kind === "end")
  expect(end).not.toHaveProperty("stack")
  const denied = await app.call({ agentId: "operator", tool: "nothing", input: {} })
  expect("cause" in denied).toBe(false)
  const builtin = await app.call({ agentId: "operator", tool: "read_file", input: { path: "gone.txt" } })
  expect(builtin.success || "cause" in builtin).toBe(false)
})
