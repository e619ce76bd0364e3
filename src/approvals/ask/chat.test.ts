import fc from "fast-check"
import { expect, test } from "vitest"
import type { PendingItem } from "../../core/approval.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { callbackAdapter } from "./callback.ts"
import { cardLines } from "./card.ts"
import { interpretReply, readReply } from "./reply.ts"
import { textAdapter } from "./chat.ts"
import { approvalRequest, samplePendingItem, toolResult } from "./testing.ts"
import { fakeChat, askCall } from "./testing/chat.ts"

type Conversation = ReturnType<typeof fakeChat>

const remember: PendingItem["remember"] = [
  { scope: "input-session", words: "Agent ann may call probe with this input." },
  { scope: "tool-session", words: "Agent ann may call probe in this session." },
  { scope: "task", words: "Agent ann may call probe in this task." },
  { scope: "minutes", words: "Agent ann may call probe for 30 minutes." },
]

const askResult = ({ adapter }: Conversation, value: unknown) =>
  adapter.showToolResultApproval("probe", {}, toolResult({ result: value }), approvalRequest())
const askQuestion = ({ adapter }: Conversation, question: NonNullable<PendingItem["question"]>) =>
  adapter.showQuestion!(question, approvalRequest())

test("a card is posted with a code and with how to answer, and a reply with the code answers it", async () => {
  const chat = fakeChat()
  const answer = askCall(chat.adapter, { remember })
  const code = await chat.code()
  expect(code).toMatch(/^[A-HJKMNP-Z2-9]{4}$/)
  expect(chat.posted).toEqual([
    [
      ...cardLines(samplePendingItem({ remember })),
      "",
      "To answer, reply with one of these lines, spelled like this. Anything else answers nothing.",
      `  approve ${code}`,
      `  approve ${code} same input`,
      `  approve ${code} for this session`,
      `  approve ${code} for this task`,
      `  approve ${code} for 30 minutes`,
      `  edit ${code} <the whole input as JSON>`,
      `  reject ${code} because <why; the model reads it>`,
      `  show ${code}`,
    ].join("\n"),
  ])
  void chat.say(`approve ${code}`)
  expect(await answer).toEqual({ approved: true })
})

const no = { approved: false, rejectReason: "Operation cancelled by user" }

test.each<[string, object]>([
  ["approve CODE", { approved: true }],
  ["  approve CODE \n", { approved: true }],
  ["approve CODE for this session", { approved: true, remember: "tool-session" }],
  ["approve CODE for this task", { approved: true, remember: "task" }],
  ["approve CODE for 90 minutes", { approved: true, remember: "minutes", minutes: 90 }],
  ["approve CODE same input", { approved: true, remember: "input-session" }],
  ["reject CODE", no],
  ["reject CODE because it is late\nvery late", { ...no, rejectReason: "it is late\nvery late" }],
  ['edit CODE {"n": 2}', { approved: false, edit: { input: { n: 2 } } }],
  ["edit CODE [1,\n2]", { approved: false, edit: { input: [1, 2] } }],
])("a call is answered by %j", async (reply, decision) => {
  const chat = fakeChat()
  const answer = askCall(chat.adapter, { remember })
  void chat.say(reply.replace("CODE", await chat.code()))
  expect(await answer).toEqual(decision)
})

test.each<[string, object]>([
  ["release CODE", { approved: true }],
  ["redact CODE /a/b, /c", { approved: true, redact: ["/a/b", "/c"] }],
  ["replace CODE It worked.", { approved: true, replace: { value: "It worked." } }],
  ["withhold CODE", no],
  ["withhold CODE because it names people", { ...no, rejectReason: "it names people" }],
])("a result is answered by %j", async (reply, decision) => {
  const chat = fakeChat()
  const answer = askResult(chat, { a: { b: 1 }, c: null })
  void chat.say(reply.replace("CODE", await chat.code()))
  expect(await answer).toEqual(decision)
})

const options = ["red", "blue, dark", "2"]

test.each<[string, NonNullable<PendingItem["question"]>, object]>([
  ["answer CODE Ada Lovelace", { question: "Who?" }, { answer: "Ada Lovelace" }],
  ["answer CODE red", { question: "?", options }, { answer: "red" }],
  ["answer CODE blue, dark", { question: "?", options }, { answer: "blue, dark" }],
  ["answer CODE 1", { question: "?", options }, { answer: "red" }],
  ["answer CODE 2", { question: "?", options }, { answer: "2" }],
  ["answer CODE 1, 3, red", { question: "?", options, multiple: true }, { answer: ["red", "2"] }],
  ["answer CODE red", { question: "?", options, multiple: true }, { answer: ["red"] }],
  ["reject CODE because nobody knows", { question: "?" }, { rejectReason: "nobody knows" }],
])("a question is answered by %j", async (reply, question, decision) => {
  const chat = fakeChat()
  const answer = askQuestion(chat, question)
  void chat.say(reply.replace("CODE", await chat.code()))
  expect(await answer).toEqual({ ...decision })
})

