import { expect, test } from "vitest"
import { serveAppForTest } from "../testing.ts"

const call = {
  session_id: "s",
  cwd: "/",
  permission_mode: "default",
  hook_event_name: "PreToolUse",
  tool_name: "TodoWrite",
  tool_input: {},
  tool_use_id: "1",
}
const body = { agentId: "operator", text: JSON.stringify(call), waitMs: 0 }

test("a hook is answered with the key of the data folder, and with no other", async () => {
  const { served } = await serveAppForTest({}, { localKey: "the-key" })
  const ask = (key: string | undefined, more: object = {}) =>
    fetch(`${served.url}/v1/hooks/claude`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key && { "x-quartermaster-local": key }) },
      body: JSON.stringify({ ...body, ...more }),
    })
  const answered = await ask("the-key")
  expect(answered.status).toBe(200)
  expect(await answered.json()).toMatchObject({ stdout: expect.stringContaining('"allow"'), stderr: "", code: 0 })
  for (const key of [undefined, "", "the-kex", "the-key-and-more"]) expect((await ask(key)).status).toBe(401)
  expect((await ask("the-key", { agentId: 1 })).status).toBe(400)
})

test("a server without a key answers no hook", async () => {
  const { served } = await serveAppForTest()
  const headers = { "content-type": "application/json", "x-quartermaster-local": "" }
  const answered = await fetch(`${served.url}/v1/hooks/claude`, { method: "POST", headers, body: JSON.stringify(body) })
  expect(answered.status).toBe(401)
})
