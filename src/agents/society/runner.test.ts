import { expect, test } from "vitest"
import { waitForAgents } from "../../interfaces/cli/commands/agents/wait-for-agents.ts"
import { societyConversation } from "../../core/society-conversation.ts"
import { tool, until } from "../../testing/test-app.ts"
import { modelOf } from "../testing/played-model.ts"
import { openTeam, textOf, type Answer } from "./testing/open-team.ts"

const ann = { kind: "person", id: "ann" } as const
const devs = societyConversation("dev", undefined)
const sendsFirst: Answer = ({ round }) => (round === 0 ? { calls: [{ name: "send" }] } : { say: "Done." })

/** A team whose agents need an approval to send. */
async function openSenders(answer = sendsFirst) {
  const app = await openTeam(answer)
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const asked = () => until(async () => (await app.approvals.list()).length === 1, "it asked")
  const stateOfDev = async () => (await app.society.overview()).find(({ agentId }) => agentId === "dev")?.state
  return { app, asked, stateOfDev }
}

test("a stop ends a run that waits for a person, with its question, and who asked gets an answer", async () => {
  const { app, asked } = await openSenders()
  const running = app.society.start()
  const { id } = await app.society.message({ to: "dev", payload: "Send it.", by: "ada" })
  await asked()
  await running.idle()
  expect(await app.conversations.stop(devs, "ada")).toBe(true)
  expect((await app.society.answer(id))?.payload).toBe("Agent dev was stopped before it had finished.")
  expect(await app.conversations.get(devs)).toMatchObject({ state: "idle" })
  expect(await app.approvals.list()).toEqual([])
})

test("a society whose runs wait for people without end stops all the same, and the question stays", async () => {
  const { app, asked } = await openSenders()
  const running = app.society.start({ waitMs: Infinity })
  await app.society.message({ to: "dev", payload: "Send it.", by: "ada" })
  await asked()
  await running.stop()
  expect(await app.conversations.get(devs)).toMatchObject({ state: "waiting", owner: "" })
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  await app.society.start().idle()
  expect(await app.conversations.get(devs)).toMatchObject({ state: "idle" })
})

test("an approved run goes on before messages that came after it", async () => {
  const order: string[] = []
  const { app, asked } = await openSenders(({ messages, round }) => {
    const task = /task (t\d+)/.exec(messages.map(textOf).join("\n"))?.[1]
    order.push(`${task}/${round}`)
    return task === "t0" && round === 0 ? { calls: [{ name: "send" }] } : { say: "Done." }
  })
  const write = (taskId: string) => app.society.message({ to: "dev", payload: "Work.", by: "ada", taskId })
  const running = app.society.start()
  await write("t0")
  await asked()
  await running.stop()
  for (const taskId of ["t1", "t2", "t3"]) await write(taskId)
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "ann")
  await app.society.start().idle()
  expect(order).toEqual(["t0/0", "t0/1", "t1/0", "t2/0", "t3/0"])
})

test("an agent is said to work only while a process works on it", async () => {
  let answer = () => {}
  const { app, asked, stateOfDev } = await openSenders(async ({ round }) => {
    if (round === 1) await new Promise<void>((resolve) => (answer = resolve))
    return round === 0 ? { calls: [{ name: "send" }] } : { say: "Done." }
  })
  const running = app.society.start()
  await app.society.message({ to: "dev", payload: "Send it.", by: "ada" })
  await asked()
  await running.stop()
  expect(await stateOfDev()).toBe("waiting")
  await app.approvals.answer((await app.approvals.list())[0]!.callId, { kind: "approve" }, "ann")
  expect(await stateOfDev()).toBe("unfinished")
  const again = app.society.start()
  await until(() => app.model.requests.length === 2, "its model is asked again")
  expect(await stateOfDev()).toBe("working")
  const stopped = again.stop()
  answer()
  await stopped
  expect(await stateOfDev()).toBe("unfinished")
})

test("all conversations of an ended agent are closed, however many it had", async () => {
  const { app } = await openSenders()
  await app.org.createAgent({ id: "temp", role: "dev" }, ann)
  const ids = Array.from({ length: 103 }, (_, n) => societyConversation("temp", `t${n}`))
  for (const id of ids) await app.chain("temp", { id }).steer("Hello.")
  app.society.start()
  await app.org.terminateAgent("temp", ann)
  const isEnded = async (id: string) => (await app.conversations.get(id))?.state === "ended"
  await until(async () => (await Promise.all(ids.map(isEnded))).every(Boolean), "all have ended")
})

test("who waits for agents listens to messages only as long", async () => {
  const { app } = await openSenders(() => ({ say: "Done." }))
  const model = modelOf(
    { calls: [{ name: "send_message", input: { to: "tess", payload: "Well?" } }] },
    { say: "Good." },
  )
  const chain = app.chain("dev", { durable: true, wakes: false, model })
  const society = app.society.start({ within: chain.id })
  let listening = 0
  const on = (...given: Parameters<typeof app.on>) => {
    const stop = app.on(...given)
    listening++
    return () => {
      listening--
      stop()
    }
  }
  const first = await chain.run("Ask.")
  const watched = Object.assign(Object.create(app) as typeof app, { on })
  const result = await waitForAgents(watched as never, chain, society, first, new AbortController().signal)
  expect(result).toMatchObject({ status: "completed", content: "Good." })
  expect(listening).toBe(0)
})
