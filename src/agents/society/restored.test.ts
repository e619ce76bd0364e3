import { join } from "node:path"
import { expect, test } from "vitest"
import { societyConversation } from "../../core/society-conversation.ts"
import { restore } from "../../app/restore.ts"
import { dataFolder, temporaryFolder, tool } from "../../testing/test-app.ts"
import { openTeam, type Answer } from "./testing/open-team.ts"

const answer: Answer = ({ last }) => (/Send it/.test(last) ? { calls: [{ name: "send" }] } : { say: "Done." })

/** An app on data that was restored from a backup of what `before` has done. */
async function openRestored(before: (app: Awaited<ReturnType<typeof openTeam>>) => Promise<unknown>) {
  const ran: string[] = []
  const open = async (dir: string) => {
    const app = await openTeam(answer, { data: { dir } })
    app.registry.register(tool({ name: "send", effect: "communicate", execute: () => void ran.push("send") }))
    return app
  }
  const first = await open(await dataFolder())
  await before(first)
  const folder = join(temporaryFolder(), "copy")
  await first.backup(folder)
  await first.close()
  const dir = join(temporaryFolder(), "data")
  await restore(folder, dir)
  return { app: await open(dir), ran }
}

const person = { by: "ada" }

test("what agents were in the middle of when the backup was made stands still until somebody resumes it", async () => {
  let id = ""
  const { app, ran } = await openRestored(async (first) => {
    const chain = first.chain("dev", { durable: true, waitMs: 0 })
    id = chain.id
    await chain.run("Send it.")
  })
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  const running = app.society.start()
  await running.idle()
  expect(await app.conversations.get(id)).toMatchObject({ state: "paused", settings: { wakes: true } })
  expect([ran, app.model.requests]).toEqual([[], []])
  expect(await app.chain("dev", { id }).resume()).toMatchObject({ status: "completed", content: "Done." })
  expect(ran).toEqual(["send"])
})

test.each([
  ["its first one", async () => {}],
  [
    "a later one",
    async (app: Awaited<ReturnType<typeof openTeam>>) => {
      const running = app.society.start()
      await app.society.message({ to: "dev", payload: "Hello.", taskId: "t1", ...person })
      await running.idle()
      await running.stop()
    },
  ],
])(
  "a message that was unread when the backup was made wakes nobody until somebody resumes it: %s",
  async (_which, before) => {
    let messageId = ""
    const { app } = await openRestored(async (first) => {
      await before(first)
      messageId = (await first.society.message({ to: "dev", payload: "Well?", taskId: "t1", ...person })).id
    })
    await app.society.start().idle()
    const id = societyConversation("dev", "t1")
    expect(await app.conversations.get(id)).toMatchObject({ agentId: "dev", state: "paused" })
    expect(app.model.requests).toEqual([])
    expect(await app.chain("dev", { id }).resume()).toMatchObject({ status: "completed", content: "Done." })
    expect(await app.society.answer(messageId)).toMatchObject({ payload: "Done." })
    const { id: next } = await app.society.message({ to: "dev", payload: "And?", taskId: "t1", ...person })
    expect(await app.society.answer(next)).toMatchObject({ payload: "Done." })
  },
)

test("a conversation in which nothing was left to do goes on as before", async () => {
  const { app } = await openRestored(async (first) => {
    const running = first.society.start()
    await first.society.message({ to: "dev", payload: "Hello.", ...person })
    await running.idle()
  })
  app.society.start()
  const { id } = await app.society.message({ to: "dev", payload: "Well?", ...person })
  expect(await app.society.answer(id)).toMatchObject({ payload: "Done." })
})