test.each([
  "yes",
  "approve",
  "CODE",
  "approve it",
  "approve ZZZZ",
  "approve CODEX",
  "approve CODE please",
  "approve CODE for this session please",
  "approve CODE for this",
  "approve CODE Always",
  "approve  CODE",
  "approve CODE  same input",
  "Approve CODE",
  "APPROVE CODE",
  "approve code",
  "approve: CODE",
  "approve `CODE`",
  "> approve CODE",
  "please approve CODE",
  "approve\nCODE",
  "no, do not approve CODE",
  "approve CODE CODE",
  "approve CODE\napprove CODE",
  "constructor CODE",
  "reject CODE it is late",
  "reject CODE because",
  "edit CODE",
  "show CODE now",
  "release CODE",
  "redact CODE /n",
  "withhold CODE because",
  "answer CODE yes",
])("%j answers nothing, and nobody replies to it", async (reply) => {
  const chat = fakeChat()
  const answer = askCall(chat.adapter, { remember: [...remember, { scope: "tool-always", words: "Always." }] })
  const code = await chat.code()
  const read = chat.say(reply.replaceAll("CODE", code).replace("code", code.toLowerCase()))
  void chat.say(`reject ${code} because it was still open`)
  await read
  expect(await answer).toEqual({ ...no, rejectReason: "it was still open" })
  expect(chat.posted.length).toBe(1)
})

test.each<[string, (chat: Conversation) => Promise<object>, string]>([
  ["approve CODE always", (chat) => askCall(chat.adapter, { remember }), 'This yes cannot be remembered "always".'],
  ["edit CODE {n: 1}", (chat) => askCall(chat.adapter), "That is not valid JSON: "],
  ["redact CODE /pasword", (chat) => askResult(chat, { password: 1 }), 'There is nothing at "/pasword" in the result.'],
  ["redact CODE password", (chat) => askResult(chat, { password: 1 }), "There is nothing at password in the result."],
  ["redact CODE /password,", (chat) => askResult(chat, { password: 1 }), 'There is nothing at "" in the result.'],
  ["answer CODE green", (chat) => askQuestion(chat, { question: "?", options }), "Answer with one of the options"],
  ["answer CODE 0", (chat) => askQuestion(chat, { question: "?", options }), "Answer with one of the options"],
  ["answer CODE 1, 3", (chat) => askQuestion(chat, { question: "?", options }), "Answer with one of the options"],
  ["answer CODE 1, 9", (chat) => askQuestion(chat, { question: "?", options, multiple: true }), "Answer with some of"],
])("%j cannot count, a sentence says why, and the card stays open", async (reply, ask, sentence) => {
  const chat = fakeChat()
  const answer = ask(chat)
  const code = await chat.code()
  await chat.say(reply.replace("CODE", code))
  expect(chat.posted[1]).toContain(`${code}: ${sentence}`)
  expect(chat.posted[1]).toContain("Nothing was answered.")
  void chat.say(`reject ${code}`)
  void chat.say(`withhold ${code}`)
  expect(await answer).toMatchObject({ rejectReason: "Operation cancelled by user" })
})

test("show posts the whole card, which still has its code", async () => {
  const chat = fakeChat()
  const answer = askCall(chat.adapter, { input: { text: "x".repeat(5000) } })
  const code = await chat.code()
  expect(chat.posted[0]).toContain("cut here: the whole has 5,016 characters")
  await chat.say(`show ${code}`)
  expect(chat.posted[1]).toContain("input as JSON, 5,016 characters:")
  expect(chat.posted[1]).not.toContain("cut here")
  expect(await chat.code(1)).toBe(code)
  void chat.say(`approve ${code}`)
  expect(await answer).toMatchObject({ approved: true })
})

test("several cards wait at once, each with a code of its own, and an answer counts once", async () => {
  const chat = fakeChat("maria")
  const answers = ["one", "two", "three"].map((preview) => askCall(chat.adapter, { preview }))
  const codes = await Promise.all([chat.code(0), chat.code(1), chat.code(2)])
  expect(new Set(codes).size).toBe(3)
  const [one, two, three] = codes
  for (const reply of [`reject ${three}`, `approve ${one}`, `reject ${one}`, `approve ${three}`]) await chat.say(reply)
  void chat.say(`edit ${two} {}`)
  expect(await Promise.all(answers)).toEqual([
    { approved: true, by: "maria" },
    { approved: false, edit: { input: {} }, by: "maria" },
    { ...no, by: "maria" },
  ])
})

