import fc from "fast-check"
import { expect, test } from "vitest"
import { societyConversation } from "../core/society-conversation.ts"
import { agent, ann, codeOf, openDirectory } from "./testing/open-directory.ts"

const config = {
  roles: [{ name: "dev" }],
  agents: ["a", "b"].map((id) => ({ id, role: "dev" })),
}

async function openTeam() {
  const clock = { now: 1000 }
  const opened = await openDirectory({ config, now: () => clock.now })
  const { directory } = opened
  for (const [id, taskId] of [
    ["one", "t1"],
    ["uno", "t1"],
    ["two", "t2"],
    ["ended", "t1"],
  ] as const) {
    await directory.createAgent({ id, role: "dev", taskId }, ann)
  }
  await directory.terminateAgent("ended", ann)
  opened.events.length = 0
  return { ...opened, clock }
}

test("a message is stored for its recipient, then announced, and another process reads it", async () => {
  const { directory, events, again } = await openTeam()
  const sent = await directory.sendMessage({ from: "one", to: "uno", payload: { 问: "好", n: [1] } })
  expect(sent).toEqual({
    id: expect.any(String),
    from: "one",
    to: "uno",
    payload: { 问: "好", n: [1] },
    taskId: "t1",
    kind: "message",
    hops: 1,
    target: societyConversation("uno", "t1"),
    createdAt: 1000,
    deliverAt: 1000,
    readAt: null,
  })
  expect(events).toEqual([{ type: "MESSAGE_SENT", at: 1000, message: sent.id, from: "one", to: "uno" }])
  expect(await (await again()).directory.inbox("uno")).toEqual([sent])
  await directory.markRead([sent.id])
  expect(await directory.inbox("uno", { unreadOnly: true })).toEqual([])
  expect(await directory.inbox("uno")).toEqual([{ ...sent, readAt: 1000 }])
})

test("a message has its sender's task, or the call's when the sender has none", async () => {
  const { directory } = await openTeam()
  const taskOf = async (from: string) =>
    (await directory.sendMessage({ from, to: "root", payload: 1, taskId: "the call's" })).taskId
  expect([await taskOf("one"), await taskOf("a"), await taskOf("user")]).toEqual(["t1", "the call's", "the call's"])
})

test("a delayed message arrives after its delay", async () => {
  const { directory, clock } = await openTeam()
  const sent = await directory.sendMessage({ from: "a", to: "b", payload: 1, delayMs: 500 })
  expect(sent.deliverAt).toBe(1500)
  clock.now = 1499
  expect(await directory.inbox("b")).toEqual([])
  clock.now = 1500
  expect(await directory.inbox("b")).toEqual([sent])
})

test.each([
  ["a", "b", undefined],
  ["a", "one", undefined],
  ["one", "a", undefined],
  ["one", "uno", undefined],
  ["one", "one", "own_inbox"],
  ["one", "two", "cross_task_communication_denied"],
  ["one", "root", undefined],
  ["one", "user", undefined],
  ["root", "two", undefined],
  ["user", "two", undefined],
  ["ann", "two", undefined],
  ["one", "operator", undefined],
  ["one", "ended", "unknown_recipient"],
  ["one", "nobody", "unknown_recipient"],
  ["one", "ann", "unknown_recipient"],
  ["ended", "one", "sender_terminated"],
  ["ended", "root", "sender_terminated"],
  ["ended", "nobody", "sender_terminated"],
])("a message from %s to %s: %s", async (from, to, code) => {
  const { directory, events } = await openTeam()
  expect(await codeOf(directory.sendMessage({ from, to, payload: "x", taskId: "t2" }))).toBe(code)
  expect(events).toHaveLength(code === undefined ? 1 : 0)
  expect(await directory.inbox(to)).toHaveLength(code === undefined ? 1 : 0)
})

test("an agent whose role was deleted neither sends nor receives messages", async () => {
  const { directory } = await openTeam()
  await directory.createRole({ name: "brief" }, ann)
  await directory.createAgent({ id: "x", role: "brief" }, ann)
  await directory.deleteRole("brief", ann)
  expect(await codeOf(directory.sendMessage({ from: "x", to: "a", payload: 1 }))).toBe("sender_terminated")
  expect(await codeOf(directory.sendMessage({ from: "a", to: "x", payload: 1 }))).toBe("unknown_recipient")
})

test.each<[string, unknown, number | undefined, string | undefined]>([
  ["nothing", undefined, undefined, "invalid_payload"],
  ["a function", () => 1, undefined, "invalid_payload"],
  ["a date inside", { at: new Date(0) }, undefined, "invalid_payload"],
  ["NaN", Number.NaN, undefined, "invalid_payload"],
  ["null", null, undefined, undefined],
  ["just under a megabyte", "x".repeat(999_998), undefined, undefined],
  ["just over a megabyte", "x".repeat(999_999), undefined, "payload_too_large"],
  ["a megabyte in fewer characters", "中".repeat(333_333), undefined, "payload_too_large"],
  ["a delay before now", 1, -1, "invalid_delay"],
  ["a delay of a fraction", 1, 0.5, "invalid_delay"],
  ["a delay of NaN", 1, Number.NaN, "invalid_delay"],
  ["a delay of a year", 1, 365 * 86_400_000, "invalid_delay"],
])("a message with %s", async (_what, payload, delayMs, code) => {
  const { directory } = await openTeam()
  expect(await codeOf(directory.sendMessage({ from: "a", to: "b", payload, delayMs }))).toBe(code)
})

test("law: the JSON that was sent arrives, whatever happens to the original afterwards", async () => {
  const { directory } = await openTeam()
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ stringUnit: "binary" }), async (payload) => {
      fc.pre(!JSON.stringify(payload).includes('"__proto__":'))
      const list = [payload]
      const sent = await directory.sendMessage({ from: "a", to: "b", payload: list })
      list.push("more")
      expect(sent.payload).toEqual(JSON.parse(JSON.stringify([payload])))
      expect((await directory.inbox("b", { unreadOnly: true })).at(-1)).toEqual(sent)
      await directory.markRead([sent.id])
    }),
    { numRuns: 100 },
  )
})

test("a child writes to its parent and its sibling, and not to agents of another task", async () => {
  const { directory } = await openTeam()
  const createEntryAgent = async () => (await directory.createAgent({ role: "dev" }, agent("root"))).id
  const [first, second] = [await createEntryAgent(), await createEntryAgent()]
  const { role } = await directory.createRole({ name: "mine" }, agent(first))
  const children = [
    (await directory.createAgent({ role: role.id }, agent(first))).id,
    (await directory.createAgent({ role: role.id }, agent(first))).id,
  ] as const
  const send = (from: string, to: string) => codeOf(directory.sendMessage({ from, to, payload: 1 }))
  expect(await send(children[0], first)).toBeUndefined()
  expect(await send(children[0], children[1])).toBeUndefined()
  expect(await send(children[0], second)).toBe("cross_task_communication_denied")
  expect(await send(second, children[0])).toBe("cross_task_communication_denied")
})
