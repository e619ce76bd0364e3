import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../../testing/test-app.ts"

const rules = [{ deny: "save", args: { "/path": "secret*" }, because: "Nobody writes there." }]

async function appWithSave() {
  const app = await openTestApp({ rules })
  const seen: unknown[] = []
  const input = z.object({ path: z.string(), password: z.string().optional() }) as never
  app.registry.register(tool({ name: "save", input, execute: (given) => void seen.push(given) }))
  app.registry.register(tool({ name: "ask", input, permission: { level: "moderate" }, execute: () => 1 }))
  return { app, seen }
}

test("the arguments may be JSON text, as OpenAI sends them, in call, callMany and an executor", async () => {
  const { app, seen } = await appWithSave()
  const text = JSON.stringify({ path: "a" })
  const executor = app.executor("operator")
  await app.call({ agentId: "operator", tool: "save", input: text })
  await app.callMany([{ agentId: "operator", tool: "save", input: text }])
  await executor.execute("save", text)
  await executor.executeMany([{ name: "save", arguments: text }])
  expect(seen).toEqual(Array.from({ length: 4 }, () => ({ path: "a" })))
  const none = await app.call({ agentId: "operator", tool: "current_time", input: "" })
  expect(none.success).toBe(true)
})

test("rules, approvers, keys, why and the audit log see the value and not the text", async () => {
  const { app, seen } = await appWithSave()
  const secret = { path: "secret.txt" }
  const text = JSON.stringify(secret)
  expect((await app.call({ agentId: "operator", tool: "save", input: text })).code).toBe("permission_denied")
  expect(await app.why({ agentId: "operator", tool: "save", input: text })).toMatchObject({ verdict: "deny" })

  const { callId } = await app.call({ agentId: "operator", tool: "ask", input: text }, { waitMs: 0 })
  expect((await app.approvals.show(callId))?.input).toEqual(secret)

  const keyed = { agentId: "operator", tool: "save", key: "k" }
  const first = await app.call({ ...keyed, input: { path: "b" } })
  expect((await app.call({ ...keyed, input: ' { "path" : "b" } ' })).callId).toBe(first.callId)
  expect(seen).toEqual([{ path: "b" }])

  const refused = await app.call({ agentId: "operator", tool: "no_such_tool", input: '{"password":"hunter2"}' })
  await app.settle()
  const [entry] = await app.audit.show(refused.callId)
  expect(entry).toMatchObject({ kind: "end", input: expect.stringMatching(/^\{"password":/) })
  expect(JSON.stringify(entry)).not.toContain("hunter2")
})

test.each(["{", "[]", '"{}"', "null", "path=a", '{"path":"a"} and more'])("the text %s is refused", async (input) => {
  const { app, seen } = await appWithSave()
  const refused = await app.call({ agentId: "operator", tool: "save", input })
  const error =
    "Validation failed: The input is a text that is not a JSON object; it may have been cut off. Correct the input of save."
  expect(refused).toMatchObject({ code: "invalid_arguments", error })
  expect(seen).toEqual([])
})

test("a tool that takes texts gets the text", async () => {
  const app = await openTestApp()
  app.registry.register(tool({ name: "echo", input: z.string() as never, execute: (given) => given }))
  expect(await app.call({ agentId: "operator", tool: "echo", input: '{"a":1}' })).toMatchObject({ result: '{"a":1}' })
})
