import { afterAll, beforeAll, expect, test } from "vitest"
import { startModelServer, type ModelServer, type Reply } from "../testing/model-server.ts"
import { modelOf, noWait, question } from "../testing/use-models.ts"
import type { ModelSettings } from "./open-models.ts"
import type { ModelPart } from "./port.ts"
import { runTurn } from "./run-turn.ts"

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const model = (settings: ModelSettings = {}) =>
  modelOf({ provider: "openai-compatible", baseUrl: server.openai, apiKey: "${KEY}", ...settings })

async function ask(...replies: Reply[]) {
  server.requests.length = 0
  server.reply(...replies)
  return runTurn(model(), question, { wait: noWait })
}

const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const started = (call: unknown) => chunk({ tool_calls: [call] })
const readA = { path: "a.txt" }
const done = chunk({}, "tool_calls")

test("text, reasoning and usage are streamed and counted", async () => {
  server.requests.length = 0
  server.reply({
    reasoning: "Hm, let me see.",
    text: "It is empty.",
    usage: { input: 100, output: 20, cached: 40 },
    pieces: 3,
  })
  const parts: ModelPart[] = []
  const priced = model({ price: { input: 3, output: 15, cachedInput: 0.3 } })
  const turn = await runTurn(priced, question, { onPart: (part) => void parts.push(part) })
  expect(turn).toMatchObject({
    text: "It is empty.",
    reasoning: "Hm, let me see.",
    calls: [],
    finishReason: "stop",
    usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 40 },
    retries: 0,
  })
  expect(turn.cost).toBeCloseTo((60 * 3 + 40 * 0.3 + 20 * 15) / 1e6, 12)
  expect(parts.filter(({ type }) => type === "text").length).toBeGreaterThan(3)
  expect(server.requests[0]).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer sk-secret-1234" },
    body: { model: "test", stream: true, tools: [{ function: { name: "read_file" } }] },
  })
})

test.each<[string, Reply, unknown[]]>([
  [
    "fragments of any size",
    { calls: [{ id: "c", name: "read_file", arguments: readA }], pieces: 2 },
    [{ id: "c", input: readA }],
  ],
  [
    "two calls at once",
    { calls: [1, 2].map((n) => ({ id: `c${n}`, name: "read_file", arguments: { path: `${n}` } })) },
    [
      { id: "c1", input: { path: "1" } },
      { id: "c2", input: { path: "2" } },
    ],
  ],
  [
    "no id",
    { calls: [{ name: "read_file", arguments: readA }] },
    [{ id: expect.stringMatching(/./) as string, input: readA }],
  ],
  [
    "index 0 twice",
    {
      raw: [
        started({ index: 0, id: "c1", function: { name: "read_file", arguments: '{"path":"1"}' } }),
        started({ index: 0, id: "c2", function: { name: "read_file", arguments: '{"path":"2"}' } }),
        done,
      ],
    },
    [{ input: { path: "1" } }, { input: { path: "2" } }],
  ],
  [
    "no index",
    { raw: [started({ id: "c1", function: { name: "read_file", arguments: '{"path":"a.txt"}' } }), done] },
    [{ id: "c1", input: readA }],
  ],
  [
    "a call and the finish reason stop",
    { calls: [{ id: "c", name: "read_file", arguments: readA }], finish: "stop" },
    [{ input: readA }],
  ],
  ["empty arguments", { calls: [{ id: "c", name: "read_file", arguments: "" }] }, [{ input: {} }]],
  [
    "arguments cut by length",
    { calls: [{ id: "c", name: "read_file", arguments: '{"path": "a.' }], finish: "length" },
    [{ malformed: { text: '{"path": "a.' } }],
  ],
])("a stream with %s gives the right calls", async (_, reply, calls) => {
  const turn = await ask(reply)
  expect(turn.calls).toMatchObject(calls)
  expect(turn.calls).toHaveLength(calls.length)
  expect(turn.retries).toBe(0)
})

