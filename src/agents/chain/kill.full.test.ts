import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { libraryFile, runChild, zodModule } from "../../testing/child-process.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { times } from "../../testing/times.ts"
import { modelOf, playedModel } from "../testing/played-model.ts"
import { expectWellFormed } from "../testing/well-formed.ts"

const optionsAt: Readonly<Record<string, object>> = { held: { checkToolResults: true }, budget: { maxTokens: 12 } }
/** The number of turns when the process is killed. */
const turnsAt: Readonly<Record<string, number>> = { "first answer": 1, "last answer": 3, budget: 3, summary: 3 }
const all = { look: "success", send: "success", write: "success" }

/** A program that talks to a model which calls `look`, `send` and `write` at once, then says that it is done. */
const program = (dir: string, id: string, hang: string) => `
import { appendFileSync, writeSync } from "node:fs"
import { createQuartermaster, defineTool } from ${JSON.stringify(libraryFile)}
import { z } from ${JSON.stringify(zodModule)}
const log = (line) => appendFileSync(${JSON.stringify(join(dir, "ran"))}, line + "\\n")
const hang = async (at) => { if (at === ${JSON.stringify(hang)}) { console.log("here"); await new Promise(() => {}) } }
let round = 0
let completed = 0
const model = {
  name: "played", provider: "played", modelId: "played",
  async *stream({ messages }) {
    const isSummary = String(messages[0].content).startsWith("You shorten the history")
    await hang(isSummary ? "summary" : round === 0 ? "first answer" : "last answer")
    if (round++ === 0) for (const name of ["look", "send", "write"]) yield { type: "tool-call", id: name, name, input: "{}" }
    else yield { type: "text", block: "1", text: "Done." }
    yield { type: "usage", usage: { inputTokens: ${hang === "summary" ? 200_000 : 10}, outputTokens: 5 } }
    yield { type: "finish", reason: "stop" }
  },
}
const app = await createQuartermaster(
  { data: { dir: ${JSON.stringify(join(dir, "data"))} }, rules: [{ allow: "write", because: "the test" }] },
  { models: { played: model }, print: () => {}, home: ${JSON.stringify(dir)} },
)
for (const [name, effect] of [["look", "read"], ["send", "communicate"], ["write", "write"]])
  app.registry.register(defineTool({
    name, group: "test", description: name, effect, input: z.object({}),
    async execute() { log(name); await hang(name) },
  }))
app.on("TOOL_CALL_WAITING", () => void hang("waiting"))
setInterval(async () => {
  if (${JSON.stringify(["waiting", "look"].includes(hang))}) return
  const items = await app.approvals.list()
  if (items.filter(({ kind }) => kind === "result").length === 3) await hang("held")
  if (items.some(({ tool }) => tool === "agents:budget")) await hang("budget")
  for (const { callId, kind } of items) if (kind === "call") await app.approvals.answer(callId, { kind: "approve" }, "ann")
}, 20)
await app.chain("operator", {
  id: ${JSON.stringify(id)},
  ...${JSON.stringify(optionsAt[hang] ?? {})},
  onToolCallComplete() {
    if (++completed < 3 || ${JSON.stringify(hang !== "ended")}) return
    // Nothing more happens in this process.
    writeSync(1, "here\\n")
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
}).run("Go.")
`

const answers = {
  call: { kind: "approve" },
  result: { kind: "release" },
  question: { kind: "answer", value: "It has happened" },
} as const

test.each([
  ["while the model writes its first answer", "first answer", all],
  ["while a tool that reads runs", "look", { look: "interrupted" }],
  ["while a call waits for a person", "waiting", { send: "success", write: "success" }],
  ["while an approved call runs, which a person looks into", "send", { send: "interrupted" }],
  ["while the model writes its last answer", "last answer", all],
  ["while results are held", "held", all],
  ["after the calls have ended and before their results are a turn", "ended", all],
  ["while a person is asked for a larger budget", "budget", all],
  ["while the model writes a summary", "summary", all],
])("kill -9 %s: the conversation goes on in another process and no call runs twice", async (_when, hang, expected) => {
  for (let run = 0; run < times(10, 100); run++) {
    const dir = temporaryFolder()
    const child = runChild(program(dir, "talk", hang))
    await until(() => child.lines.includes("here"), "the child is there")
    child.process.kill("SIGKILL")
    await child.ended

    let round = existsSync(join(dir, "ran")) || hang === "waiting" ? 1 : 0
    const model = playedModel(({ messages }) => {
      round = messages.some(({ role }) => role === "tool") ? 1 : round
      return round++ === 0 ? { calls: ["look", "send", "write"].map((name) => ({ name })) } : { say: "Done." }
    })
    const app = await openTestApp(
      { data: { dir: join(dir, "data") }, rules: [{ allow: "write", because: "the test" }] },
      { models: { played: model }, print: () => {} },
    )
    for (const [name, effect] of [
      ["look", "read"],
      ["send", "communicate"],
      ["write", "write"],
    ] as const)
      app.registry.register(tool({ name, effect, execute: () => appendFileSync(join(dir, "ran"), `${name}\n`) }))
    expect(await app.conversations.turns("talk")).toHaveLength(turnsAt[hang] ?? 2)
    const answering = setInterval(() => {
      void app.approvals
        .list()
        .then((items) =>
          Promise.all(items.map(({ callId, kind }) => app.approvals.answer(callId, answers[kind], "ann"))),
        )
        .catch(() => {})
    }, 20)
    try {
      const result = await app.chain("operator", { id: "talk" }).resume()
      expect(result).toMatchObject({ status: "completed", content: "Done." })
      const endings = Object.fromEntries(
        result.toolCallHistory.map(({ toolName, code, status }) => [toolName, code ?? status]),
      )
      expect(endings).toMatchObject(expected)
      const sent = result.toolCallHistory.find(({ toolName }) => toolName === "send")
      expect(sent?.text.includes("A person checked: it has happened.")).toBe(hang === "send")
      const ran = readFileSync(join(dir, "ran"), "utf8").trim().split("\n")
      expect(ran.toSorted()).toEqual([...new Set(ran)].toSorted())
      const kinds = (await app.conversations.turns("talk")).map(({ kind }) => kind)
      expect([kinds.includes("summary"), kinds.includes("budget")]).toEqual([hang === "summary", hang === "budget"])
      expect(await app.audit.verify()).toMatchObject({ ok: true })
    } finally {
      clearInterval(answering)
    }
  }
})

test.each([
  ["waits for a person", "waiting", /^NOT EXECUTED\. The person gave a new task\.$/],
  ["runs", "send", /what it did is not known/],
])(
  "kill -9 while a call %s: a new task takes its place, and the model is told of the call",
  async (_when, hang, told) => {
    const dir = temporaryFolder()
    const child = runChild(program(dir, "talk", hang))
    await until(() => child.lines.includes("here"), "the child is there")
    child.process.kill("SIGKILL")
    await child.ended

    const model = modelOf({ say: "X is done." })
    const app = await openTestApp({ data: { dir: join(dir, "data") } }, { models: { played: model }, print: () => {} })
    const result = await app.chain("operator", { id: "talk" }).run("Do X instead.")
    expect(result).toMatchObject({ status: "completed", content: "X is done." })
    expect(result.toolCallHistory.find(({ toolName }) => toolName === "send")?.text).toMatch(told)
    expectWellFormed(model.requests[0]!.messages)
    expect(model.requests[0]!.messages.at(-1)).toEqual({ role: "user", content: "Do X instead." })
    expect(await app.approvals.list()).toEqual([])
    expect(await app.audit.verify()).toMatchObject({ ok: true })
  },
)
