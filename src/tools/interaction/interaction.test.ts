import { expect, test } from "vitest"
import type { Ask, Question } from "../../core/approval.ts"
import { modelText } from "../../core/model-text.ts"
import type { ToolContext } from "../../core/tool.ts"
import { leaveWaiting } from "../../call/testing.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
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
])("ask_user: %s, and the result has question and answer", async (_what, input, options, multiple, answer) => {
  const { ask, questions } = personWho(answer)
  const system = await openTestApp({}, { ask })
  expect(await system.call(asking(input))).toMatchObject({
    success: true,
    result: { question: input.question, answer },
  })
  expect(questions).toMatchObject([{ question: input.question, options, multiple }])
})

test.each<[string, Ask | undefined, string]>([
  ["nobody is attached and nobody is waited for", undefined, "Nobody is here to ask."],
  [
    "the question is closed",
    () => Promise.reject(new Error("the question was closed")),
    "The dialog ended without an answer (the question was closed).",
  ],
  [
    "the interface fails without an error",
    // oxlint-disable-next-line prefer-promise-reject-errors -- whatever an interface rejects with must become a sentence
    () => Promise.reject("no terminal"),
    "The dialog ended without an answer (no terminal).",
  ],
  [
    "an interface answers with something else",
    (() => Promise.resolve(7)) as never,
    "The dialog gave an answer that cannot be used: An answer is a text, or a list of texts where several may be chosen.",
  ],
])("ask_user is a failure with a sentence when %s", async (_what, ask, why) => {
  const system = await openTestApp({ approvals: { unattended: "reject" } }, ask === undefined ? {} : { ask })
  const ended = await system.call(asking({ question: "Which?" }))
  const error = `Failed to get user input: ${why}`
  expect(ended).toMatchObject({ code: "tool_failed", error, metadata: { toolCode: "no_answer", ran: false } })
  expect(modelText(ended)).toContain(error)
})

const which = { question: "Which?", options: ["a", "b", "c"] }

test("a question waits in the approval queue, and any app on the store can answer it", async () => {
  const system = await openTestApp()
  const other = await openTestApp({ data: { dir: system.dir } })
  const call = system.call(asking(which))
  await until(async () => (await other.approvals.list()).length === 1, "the question waits")
  const [item] = await other.approvals.list()
  expect(item).toMatchObject({ kind: "question", tool: "ask_user", question: { ...which, multiple: false } })
  expect(item).toMatchObject({ remember: [], reasons: [{ check: "tool", sentence: "Tool ask_user asks a person." }] })
  const say = (value: string | string[]) => other.approvals.answer(item!.callId, { kind: "answer", value }, "ann")
  expect(await say("d")).toEqual({ ok: false, sentence: "'d' is not one of the options: a, b, c." })
  expect(await say(["a"])).toEqual({ ok: false, sentence: "One answer is asked for, not several." })
  expect(await say("b")).toMatchObject({ ok: true, done: true })
  expect(await call).toMatchObject({ success: true, result: { question: "Which?", answer: "b" } })
  expect(await say("c")).toEqual({ ok: false, sentence: "ann has answered already: yes." })
})

test("several may be chosen where the question says so, each of them an option", async () => {
  const system = await openTestApp()
  const { callId } = await leaveWaiting(system, asking({ ...which, multiple: true }))
  const say = (value: unknown) => system.approvals.answer(callId, { kind: "answer", value: value as string[] }, "ann")
  expect(await say(["a", "d"])).toEqual({ ok: false, sentence: "'d' is not one of the options: a, b, c." })
  for (const odd of [7, null, undefined, ["a", 7], { 0: "a" }]) {
    expect(await say(odd)).toEqual({ ok: false, sentence: expect.stringContaining("An answer is a text") })
  }
  expect(await say(["a", "c"])).toMatchObject({ ok: true })
  expect(await system.resume(callId)).toMatchObject({ result: { answer: ["a", "c"] } })
})