test("the same id in two calls, or in two turns, is replaced in the later one", async () => {
  const calls = [1, 2].map(() => ({ id: "call_0", name: "read_file", arguments: readA }))
  const first = await runTurn(model({ streamTools: false }), question, (server.reply({ calls }), {}))
  const ids = first.calls.map(({ id }) => id)
  expect(new Set(ids).size).toBe(2)
  const messages = [...question.messages, { role: "assistant" as const, content: first.content }]
  server.reply({ calls: [calls[0]!] })
  const second = await runTurn(model({ streamTools: false }), { ...question, messages })
  expect(ids).not.toContain(second.calls[0]?.id)
})

test.each<[string, Reply]>([
  [
    "arguments as an object",
    { raw: [started({ index: 0, id: "c", function: { name: "read_file", arguments: readA } }), done] },
  ],
  ["calls announced and none", { text: "I look.", finish: "tool_calls" }],
])("after a stream with %s the request is made once more without streaming", async (_, reply) => {
  const turn = await ask(reply, { calls: [{ id: "c", name: "read_file", arguments: readA }] })
  expect(turn).toMatchObject({ calls: [{ input: readA }], retries: 1 })
  expect(server.requests.map(({ body }) => body["stream"])).toEqual([true, undefined])
})

test("calls that are announced twice and never come end the turn", async () => {
  const reply = { text: "I look.", finish: "tool_calls" }
  await expect(ask(reply, reply)).rejects.toMatchObject({ code: "bad_answer" })
  expect(server.requests).toHaveLength(2)
})

test("streamTools: false asks without streaming where there are tools, and streams where there are none", async () => {
  server.requests.length = 0
  const patient = model({ streamTools: false })
  server.reply({ calls: [{ id: "c", name: "read_file", arguments: readA }] }, { text: "Hello." })
  expect((await runTurn(patient, question)).calls).toMatchObject([{ input: readA }])
  expect((await runTurn(patient, { messages: question.messages })).text).toBe("Hello.")
  expect(server.requests.map(({ body }) => body["stream"])).toEqual([undefined, true])
})

test("a call written as text is marked, so that it can be answered with a hint", async () => {
  expect(await ask({ text: '<tool_call>{"name":"read_file"}</tool_call>' })).toMatchObject({
    calls: [],
    describedCall: true,
  })
})

test.each([null, { input: 0, output: 0 }])(
  "a server that reports the usage %j is counted by the length of the texts",
  async (usage) => {
    expect((await ask({ text: "Hello there.", usage })).usage).toMatchObject({
      estimated: true,
      outputTokens: expect.any(Number) as number,
    })
  },
)

test("calls, results and reasoning go back in the next request", async () => {
  const { content, calls } = await ask({
    reasoning: "Hm.",
    text: "I look.",
    calls: [{ id: "c", name: "read_file", arguments: readA }],
  })
  server.requests.length = 0
  server.reply({ text: "Done." })
  const results = calls.map(({ id, name }) => ({
    type: "tool-result" as const,
    id,
    name,
    output: "It is not there.",
    isError: true,
  }))
  await runTurn(model(), {
    ...question,
    messages: [...question.messages, { role: "assistant", content }, { role: "tool", content: results }],
    maxOutputTokens: 50,
    toolChoice: "none",
  })
  expect(server.requests[0]?.body).toMatchObject({
    max_tokens: 50,
    tool_choice: "none",
    messages: [
      { role: "system", content: "You help." },
      { role: "user", content: "What is in a.txt?" },
      {
        role: "assistant",
        content: "I look.",
        reasoning_content: "Hm.",
        tool_calls: [{ id: "c", function: { name: "read_file", arguments: '{"path":"a.txt"}' } }],
      },
      { role: "tool", tool_call_id: "c", content: "It is not there." },
    ],
  })
})
