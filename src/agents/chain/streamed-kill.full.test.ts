import { join } from "node:path"
import { expect, test } from "vitest"
import { libraryFile, runChild } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { times } from "../../testing/times.ts"
import { chainTurns } from "../context/turns.ts"
import { modelOf } from "../testing/played-model.ts"
import type { AnswerInProgress } from "./answers-in-progress.ts"

const program = (dir: string, id: string) => `
import { createQuartermaster } from ${JSON.stringify(libraryFile)}
const model = {
  name: "played", provider: "played", modelId: "played",
  async *stream() {
    for (const text of ["Half ", "of ", "it"]) yield { type: "text", block: "1", text }
    console.log(JSON.stringify(app.conversations.answers.get(${JSON.stringify(id)})))
    await new Promise(() => {})
  },
}
const app = await createQuartermaster(
  { data: { dir: ${JSON.stringify(join(dir, "data"))} } },
  { models: { played: model }, print: () => {}, home: ${JSON.stringify(dir)} },
)
setInterval(() => {}, 1000)
await app.chain("operator", { id: ${JSON.stringify(id)}, userId: "ada" }).run("Go.")
`

test("kill -9 in the middle of an answer: it is asked anew as another attempt of the same turn, and marked", async () => {
  for (let tries = 0; tries < times(1, 5); tries++) {
    const dir = temporaryFolder()
    const child = runChild(program(dir, "talk"))
    await until(() => child.lines.some((line) => line.startsWith("{")), "it has written half of it")
    const half = JSON.parse(child.lines.find((line) => line.startsWith("{"))!) as AnswerInProgress
    expect(half).toMatchObject({ turn: 1, interrupted: false, text: "Half of it", startedBy: "ada" })
    child.process.kill("SIGKILL")
    await child.ended

    const model = modelOf({ say: "The whole." })
    const app = await openTestApp({ data: { dir: join(dir, "data") } }, { models: { played: model }, print: () => {} })
    const told: AnswerInProgress[] = []
    app.conversations.answers.listen((answer) => told.push(answer))
    app.society.start()
    await until(async () => (await app.conversations.get("talk"))?.state === "idle", "it has gone on by itself")
    const [first] = told
    expect(first).toMatchObject({ conversationId: "talk", turn: half.turn, interrupted: true, text: "" })
    expect(first!.attempt).toBeGreaterThan(half.attempt)
    const turns = chainTurns(await app.conversations.turns("talk"))
    const answers = turns.filter((turn) => turn.kind === "assistant")
    expect(answers.map(({ body }) => [body.text, body.interrupted])).toEqual([["The whole.", true]])
    expect(model.requests).toHaveLength(1)

    await app.conversations.tell("talk", "Again.", { by: "ada", userId: "ada" })
    await until(async () => (await app.conversations.get("talk"))?.state === "idle", "it has answered again")
    const last = chainTurns(await app.conversations.turns("talk")).findLast((turn) => turn.kind === "assistant")
    expect(last?.kind === "assistant" && last.body.interrupted).toBeUndefined()
  }
})