test.each(["answer", "reject"] as const)("a question survives a restart: %s", async (kind) => {
  const first = await openTestApp()
  const { callId } = await leaveWaiting(first, asking(which))
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  const saying = kind === "answer" ? { kind, value: "c" } : { kind, reason: "I do not know." }
  expect(await second.approvals.answer(callId, saying, "ann")).toMatchObject({ ok: true, done: true })
  const expected =
    kind === "answer"
      ? { callId, success: true, result: { question: "Which?", answer: "c" } }
      : { callId, code: "tool_failed", error: "Failed to get user input: I do not know." }
  expect(await second.resume(callId)).toMatchObject(expected)
  expect(await second.resume(callId)).toMatchObject(expected)
})

test("a person may decline to answer, and says why or does not", async () => {
  const system = await openTestApp()
  for (const [reason, why] of [
    ["Ask bob.", "Ask bob."],
    [undefined, "No reason was given."],
  ] as const) {
    const call = system.call(asking(which))
    await until(async () => (await system.approvals.list()).length === 1, "the question waits")
    const [item] = await system.approvals.list()
    await system.approvals.answer(item!.callId, { kind: "reject", reason }, "ann")
    expect(await call).toMatchObject({
      status: "error",
      code: "tool_failed",
      error: `Failed to get user input: ${why}`,
      metadata: { toolCode: "no_answer" },
    })
  }
})

test("a question that is not answered in time expires", async () => {
  const system = await openTestApp({ approvals: { deadline: 0.002 } })
  expect(await system.call(asking(which))).toMatchObject({ code: "approval_expired", metadata: { ran: false } })
})

test("a rule that asks about ask_user is answered with the answer", async () => {
  const system = await openTestApp({ rules: [{ ask: "ask_user", because: "People are busy." }] })
  const { callId, kind, reasons } = await leaveWaiting(system, asking(which))
  expect([kind, reasons]).toMatchObject(["question", [{ check: "rule" }]])
  await system.approvals.answer(callId, { kind: "answer", value: "a" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ result: { answer: "a" } })
})

test("a cancelled call closes the question", async () => {
  const closed = deferred()
  const asked = deferred()
  const ask: Ask = ({ signal }) => {
    signal.addEventListener("abort", () => closed.resolve())
    asked.resolve()
    return new Promise(() => {})
  }
  const system = await openTestApp({}, { ask })
  const controller = new AbortController()
  const call = system.call({ ...asking({ question: "Which?" }), signal: controller.signal })
  await asked.promise
  controller.abort()
  expect(await call).toMatchObject({ code: "aborted", metadata: { ran: false } })
  await closed.promise
})

test("ask_user takes no permit and waits for none: the same agent goes on while a person thinks", async () => {
  const person = deferred<string>()
  let asked = 0
  const ask: Ask = () => {
    asked++
    return person.promise
  }
  const system = await openTestApp({ tools: { maxConcurrent: 1 } }, { ask })
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

test("no time limit counts while a person thinks, neither the default nor the request's", async () => {
  const ask: Ask = () => new Promise((resolve) => setTimeout(() => resolve("late"), 60))
  const system = await openTestApp({ tools: { timeout: 10 } }, { ask })
  expect(await system.call(asking({ question: "Which?" }))).toMatchObject({ result: { answer: "late" } })
  const again = { ...asking({ question: "Which?" }), timeoutMs: 10 }
  expect(await system.call(again)).toMatchObject({ result: { answer: "late" } })
})

test("ask_user takes a question and up to fifty options", async () => {
  const system = await openTestApp({}, { ask: personWho("a").ask })
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

test("ask_user runs without the app, with a minimal context", async () => {
  const run = (context: Partial<ToolContext>) =>
    askUser().execute({ question: "Really?", multiple: false }, context as ToolContext)
  expect(run({ taskId: "t1", answer: "yes" })).toEqual({ question: "Really?", answer: "yes" })
  expect(() => run({ taskId: "t1" })).toThrow("Failed to get user input: nobody answered.")
})
