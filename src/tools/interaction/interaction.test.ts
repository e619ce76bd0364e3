import { expect, test } from "vitest"
import type { Ask, Question } from "../../model/approval.ts"
import type { ToolContext } from "../../model/tool.ts"
import { deferred, open, tool, until } from "../../testing/open.ts"
import { askUser } from "./ask-user.ts"

/** A person who remembers the questions and gives this answer. */
function personWho(answer: string | string[]): { ask: Ask; questions: Question[] } {
  const questions: Question[] = []
  const ask: Ask = (question) => {
    questions.push(question)
    return Promise.resolve(answer)
  }
  return { ask, questions }
}

const asking = (input: unknown) => ({ agentId: "operator", tool: "ask_user", input })

test.each([
  ["without options they write", { question: "Which branch?" }, undefined, false, "main 汉字"],
  ["an empty list is no choice", { question: "Which?", options: [] }, undefined, false, "any"],
  ["with options they choose one", { question: "Which?", options: ["a", "b"] }, ["a", "b"], false, "b"],
  [
    "with multiple they choose several",
    { question: "Which?", options: ["a", "b", "c"], multiple: true },
    ["a", "b", "c"],
    true,
    ["a", "c"],
  ],
])(
  "ask_user: %s, and the result has question and answer [S3-62] [S3-63] [C-39]",
  async (_what, input, options, multiple, answer) => {
    const { ask, questions } = personWho(answer)
    const system = await open({}, { ask })
    expect(await system.call(asking(input))).toMatchObject({
      success: true,
      result: { question: input.question, answer },
    })
    expect(questions).toMatchObject([{ question: input.question, options, multiple }])
  },
)

test.each<[string, Ask | undefined, string]>([
  ["nobody is attached", undefined, "Failed to get user input: nobody is attached who could be asked"],
  [
    "the question is closed",
    () => Promise.reject(new Error("the question was closed")),
    "Failed to get user input: the question was closed",
  ],
  // oxlint-disable-next-line prefer-promise-reject-errors -- whatever a door rejects with must become a sentence
  ["the door fails without an error", () => Promise.reject("no terminal"), "Failed to get user input: no terminal"],
])("ask_user is a failure with a sentence when %s [S3-64]", async (_what, ask, error) => {
  const system = await open({}, ask === undefined ? {} : { ask })
  expect(await system.call(asking({ question: "Which?" }))).toMatchObject({
    code: "tool_failed",
    error,
    metadata: { toolCode: "no_answer" },
  })
})

test("a cancelled call closes the question", async () => {
  const closed = deferred<unknown>()
  const asked = deferred()
  const ask: Ask = ({ signal }) => {
    signal.addEventListener("abort", () => closed.resolve(signal.reason))
    asked.resolve()
    return new Promise(() => {})
  }
  const system = await open({}, { ask })
  const controller = new AbortController()
  const call = system.call({ ...asking({ question: "Which?" }), signal: controller.signal })
  await asked.promise
  controller.abort()
  expect(await call).toMatchObject({ code: "aborted", metadata: { ran: true } })
  expect(String(await closed.promise)).toContain("cancelled")
})

test("ask_user takes no permit and waits for none: the same agent goes on while a person thinks", async () => {
  const person = deferred<string>()
  let asked = 0
  const ask: Ask = () => {
    asked++
    return person.promise
  }
  const system = await open({ tools: { maxConcurrent: 1 } }, { ask })
  const gate = deferred()
  system.registry.register(tool({ name: "slow", execute: () => gate.promise }))
  const first = system.call(asking({ question: "Which?" }))
  await until(() => asked === 1, "the person is asked")
  expect(await system.call({ agentId: "operator", tool: "json_parse", input: { text: "1" } })).toMatchObject({
    success: true,
  })

  const slow = system.callMany(Array.from({ length: 2 }, () => ({ agentId: "operator", tool: "slow", input: {} })))
  const second = system.call(asking({ question: "And now?" }))
  await until(() => asked === 2, "the person is asked while one tool runs and one waits for the permit")
  person.resolve("main")
  expect([await first, await second]).toMatchObject([{ success: true }, { success: true }])
  gate.resolve()
  expect(await slow).toMatchObject([{ success: true }, { success: true }])
})

test("ask_user has no time limit of its own, but a request may set one", async () => {
  const ask: Ask = () => new Promise((resolve) => setTimeout(() => resolve("late"), 60))
  const system = await open({ tools: { timeout: 10 } }, { ask })
  expect(await system.call(asking({ question: "Which?" }))).toMatchObject({ result: { answer: "late" } })
  expect(await system.call({ ...asking({ question: "Which?" }), timeoutMs: 10 })).toMatchObject({ code: "timeout" })
})

test("ask_user takes a question and up to fifty options", async () => {
  const system = await open({}, { ask: personWho("a").ask })
  const bad = [
    {},
    { question: "" },
    { question: 1 },
    { question: "Which?", options: "a" },
    { question: "Which?", options: [""] },
    { question: "Which?", options: [1] },
    { question: "Which?", options: Array(51).fill("a") },
    { question: "Which?", multiple: "yes" },
    { question: "Which?", default: "a" },
  ]
  for (const input of bad) expect(await system.call(asking(input))).toMatchObject({ code: "invalid_arguments" })
  expect(await system.call(asking({ question: "Which?", options: Array(50).fill("a") }))).toMatchObject({
    success: true,
  })
})

test("a door that answers with something else breaks its promise, not the model's", async () => {
  const system = await open({}, { ask: (() => Promise.resolve(7)) as never })
  expect(await system.call(asking({ question: "Which?" }))).toMatchObject({ code: "output_invalid" })
})

test("ask_user runs without the house, with a minimal context", async () => {
  const { ask } = personWho("yes")
  expect(await askUser(ask).execute({ question: "Really?", multiple: false }, { taskId: "t1" } as ToolContext)).toEqual(
    {
      question: "Really?",
      answer: "yes",
    },
  )
})
