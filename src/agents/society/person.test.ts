import { expect, test } from "vitest"
import { tool, until } from "../../testing/test-app.ts"
import { openTeam } from "./testing/open-team.ts"

/** A team whose agents send something first, and the calls of `send` that ran, with the person they ran for. */
async function openSenders() {
  const app = await openTeam(({ round }) => (round === 0 ? { calls: [{ name: "send" }] } : { say: "Done." }))
  const ran: (string | undefined)[] = []
  app.registry.register(
    tool({
      name: "send",
      effect: "communicate",
      execute: (_input: unknown, { userId }: { userId?: string }) => void ran.push(userId),
    }),
  )
  return { app, ran }
}

test("a run that was begun for nobody stays so when a person writes to its agent, and its approved call runs", async () => {
  const { app, ran } = await openSenders()
  const running = app.society.start()
  await app.org.sendMessage({ from: "tess", to: "dev", payload: "Send it." })
  await until(async () => (await app.approvals.list()).length === 1, "it asked")
  await running.idle()
  const { id } = await app.society.message({ to: "dev", payload: "Hello from Bob.", by: "bob" })
  await running.idle()
  const [item] = await app.approvals.list()
  expect(item!.userId).toBeUndefined()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  await app.society.answer(id)
  expect(ran).toEqual([undefined])
})

test("a run that another person resumes goes on for the person who began it", async () => {
  const { app, ran } = await openSenders()
  const options = { durable: true, wakes: false, waitMs: 0 }
  const chain = app.chain("dev", { ...options, userId: "ada" })
  expect(await chain.run("Send it.")).toMatchObject({ status: "waiting" })
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await app.chain("dev", { ...options, id: chain.id, userId: "bob" }).resume()).toMatchObject({
    content: "Done.",
  })
  expect(ran).toEqual(["ada"])
})
