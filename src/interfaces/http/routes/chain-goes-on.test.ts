import { join } from "node:path"
import { expect, test } from "vitest"
import { modelOf } from "../../../agents/testing/played-model.ts"
import { openDatabase } from "../../../store/sqlite/database.ts"
import { dataFolder, openTestApp, tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest } from "../testing.ts"

const models = () => ({ models: { played: modelOf({ calls: [{ name: "send" }] }, { say: "Sent." }) } })

function register(app: Awaited<ReturnType<typeof openTestApp>>, ran: string[]) {
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => void ran.push("send") }))
}

/** A server on data in which a conversation waits for a person whose process is gone, and a client of its agent. */
async function serveLeft(state: "waiting" | "active" | "paused") {
  const dir = await dataFolder()
  const ran: string[] = []
  const first = await openTestApp({ data: { dir } }, models())
  register(first, ran)
  const { id } = await first.chain("operator", { durable: true, wakes: false, waitMs: 0 }).run("Send it.")
  await first.close()
  const database = await openDatabase(join(dir, "quartermaster.db"))
  database.prepare("update conversations set state = ?").run(state)
  database.close()
  const { app, token, ask } = await serveAppForTest(
    { data: { dir } },
    {},
    { models: { played: modelOf({ say: "Sent." }) } },
  )
  register(app, ran)
  const authorization = `Bearer ${await token("operator")}`
  const post = async (path: string, body: unknown = {}) => {
    const headers = { authorization, "content-type": "application/json" }
    const { status, text } = await ask({ path: `/v1/chains/${id}/${path}`, headers, body: JSON.stringify(body) })
    return { status, body: JSON.parse(text) as { detail?: string; code?: string } }
  }
  const approve = async () => {
    const [item] = await app.approvals.list()
    await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
    await until(async () => (await app.conversations.get(id))?.state === "idle", "the run is over")
  }
  const said = async () => (await app.conversations.turns(id)).filter(({ kind }) => kind === "user").length
  return { app, id, ran, post, approve, said }
}

test.each(["waiting", "active"] as const)(
  "a message to a conversation that is %s and that no live process works on goes on with it",
  async (state) => {
    const { ran, post, approve, said } = await serveLeft(state)
    expect((await post("messages", { message: "Hurry." })).status).toBe(202)
    expect((await post("messages", { message: "Please." })).status).toBe(202)
    await approve()
    expect(ran).toEqual(["send"])
    expect(await said()).toBe(3)
  },
)

test("a message to a paused conversation is refused with the request that goes on with it", async () => {
  const { app, id, ran, post, approve, said } = await serveLeft("paused")
  const refused = await post("messages", { message: "Hurry." })
  expect(refused).toMatchObject({ status: 409, body: { code: "conversation_paused" } })
  expect(refused.body.detail).toContain(`POST /v1/chains/${id}/resume`)
  expect(await app.conversations.tell(id, "Hurry.", { by: "ada" })).toBeUndefined()
  expect(await said()).toBe(1)
  expect((await post("resume")).status).toBe(202)
  await until(async () => (await app.conversations.get(id))?.state !== "paused", "it goes on")
  await approve()
  expect(ran).toEqual(["send"])
})
