import { Server } from "@modelcontextprotocol/server"
import { expect, test } from "vitest"
import { ClientSessions } from "./client-sessions.ts"

const ada = { agentId: "ada", tokenId: "t1" }
const minute = 60_000

function openSessions(options: { max?: number } = {}) {
  const clock = { now: 0 }
  const ended: string[] = []
  const sessions = new ClientSessions({
    now: () => clock.now,
    ...options,
    server(_identity, id) {
      const server = new Server({ name: "test", version: "1" }, { capabilities: {} })
      return Object.assign(server, { onclose: () => void ended.push(id) })
    },
  })
  const begin = async (at = clock.now, identity = ada) => {
    clock.now = at
    const session = await sessions.begin(identity)
    if (session === undefined) throw new Error("There was no room.")
    return session
  }
  return { clock, ended, sessions, begin }
}

test("a session is found only with the token that began it", async () => {
  const { sessions, begin } = openSessions()
  const { id } = await begin()
  expect(sessions.find(id, ada)?.id).toBe(id)
  expect(sessions.find(id, { agentId: "ada", tokenId: "t2" })).toBeUndefined()
  expect(sessions.find(id, { agentId: "eve", tokenId: "t1" })).toBeUndefined()
  expect(sessions.find("something else", ada)).toBeUndefined()
})

test("a session ends after 15 idle minutes, not before", async () => {
  const { clock, sessions, begin, ended } = openSessions()
  const { id } = await begin()
  clock.now = 15 * minute - 1
  sessions.sweep(() => true)
  expect(sessions.find(id, ada)?.id).toBe(id)
  clock.now = 15 * minute
  expect(sessions.find(id, ada)).toBeUndefined()
  expect({ size: sessions.size, ended }).toEqual({ size: 0, ended: [id] })
})

test("a sweep ends idle sessions, but not those with an open request or a listening client", async () => {
  const { clock, sessions, begin } = openSessions()
  const [idle, busy, listening] = [await begin(), await begin(), await begin()]
  const release = sessions.use(busy)
  const stopListening = sessions.listen(listening)
  clock.now = 60 * minute
  sessions.sweep(() => true)
  expect([idle, busy, listening].map(({ id }) => sessions.find(id, ada) !== undefined)).toEqual([false, true, true])
  release()
  stopListening()
  clock.now = 74 * minute
  sessions.sweep(() => true)
  expect(sessions.size).toBe(2)
  clock.now = 75 * minute
  sessions.sweep(() => true)
  expect(sessions.size).toBe(0)
})

test("a session ends with its token", async () => {
  const { sessions, begin } = openSessions()
  const mine = await begin()
  const theirs = await begin(0, { agentId: "bob", tokenId: "t2" })
  sessions.sweep(({ tokenId }) => tokenId !== "t1")
  expect(sessions.find(mine.id, ada)).toBeUndefined()
  expect(sessions.find(theirs.id, theirs.identity)?.id).toBe(theirs.id)
})

test("at the limit the session idle longest makes room, listening ones last", async () => {
  const { sessions, begin } = openSessions({ max: 3 })
  const [listening, old, young] = [await begin(1), await begin(2), await begin(3)]
  sessions.listen(listening)
  await begin(4)
  expect([listening, old, young].map(({ id }) => sessions.find(id, ada) !== undefined)).toEqual([true, false, true])
  await begin(5)
  await begin(6)
  expect(sessions.find(listening.id, ada)?.id).toBe(listening.id)
  expect(sessions.size).toBe(3)
})

test("at the limit no session begins while none is idle", async () => {
  const { sessions, begin } = openSessions({ max: 2 })
  for (const session of [await begin(), await begin()]) sessions.use(session)
  expect(await sessions.begin(ada)).toBeUndefined()
  expect(sessions.size).toBe(2)
})

test("by default there are at most a thousand sessions", async () => {
  const { sessions, begin } = openSessions()
  for (let index = 0; index < 1001; index += 1) await begin(index)
  expect(sessions.size).toBe(1000)
})

test("a session ends when its transport closes", async () => {
  const { sessions, begin, ended } = openSessions()
  const { id, transport } = await begin()
  await transport.close()
  expect({ size: sessions.size, ended }).toEqual({ size: 0, ended: [id] })
})

test("at the limit the token with most sessions makes room", async () => {
  const { sessions, begin } = openSessions({ max: 3 })
  const eve = { agentId: "eve", tokenId: "t9" }
  const first = await begin(1)
  await begin(2, eve)
  await begin(3, eve)
  for (const at of [4, 5, 6]) await begin(at, eve)
  expect(sessions.find(first.id, ada)?.id).toBe(first.id)
})
