import { expect, test } from "vitest"
import { dataFolder, openTestApp, tool, until } from "../../testing/test-app.ts"
import { modelOf, type PlayedTurn } from "../testing/played-model.ts"
import { goOnWith } from "./remembered.ts"

/** Opens apps on one data folder, each a new process to the others. */
async function openHosts() {
  const dir = await dataFolder()
  const ran: string[] = []
  const open = async (...answers: PlayedTurn[]) => {
    const played = modelOf(...answers)
    const other = modelOf({ say: "I am another model." })
    const models = { played, other: { ...other, name: "other" } }
    const app = await openTestApp({ data: { dir }, models: { default: "other" } }, { models })
    for (const name of ["send", "secret"])
      app.registry.register(tool({ name, effect: "communicate", execute: () => void ran.push(name) }))
    return Object.assign(app, { played })
  }
  return { open, ran }
}

type App = Awaited<ReturnType<Awaited<ReturnType<typeof openHosts>>["open"]>>

/** Answers what waits until the work is done. Returns the kinds of what was asked. */
async function answering<T>(app: App, work: Promise<T>): Promise<{ result: T; asked: string[] }> {
  const asked: string[] = []
  let isDone = false
  const done = work.finally(() => (isDone = true))
  await until(async () => {
    for (const { callId, kind } of await app.approvals.list()) {
      await app.approvals.answer(callId, { kind: kind === "result" ? "release" : "approve" }, "ann")
      asked.push(kind)
    }
    return isDone
  }, "the run is over")
  return { result: await done, asked }
}

const options = {
  taskId: "t1",
  tools: ["send"],
  checkToolResults: true,
  allowedPaths: ["docs"],
  maxTokens: 1000,
  perAgent: { maxTokens: 900 },
  instructions: "Be brief.",
  wakes: false,
  model: "played",
}

test("a conversation that is resumed by its id in another process has the options and the model it was begun with", async () => {
  const { open, ran } = await openHosts()
  const first = await open({ calls: [{ name: "send" }] })
  const chain = first.chain("operator", { durable: true, waitMs: 0, ...options })
  expect(await chain.run("Go.")).toMatchObject({ status: "waiting" })
  const { settings } = (await first.conversations.get(chain.id))!
  expect(settings).toMatchObject({ model: "played", wakes: false, options: { taskId: "t1", tools: ["send"] } })
  await first.close()

  for (const [place, say] of ["Done.", "Done again."].entries()) {
    const later = await open(...(place === 0 ? [] : [{ calls: [{ name: "send" }] }]), { say })
    const again = later.chain("operator", { id: chain.id })
    const { result, asked } = await answering(later, place === 0 ? again.resume() : again.run("Once more."))
    expect(result).toMatchObject({ status: "completed", content: say })
    expect(result.toolCallHistory.map(({ status }) => status)).toEqual(
      Array.from({ length: place + 1 }, () => "success"),
    )
    expect(asked).toEqual(["call", "result"])
    expect(ran).toHaveLength(place + 1)
    const [request] = later.played.requests
    expect(request!.messages[0]).toMatchObject({ role: "system", content: "Be brief." })
    expect(request!.tools?.map(({ name }) => name)).toEqual(["send"])
    expect((await later.conversations.get(chain.id))!.settings).toEqual(settings)
    await later.close()
  }
})

test("whoever resumes a conversation without a name does not speak as the person who began it", async () => {
  const { open } = await openHosts()
  const app = await open({ say: "Yes." })
  const chain = app.chain("operator", { durable: true, userId: "ada", model: "played" })
  await chain.run("Hi.")
  await app.chain("operator", { id: chain.id }).run("And now?")
  await (await app.conversations.open(chain.id))!.run("And now?")
  const said = (await app.conversations.turns(chain.id)).filter(({ kind }) => kind === "user")
  expect(said.map(({ body }) => (body as { by: string }).by)).toEqual(["ada", "user", "user"])
})

test.each([
  [{ tools: ["a", "b"] }, { tools: ["b", "c"] }, { tools: ["b"] }],
  [{ tools: ["a"] }, {}, { tools: ["a"] }],
  [{}, { tools: ["a"] }, { tools: ["a"] }],
  [{ checkToolResults: true }, { checkToolResults: false }, { checkToolResults: true }],
  [{ checkToolResults: false }, { checkToolResults: true }, { checkToolResults: true }],
  [
    { taskId: "t1", maxRounds: 3 },
    { taskId: undefined, maxRounds: 9 },
    { taskId: "t1", maxRounds: 9 },
  ],
])("a run that goes on with %j and is given %j has %j", (before, given, expected) => {
  expect(goOnWith(before, given)).toEqual(expected)
})

test.each([
  [["docs"], ["docs/a", "./docs/b/", "src"], ["docs/a", "./docs/b/"]],
  [["docs/a"], [".", "docs/**"], ["docs/a", "docs/a"]],
  [["docs/**"], ["docs/*.md"], ["docs/*.md"]],
  [["docs/*"], ["docs/*/x", "docs/*"], ["docs/*"]],
  [["."], ["../b", "~/b", "/b", "docs/../.."], []],
  [["/a"], ["/a/b", "/ab", "a/b"], ["/a/b"]],
  [["docs"], [], []],
])("a run that could use %j and is given %j can use %j", (before, given, allowed) => {
  expect(goOnWith({ allowedPaths: before }, { allowedPaths: given }).allowedPaths).toEqual(allowed)
})
