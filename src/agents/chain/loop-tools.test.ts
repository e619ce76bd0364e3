import { expect, test } from "vitest"
import { isTicket } from "../../core/result.ts"
import { dataFolder, openTestApp } from "../../testing/test-app.ts"
import { interruptedAnswers, loopTools } from "./loop-tools.ts"

test.each(loopTools.map(({ name }) => name))(
  "an agent cannot ask people with %s in the name of the loop",
  async (tool) => {
    const app = await openTestApp()
    const key = "talk/1/0/interrupted"
    const input = { call: "c1", tool: "send", input: "{}", conversation: "talk", agent: "operator", hops: 20, more: 20 }
    for (const more of [{}, { key, sessionId: "talk" }])
      expect(await app.call({ agentId: "operator", tool, input, ...more })).toMatchObject({
        code: "tool_not_available",
      })
    expect(await app.approvals.list()).toEqual([])
  },
)

test("a question about an interrupted call stays as it is when another process looks at it, and can be answered there", async () => {
  const dir = await dataFolder()
  const first = await openTestApp({ data: { dir } })
  const input = { call: "c1", tool: "send", input: "{}" }
  const about = { agentId: "operator", sessionId: "talk", resumableUntil: Date.now() + 60_000, fromLoop: true }
  const question = { ...about, tool: "agents:interrupted", input, key: "talk/1/0/interrupted" }
  const [ticket] = await first.callMany([question], { waitMs: 0 })
  expect(ticket).toSatisfy(isTicket)
  await first.close()

  const { callId } = ticket!
  const second = await openTestApp({ data: { dir } })
  expect(await second.resume(callId, { waitMs: 0 })).toSatisfy(isTicket)
  await second.approvals.answer(callId, { kind: "answer", value: interruptedAnswers.ran }, "ann")
  expect(await second.resume(callId)).toMatchObject({ success: true, result: { answer: interruptedAnswers.ran } })
  const [joined] = await second.callMany([question])
  expect(joined).toMatchObject({ callId, success: true })
})
