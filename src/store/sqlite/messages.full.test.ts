import { expect, test } from "vitest"
import { openTwoMessages, someMessage } from "../testing/messages.ts"

test("an inbox returns at most a thousand messages: the oldest unread, or the newest of all", async () => {
  const [messages] = await openTwoMessages()
  const all = Array.from({ length: 1005 }, (_, index) => someMessage({ payload: index, deliverAt: index }))
  for (const one of all) await messages.insert(one)
  const payloads = async (unreadOnly: boolean) =>
    (await messages.inbox("bob", { at: 9999, unreadOnly })).map(({ payload }) => payload as number)
  const unread = await payloads(true)
  const newest = await payloads(false)
  expect([unread.length, unread[0], unread.at(-1)]).toEqual([1000, 0, 999])
  expect([newest.length, newest[0], newest.at(-1)]).toEqual([1000, 5, 1004])
})
