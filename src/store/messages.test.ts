import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { newId } from "../model/identity.ts"
import type { Message } from "../model/organisation.ts"
import { databaseFile } from "../testing/open.ts"
import { openDatabase } from "./database.ts"
import { SqliteMessages } from "./messages.ts"

async function openTwo(): Promise<[SqliteMessages, SqliteMessages]> {
  const file = await databaseFile()
  const opened = []
  for (let index = 0; index < 2; index++) {
    const database = await openDatabase(file)
    onTestFinished(() => database.close())
    opened.push(new SqliteMessages(database))
  }
  return opened as [SqliteMessages, SqliteMessages]
}

function message(given: Partial<Message> = {}): Message {
  return { id: newId(), from: "ann", to: "bob", payload: "hello", createdAt: 1, deliverAt: 1, readAt: null, ...given }
}

test("law: any JSON comes back equal, to every connection", async () => {
  const [here, there] = await openTwo()
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ stringUnit: "binary" }),
      fc.option(fc.string(), { nil: undefined }),
      async (payload, taskId) => {
        const to = newId()
        const sent = message({
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

test("an inbox has what arrived for its owner, the oldest first, and nothing before its time", async () => {
  const [messages] = await openTwo()
  const late = message({ payload: "late", deliverAt: 30 })
  const early = message({ payload: "early", deliverAt: 10 })
  const same = message({ payload: "same time, later id", deliverAt: 10 })
  for (const one of [late, same, early, message({ to: "cid", deliverAt: 5 })]) await messages.insert(one)
  const payloads = async (at: number) => (await messages.inbox("bob", { at })).map(({ payload }) => payload)
  expect(await payloads(9)).toEqual([])
  expect(await payloads(10)).toEqual(["early", "same time, later id"])
  expect(await payloads(30)).toEqual(["early", "same time, later id", "late"])
  expect(await messages.inbox("nobody", { at: 99 })).toEqual([])
})

test("what was read stays, with the time it was first read, and is no longer unread", async () => {
  const [here, there] = await openTwo()
  const [one, two] = [message(), message()]
  await here.insert(one)
  await here.insert(two)
  await here.markRead([], 5)
  await there.markRead([one.id, "nothing"], 5)
  await here.markRead([one.id], 9)
  expect(await here.inbox("bob", { at: 1, unreadOnly: true })).toEqual([two])
  expect(await here.inbox("bob", { at: 1 })).toEqual([{ ...one, readAt: 5 }, two])
})

test("of more than a thousand the oldest unread ones are given, or the newest of all", async () => {
  const [messages] = await openTwo()
  const all = Array.from({ length: 1005 }, (_, index) => message({ payload: index, deliverAt: index }))
  for (const one of all) await messages.insert(one)
  const payloads = async (unreadOnly: boolean) =>
    (await messages.inbox("bob", { at: 9999, unreadOnly })).map(({ payload }) => payload as number)
  const unread = await payloads(true)
  const newest = await payloads(false)
  expect([unread.length, unread[0], unread.at(-1)]).toEqual([1000, 0, 999])
  expect([newest.length, newest[0], newest.at(-1)]).toEqual([1000, 5, 1004])
})

test("a message is kept once: the same id again is refused", async () => {
  const [messages] = await openTwo()
  const sent = message()
  await messages.insert(sent)
  await expect(messages.insert({ ...sent, payload: "other" })).rejects.toThrow()
  expect(await messages.inbox("bob", { at: 1 })).toEqual([sent])
})