test("a new revision has a new code, and the old one answers nothing", async () => {
  const chat = fakeChat()
  const old = new AbortController()
  const first = askCall(chat.adapter, { signal: old.signal })
  const before = await chat.code(0)
  old.abort()
  expect(await first).toMatchObject({ approved: false })
  const second = askCall(chat.adapter, { revision: 2 })
  await expect.poll(() => chat.posted.length).toBe(3)
  const after = await chat.code(2)
  await chat.say(`approve ${before}`)
  void chat.say(`reject ${after} because it changed`)
  expect(await second).toEqual({ ...no, rejectReason: "it changed" })
  expect(after).not.toBe(before)
})

test.each<[string, unknown, string]>([
  ["somebody answered elsewhere", { by: "bob" }, "bob has answered elsewhere."],
  ["somebody approved elsewhere", { by: "bob", did: "approved" }, "bob has approved it elsewhere."],
  ["somebody with an odd name did", { by: "bob\nK: x" }, '"bob\\nK: x" has answered elsewhere.'],
  ["it is over", undefined, "It is over; there is nothing to answer."],
])("when %s, the chat gets a message", async (_what, reason, sentence) => {
  const chat = fakeChat()
  const given = new AbortController()
  const answer = askCall(chat.adapter, { signal: given.signal })
  const code = await chat.code()
  given.abort(reason)
  expect(await answer).toEqual({ ...no, rejectReason: "The dialog was closed." })
  expect(chat.posted[1]).toBe(`${code}: ${sentence}`)
})

test("after an answer the chat gets no message about the end, and a call that is over is never posted", async () => {
  const chat = fakeChat()
  const given = new AbortController()
  const answer = askCall(chat.adapter, { signal: given.signal })
  void chat.say(`approve ${await chat.code()}`)
  await answer
  given.abort({ by: "bob" })
  expect(await askCall(chat.adapter, { signal: given.signal })).toMatchObject({ approved: false })
  expect(chat.posted.length).toBe(1)
})

test("a chat that has ended, cannot be read or cannot be written rejects the call", async () => {
  const chat = fakeChat()
  const answer = askCall(chat.adapter)
  await chat.code()
  chat.end()
  const ended = { approved: false, rejectReason: "The chat has ended, so nobody can answer there.", by: "nobody" }
  expect(await answer).toEqual(ended)
  expect(await askCall(chat.adapter)).toEqual(ended)
  const fault = new Error("no network")
  const deaf = textAdapter({ post: () => {}, replies: () => Promise.reject(fault) })
  expect(await askCall(deaf)).toEqual(ended)
  for (const post of [
    () => Promise.reject(fault),
    () => {
      throw fault
    },
  ]) {
    const mute = textAdapter({ post, replies: () => new Promise(() => {}) })
    await expect(askCall(mute)).rejects.toBe(fault)
  }
})

test("replies may come from a function, which is asked only while a card waits", async () => {
  const posted: string[] = []
  const asked: ((text: string) => void)[] = []
  const replies = () => new Promise<string>((resolve) => asked.push(resolve))
  const adapter = textAdapter({ post: (message) => void posted.push(message), replies })
  expect(asked.length).toBe(0)
  for (const round of [1, 2]) {
    const answer = askCall(adapter)
    await expect.poll(() => posted.length).toBe(round)
    expect(asked.length).toBe(round)
    asked[round - 1]!(`approve ${/approve (\w+)/.exec(posted[round - 1]!)![1]}`)
    expect(await answer).toMatchObject({ approved: true })
  }
  expect(asked.length).toBe(2)
})

test("law: a reply that is not spelled exactly means nothing", () => {
  const pieces = fc.constantFrom(
    "approve",
    "reject",
    "K7QF",
    "k7qf",
    "because",
    "same input",
    " ",
    "  ",
    "\n",
    "x",
    "always",
    "?",
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
      const text = parts.join("")
      const reply = readReply(text)
      const isYes = /^\s*approve K7QF( same input)?\s*$/.test(text)
      const meaning =
        reply?.code === "K7QF"
          ? interpretReply(reply, samplePendingItem({ remember: remember.slice(0, 1) }))
          : undefined
      const says = typeof meaning === "object" && "kind" in meaning ? meaning.kind : undefined
      expect(says === "approve").toBe(isYes)
    }),
    { numRuns: 2000 },
  )
})

test("approved in a chat or by a function, the call is the same", async () => {
  const chat = fakeChat()
  const adapters = [chat.adapter, callbackAdapter({ onExecution: () => true, onResult: () => true })]
  const calls = adapters.map(async (approvals) => {
    const app = await openTestApp({}, { approvals })
    app.registry.register(
      tool({ permission: { level: "sensitive", requireResultApproval: "always" }, execute: () => "done" }),
    )
    return app.call({ agentId: "operator", tool: "probe", input: {} })
  })
  void chat.say(`approve ${await chat.code(0)}`)
  void chat.say(`release ${await chat.code(1)}`)
  for (const ended of await Promise.all(calls)) expect(ended).toMatchObject({ status: "success", result: "done" })
})
