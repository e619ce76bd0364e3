import fc from "fast-check"
import { expect, test } from "vitest"
import { newId } from "../../lib/new-id.ts"
import { openTwoMessages, someMessage } from "../testing/messages.ts"

test("law: any JSON is read back equal by every connection", async () => {
  const [here, there] = await openTwoMessages()
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ stringUnit: "binary" }),
      fc.option(fc.string(), { nil: undefined }),
      async (payload, taskId) => {
        const to = newId()
        const sent = someMessage({
          to,
          payload: JSON.parse(JSON.stringify(payload)),
          ...(taskId === undefined ? {} : { taskId }),
        })
        await here.insert(sent)
        expect(await there.inbox(to, { at: 1 })).toEqual([sent])
      },
    ),
    { numRuns: 100 },
  )
})

test("an inbox has its owner's delivered messages, oldest first", async () => {
  const [messages] = await openTwoMessages()
  const late = someMessage({ payload: "late", deliverAt: 30 })
  const early = someMessage({ payload: "early", deliverAt: 10 })
  const same = someMessage({ payload: "same time, later id", deliverAt: 10 })
  for (const one of [late, same, early, someMessage({ to: "cid", deliverAt: 5 })]) await messages.insert(one)
  const payloads = async (at: number) => (await messages.inbox("bob", { at })).map(({ payload }) => payload)
  expect(await payloads(9)).toEqual([])
  expect(await payloads(10)).toEqual(["early", "same time, later id"])
  expect(await payloads(30)).toEqual(["early", "same time, later id", "late"])
  expect(await messages.inbox("nobody", { at: 99 })).toEqual([])
})

test("an agent's correspondence has the newest messages to it and from it, newest first", async () => {
  const [messages] = await openTwoMessages()
  const sent = [
    someMessage({ payload: "to", deliverAt: 10 }),
    someMessage({ payload: "from", from: "bob", to: "cid", deliverAt: 20 }),
    someMessage({ payload: "other", from: "ann", to: "cid", deliverAt: 30 }),
    someMessage({ payload: "later", deliverAt: 40 }),
  ]
  for (const one of sent) await messages.insert(one)
  const payloads = async (at: number, limit: number) =>
    (await messages.correspondence("bob", { at, limit })).map(({ payload }) => payload)
  expect(await payloads(30, 10)).toEqual(["from", "to"])
  expect(await payloads(99, 2)).toEqual(["later", "from"])
})

test("a read message stays with the time it was first read, and is no longer unread", async () => {
  const [here, there] = await openTwoMessages()
  const [one, two] = [someMessage(), someMessage()]
  await here.insert(one)
  await here.insert(two)
  await here.markRead([], 5)
  await there.markRead([one.id, "nothing"], 5)
  await here.markRead([one.id], 9)
  expect(await here.inbox("bob", { at: 1, unreadOnly: true })).toEqual([two])
  expect(await here.inbox("bob", { at: 1 })).toEqual([{ ...one, readAt: 5 }, two])
})

test("a second message with the same id is refused", async () => {
  const [messages] = await openTwoMessages()
  const sent = someMessage()
  await messages.insert(sent)
  await expect(messages.insert({ ...sent, payload: "other" })).rejects.toThrow()
  expect(await messages.inbox("bob", { at: 1 })).toEqual([sent])
})

test("each conversation with unread messages is named once, by its oldest that is due", async () => {
  const [messages] = await openTwoMessages()
  const to = (target: string, deliverAt: number) => someMessage({ target, deliverAt })
  const [late, early, other] = [to("society-a", 20), to("society-a", 10), to("society-b", 15)]
  for (const one of [late, early, other, to("chat", 5), to("society-c", 99)]) await messages.insert(one)
  expect(await messages.unreadConversations("society-", 30)).toEqual([early, other])
  expect(await messages.unreadFor("society-a", { at: 30, limit: 9 })).toEqual([early, late])
  await messages.markRead([early.id, other.id], 40)
  expect(await messages.unreadConversations("society-", 30)).toEqual([late])
})

test("a message is open until its answer is read, and it is answered once", async () => {
  const [here, there] = await openTwoMessages()
  const asked = someMessage({ conversationId: "talk" })
  for (const one of [asked, someMessage({ conversationId: "talk", to: "user" }), someMessage()]) await here.insert(one)
  expect(await there.openFrom("talk")).toEqual([asked])
  const answers = ["first", "second"].map((payload) => someMessage({ kind: "answer", about: asked.id, payload }))
  for (const answer of answers) await there.settle([asked.id], [answer], 7)
  expect(await here.openFrom("talk")).toEqual([{ ...asked, readAt: 7 }])
  expect(await here.answerTo(asked.id)).toEqual(answers[0])
  expect(await here.unreadTo("bob")).not.toContainEqual(asked)
  await there.markRead([answers[0]!.id], 8)
  expect(await here.openFrom("talk")).toEqual([])
})

test("a reply goes where the other wrote from", async () => {
  const [messages] = await openTwoMessages()
  for (const conversationId of ["first", "second"]) await messages.insert(someMessage({ conversationId }))
  expect(await messages.lastConversation("ann", "bob")).toBe("second")
  expect(await messages.lastConversation("bob", "ann")).toBeUndefined()
})
