import { join } from "node:path"
import { expect, test } from "vitest"
import { libraryFile, runChild } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { times } from "../../testing/times.ts"
import { chainTurns, messagesIn } from "../context/turns.ts"

const agents = Array.from({ length: times(50, 1000) }, (_, place) => `a${place}`)
const sent = times(200, 10_000)
/** After how many runs of its own each process is killed. */
const kills = [1, 5, 10, 20, 30]
/** Limit of heap for an idle agent that has worked; with few agents, what is loaded once counts more. */
const idleBytes = times(200, 20) * 1024

const config = (dir: string) => ({
  data: { dir: join(dir, "data") },
  org: { roles: [{ name: "dev", toolGroups: ["org_management"] }], agents: agents.map((id) => ({ id, role: "dev" })) },
  rules: [{ allow: "send_message", because: "the test" }],
})

/**
 * A process that runs the society and prints a line for each run. Its model passes on what a message tells it to, and does
 * that again if a person says that it did not happen. That person looks into the inbox.
 */
const program = (dir: string) => `
import { createQuartermaster } from ${JSON.stringify(libraryFile)}
const textOf = ({ content }) => typeof content === "string" ? content : content.map((part) => part.text ?? part.output ?? "").join("\\n")
const model = {
  name: "played", provider: "played", modelId: "played",
  async *stream({ messages }) {
    const last = messages.findLastIndex(({ role }) => role === "assistant")
    const texts = messages.slice(last + 1).map(textOf)
    const calls = texts.flatMap((text) => [...text.matchAll(/pass (note \\d+) on to (\\w+)/g)]).map(([, payload, to]) => ({ to, payload }))
    if (texts.some((text) => text.includes("it has not happened")))
      calls.push(...messages[last].content.flatMap((part) => part.type === "tool-call" ? [part.input] : [])
        .filter((_, place) => messages[last + 1].content[place].output.includes("it has not happened")))
    for (const [place, input] of calls.entries())
      yield { type: "tool-call", id: String(place), name: "send_message", input: JSON.stringify(input) }
    if (calls.length === 0) yield { type: "text", block: "1", text: "Done." }
    yield { type: "finish", reason: "stop" }
  },
}
const app = await createQuartermaster(${JSON.stringify(config(dir))}, { models: { played: model }, print: () => {}, home: ${JSON.stringify(dir)} })
app.on("RUN_ENDED", () => console.log("run"))
const answer = async () => {
  for (const { callId, input, question } of await app.approvals.list()) {
    const { to, payload } = JSON.parse(input.input)
    const value = (await app.org.inbox(to)).some((message) => message.payload === payload) ? question.options[0] : question.options[1]
    await app.approvals.answer(callId, { kind: "answer", value }, "ann").catch(() => {})
  }
}
const heap = () => { gc(); return process.memoryUsage().heapUsed }
const before = heap()
const running = app.society.start()
for (;;) {
  await running.idle()
  if ((await app.approvals.list()).length === 0) break
  await answer()
}
console.log("idle " + (heap() - before))
await app.close()
`

test(`${agents.length} agents and ${sent} messages: killed again and again, none is lost or comes twice, and all had their turn`, async () => {
  const dir = temporaryFolder()
  const writer = await openTestApp(config(dir))
  const expected = new Map<string, string>()
  for (let place = 0; place < sent; place++) {
    const to = agents[place % agents.length]!
    const next = agents[(place * 7 + 1) % agents.length]!
    const passes = place % 2 === 0 && next !== to
    const payload = passes ? `Please pass note ${place} on to ${next}.` : `Read ${place}.`
    const { id } = await writer.society.message({ to, payload, by: "ada" })
    expected.set(id, to)
    if (passes) expected.set(`note ${place}`, next)
  }
  await writer.close()

  for (const runs of kills) {
    const child = runChild(program(dir), ["--expose-gc"])
    await until(() => child.lines.length >= runs, `${runs} runs have ended`)
    child.process.kill("SIGKILL")
    await child.ended
  }
  const child = runChild(program(dir), ["--expose-gc"])
  expect(await child.ended).toBe(0)
  const idle = Number(child.lines.find((line) => line.startsWith("idle "))?.slice(5))
  expect(idle / agents.length).toBeLessThan(idleBytes)

  const app = await openTestApp(config(dir))
  const delivered: (readonly [string, string])[] = []
  for (const agentId of agents) {
    const notes = new Map((await app.org.inbox(agentId)).map(({ id, payload }) => [id, String(payload)]))
    const [conversation] = (await app.conversations.list({ agentId })).conversations
    const turns = chainTurns(await app.conversations.turns(conversation!.id))
    for (const { id, kind } of messagesIn(turns))
      if (kind === "message")
        delivered.push([notes.get(id)?.startsWith("note") === true ? notes.get(id)! : id, agentId])
  }
  expect(delivered.toSorted()).toEqual([...expected].toSorted())
  for (const id of expected.keys())
    if (!id.startsWith("note")) expect((await app.society.answer(id))?.payload).toBe("Done.")
  expect(await app.audit.verify()).toMatchObject({ ok: true })
})

test("agents with many messages do not keep those with one waiting", async () => {
  const order: string[] = []
  const { openTeam } = await import("./testing/open-team.ts")
  const app = await openTeam(({ agentId }) => {
    order.push(agentId)
    return { say: "Done." }
  })
  // Each in a task of its own, so that each is a run of its own.
  for (let place = 0; place < 10; place++)
    await app.society.message({ to: "dev", payload: "Work.", by: "ada", taskId: `t${place}` })
  await app.society.message({ to: "tess", payload: "Work.", by: "ada" })
  const running = app.society.start({ maxRuns: 1 })
  await running.idle()
  expect(order).toHaveLength(11)
  expect(order.indexOf("tess")).toBe(1)
})
