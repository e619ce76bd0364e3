import { expect, test } from "vitest"
import { itemsInTree } from "../../interfaces/cli/commands/agents/wait-for-agents.ts"
import { societyConversation } from "../../core/society-conversation.ts"
import { tool, until } from "../../testing/test-app.ts"
import type { TurnLog } from "../chain/log.ts"
import type { CallContext } from "../chain/call-context.ts"
import type { ChainTurn } from "../context/turns.ts"
import { modelOf } from "../testing/played-model.ts"
import { checkHops } from "./hops.ts"
import { openTeam } from "./testing/open-team.ts"

const brief = { objective: "x", constraints: [], inputs: "none", outputs: "y", completion_criteria: "z" }
const ann = { kind: "person", id: "ann" } as const
const usage = { inputTokens: 100, outputTokens: 0 }

/** Root hires two helpers, each with a task of its own. */
async function openHelpers(config: object) {
  return openTeam(({ agentId, round, last }) => {
    if (agentId !== "root") return { usage, say: "Helped." }
    if (round === 0) return { usage, calls: [{ name: "create_role", input: { name: "helper", rolePrompt: "Help.", toolGroups: [] } }] } // prettier-ignore
    const role = /"id": ?"([^"]+)"/.exec(last)?.[1]
    const spawn = { name: "spawn_agent_with_task", input: { roleId: role, taskBrief: brief, initialMessage: "Go." } }
    return round === 1 ? { usage, calls: [spawn, spawn] } : { usage, say: "Done." }
  }, config)
}

test("agents with different tasks that use up the budget of their tree ask once, and the yes holds for all of them", async () => {
  const app = await openHelpers({ agents: { maxTokens: 300 } })
  const running = app.society.start()
  const { id } = await app.society.message({ to: "root", payload: "Go.", by: "ada" })
  await until(async () => (await app.approvals.list()).length > 0, "it asked")
  await running.idle()
  const [item, ...more] = await app.approvals.list()
  expect(item).toMatchObject({ tool: "agents:budget", agentId: "root", userId: "ada" })
  expect(more).toEqual([])
  const [root] = (await app.conversations.list({ agentId: "root" })).conversations
  const answers = async () => (await app.conversations.turns(root!.id)).filter(({ kind }) => kind === "budget")
  expect(await answers()).toEqual([])
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect((await app.society.answer(id))?.payload).toBe("Done.")
  await running.idle()
  expect(await app.approvals.list()).toEqual([])
  for (const { body } of await answers()) expect(body).toMatchObject({ callId: item!.callId, moreTokens: 300 })
})

test("agents with different tasks that write too often ask once, and only a person's no is a no", async () => {
  const app = await openTeam(() => ({ say: "Done." }))
  const turns: ChainTurn[] = []
  const root = {
    id: "top",
    agentId: "root",
    turns: () => Promise.resolve(turns),
    post: ({ kind, body }: object & { kind: string; body: unknown }) =>
      Promise.resolve(void turns.push({ index: turns.length, at: 0, kind, body } as ChainTurn)),
  }
  const check = (hops: number, taskId: string, signal?: AbortSignal) => {
    const message = { id: "m", from: "root", kind: "message", hops }
    const log = { root, turns: [{ index: 0, at: 0, kind: "user", body: { text: "", begins: true, by: "root", message } }] } // prettier-ignore
    const request = { agentId: "dev", sessionId: "below", taskId, signal }
    const person = () => "ada"
    const waitMs = signal === undefined ? 0 : undefined
    return checkHops(log as unknown as TurnLog, { app, request, person, waitMs } as unknown as CallContext)
  }
  const stopped = new AbortController()
  const first = check(20, "t0", stopped.signal)
  await until(async () => (await app.approvals.list()).length === 1, "the first one asked")
  stopped.abort()
  expect(await first).toBeUndefined()
  expect(turns).toEqual([])
  const asked = [await check(20, "t1"), await check(22, "t2")]
  const [item, ...more] = await app.approvals.list()
  expect(more).toEqual([])
  expect(asked).toMatchObject([{ waiting: { callId: item!.callId } }, { waiting: { callId: item!.callId } }])
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect([await check(20, "t1"), await check(22, "t2")]).toEqual([undefined, undefined])
  await app.freeze({ by: "ann" })
  expect(await check(40, "t1")).toMatchObject({ usedUp: expect.stringContaining("40 messages") })
  expect(turns.filter(({ body }) => (body as { more: number }).more === 0)).toEqual([])
})

