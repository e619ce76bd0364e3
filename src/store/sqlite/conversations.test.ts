import { expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import { dataFolder } from "../../testing/test-app.ts"
import { someRow } from "../calls.contract.ts"
import { conversationsContract, someConversation } from "../conversations.contract.ts"
import { openStore } from "./store.ts"

async function openTwo() {
  const dataDir = await dataFolder()
  const open = async (owner: string) => {
    const store = await openStore({ dataDir, owner, logger: silentLogger, writes: "direct" })
    onTestFinished(() => store.close())
    return store
  }
  return [await open("one"), await open("two")] as const
}

conversationsContract("embedded", async () => {
  const [one, two] = await openTwo()
  return [one.conversations, two.conversations, two.messages]
})

test("the ended calls of a conversation are kept until it ends", async () => {
  const [store] = await openTwo()
  const { id } = await store.conversations.create(someConversation())
  const calls = await store.calls()
  const kept = someRow({ state: "ended", sessionId: id })
  const other = someRow({ state: "ended", sessionId: "elsewhere" })
  for (const row of [kept, other]) await calls.insert(row)
  expect(await calls.erase(Date.now() + 60_000)).toBe(1)
  expect(await calls.get(kept.id)).toBeDefined()
  await store.conversations.append(id, { owner: "one", epoch: 0 }, [], { state: "ended" })
  expect(await calls.erase(Date.now() + 60_000)).toBe(1)
})

test("a conversation waits for a person while a call in it does, or in one below it, and only then", async () => {
  const [store] = await openTwo()
  const top = await store.conversations.create(someConversation())
  const below = await store.conversations.create(someConversation({ root: top.id }))
  const other = await store.conversations.create(someConversation())
  const calls = await store.calls()
  const shown = async () => {
    const { conversations } = await store.conversations.list()
    return [top, below, other].map(({ id }) => conversations.find((each) => each.id === id)?.shown)
  }
  expect(await shown()).toEqual(["working", "working", "working"])
  await calls.insert(someRow({ state: "held", sessionId: below.id }))
  await calls.insert(someRow({ state: "started", sessionId: other.id }))
  expect(await shown()).toEqual(["waiting", "waiting", "working"])
  await calls.insert(someRow({ state: "waiting", sessionId: other.id }))
  expect(await shown()).toEqual(["waiting", "waiting", "waiting"])
})
