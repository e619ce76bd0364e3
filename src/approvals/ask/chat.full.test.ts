import fc from "fast-check"
import { expect, test } from "vitest"
import { newReplyCode } from "./reply-code.ts"
import { agentText, hiddenCharactersIn } from "./testing.ts"
import { fakeChat, askCall } from "./testing/chat.ts"

test("a code is never in what the agent wrote, even if that holds every code of four letters", () => {
  const letters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
  const pairs = Array.from(letters).flatMap((a) => Array.from(letters, (b) => a + b))
  const text = pairs
    .map((pair) => pairs.map((other) => pair + other).join(""))
    .join("")
    .toLowerCase()
  const code = newReplyCode([text], () => false)
  expect(code.length).toBe(5)
  expect(text).not.toContain(code.toLowerCase())
  const taken = new Set(pairs.flatMap((pair) => pairs.map((other) => pair + other)))
  expect(newReplyCode([], (one) => taken.has(one)).length).toBe(5)
})

test("law: nothing an agent writes puts a hidden character or an unmarked line into the chat, or holds the code", async () => {
  await fc.assert(
    fc.asyncProperty(agentText, agentText, agentText, async (input, preview, agentId) => {
      const chat = fakeChat()
      const answer = askCall(chat.adapter, { input: { input }, preview, agentId, description: preview })
      const code = await chat.code()
      await chat.say(`show ${code}`)
      const text = chat.posted.join("\n")
      expect(hiddenCharactersIn(text)).toEqual([])
      const rows = text.split("\n").filter((row) => /^(because|must agree|To answer|> )/.test(row))
      expect(rows).toEqual([expect.stringMatching(/^To answer, reply/), expect.stringMatching(/^To answer, reply/)])
      expect(`${input}${preview}${agentId}`.toUpperCase()).not.toContain(code)
      void chat.say(`approve ${code}`)
      expect(await answer).toMatchObject({ approved: true })
    }),
    { numRuns: 100 },
  )
})