/** Root in a chat that asks dev, who sends something in its second run. */
async function openChats() {
  const app = await openTeam(({ agentId, messages }) => {
    const texts = messages.filter(({ role }) => role === "user").length
    const isNew = messages.at(-1)!.role === "user"
    return agentId === "dev" && texts === 2 && isNew ? { calls: [{ name: "send" }], usage } : { say: "Done.", usage }
  })
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const chat = () => {
    const model = modelOf({ calls: [{ name: "send_message", input: { to: "dev", payload: "Work." } }], usage }, { say: "Asked.", usage }) // prettier-ignore
    return app.chain("root", { durable: true, wakes: false, userId: "ada", model })
  }
  return { app, chats: [chat(), chat()] as const }
}

test("an agent that two chats ask belongs to the tree of the one that it works for: its tokens, its questions, its going on", async () => {
  const { app, chats } = await openChats()
  const [one, two] = chats
  const first = app.society.start({ within: one.id })
  await one.run("Go.")
  await first.idle()
  await first.stop()
  const second = app.society.start({ within: two.id })
  await two.run("Go.")
  await second.idle()
  const items = await app.approvals.list()
  expect(items).toMatchObject([{ tool: "send" }])
  expect(await itemsInTree(app as never, two.id)).toEqual(items)
  expect(await itemsInTree(app as never, one.id)).toEqual([])
  await app.approvals.answer(items[0]!.callId, { kind: "approve" }, "ann")
  await second.idle()
  const dev = await app.conversations.get(societyConversation("dev", undefined))
  expect(dev).toMatchObject({ state: "idle", root: two.id, spent: { inputTokens: 300 } })
  expect((await app.society.openMessages(two.id)).unread).toBe(1)
})

/** An agent, temp, that asks dev as soon as a person writes to it. */
async function openTemp() {
  const config = { agents: { maxTokens: 400 } }
  const app = await openTeam(({ agentId, last }) => {
    const asks = agentId === "temp" && last.includes("A message from the user")
    return { usage, ...(asks ? { calls: [{ name: "send_message", input: { to: "dev", payload: "Work." } }] } : { say: "Done." }) } // prettier-ignore
  }, config)
  await app.org.createAgent({ id: "temp", role: "dev" }, ann)
  return { app, running: app.society.start() }
}

test("an agent whom one asked first that has ended works for others in their trees, and a person can give it more", async () => {
  const { app, running } = await openTemp()
  const send = (to: string, by: string) => app.society.message({ to, payload: "Go.", by })
  expect((await app.society.answer((await send("temp", "ada")).id))?.payload).toBe("Done.")
  await app.org.terminateAgent("temp", ann)
  for (const _round of [1, 2, 3, 4])
    expect((await app.society.answer((await send("dev", "bob")).id))?.payload).toBe("Done.")
  const { id } = await send("dev", "bob")
  await running.idle()
  const items = await app.approvals.list()
  expect(items).toMatchObject([{ tool: "agents:budget", agentId: "dev" }])
  await app.approvals.answer(items[0]!.callId, { kind: "approve" }, "ann")
  expect((await app.society.answer(id))?.payload).toBe("Done.")
})

test("a run that begins after the top of its tree has ended counts in its own", async () => {
  const { app, running } = await openTemp()
  await app.freeze({ agentId: "dev", by: "ann" })
  await app.society.message({ to: "temp", payload: "Go.", by: "ada" })
  await running.idle()
  expect(await app.org.inbox("dev")).toMatchObject([{ root: societyConversation("temp", undefined) }])
  await app.org.terminateAgent("temp", ann)
  await app.thaw({ agentId: "dev", by: "ann" })
  await running.idle()
  const dev = await app.conversations.get(societyConversation("dev", undefined))
  expect(dev).toMatchObject({ state: "idle", root: "", spent: { inputTokens: 100 } })
})
