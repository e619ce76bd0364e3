import { afterAll, beforeAll, expect, test } from "vitest"
import { thoughtSignature } from "../testing/anthropic-wire.ts"
import { startModelServer, type ModelServer } from "../testing/model-server.ts"
import { modelOf, noWait, question } from "../testing/use-models.ts"
import type { ModelSettings } from "./open-models.ts"
import { runTurn } from "./run-turn.ts"

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const model = (settings: ModelSettings = {}) =>
  modelOf({
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    baseUrl: server.anthropic,
    apiKey: "${KEY}",
    ...settings,
  })

const twoCalls = [1, 2].map((n) => ({ id: `toolu_${n}`, name: "read_file", arguments: { path: `${n}.txt` } }))

test.each([true, false])("text, thoughts and parallel calls are read, streaming: %s", async (streamTools) => {
  server.requests.length = 0
  server.reply({
    reasoning: "Hm.",
    text: "I look.",
    calls: twoCalls,
    pieces: 3,
    usage: { input: 30, output: 7, cached: 20 },
  })
  const turn = await runTurn(model({ streamTools }), question)
  expect(turn).toMatchObject({
    text: "I look.",
    reasoning: "Hm.",
    calls: [
      { id: "toolu_1", input: { path: "1.txt" } },
      { id: "toolu_2", input: { path: "2.txt" } },
    ],
    finishReason: "tool-calls",
    usage: { inputTokens: 30, outputTokens: 7, cachedTokens: 20 },
  })
  expect(server.requests[0]).toMatchObject({ path: "/anthropic/messages", headers: { "x-api-key": "sk-secret-1234" } })
})

test.each([true, false])("tokens written into the cache have their own price, streaming: %s", async (streamTools) => {
  server.reply({ text: "Hi.", usage: { input: 1000, output: 10, cached: 300, written: 500 } })
  const price = { input: 4, output: 20, cachedInput: 0.4, cacheWrite: 5 }
  expect(await runTurn(model({ streamTools, price }), question)).toMatchObject({
    usage: { inputTokens: 1000, outputTokens: 10, cachedTokens: 300, cacheWriteTokens: 500 },
    cost: (200 * 4 + 300 * 0.4 + 500 * 5 + 10 * 20) / 1_000_000,
  })
})

test("thoughts go back with their signatures, results as one message, and what repeats is marked for the cache", async () => {
  server.reply({ reasoning: "Hm.", calls: twoCalls })
  const { content, calls } = await runTurn(model(), question)
  const results = calls.map(({ id, name }, index) => ({
    type: "tool-result" as const,
    id,
    name,
    output: "no",
    isError: index === 0,
  }))
  server.requests.length = 0
  server.reply({ text: "Done." })
  await runTurn(model(), {
    ...question,
    messages: [...question.messages, { role: "assistant", content }, { role: "tool", content: results }],
  })
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ text: "You help.", cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: thoughtSignature },
          { type: "tool_use", id: "toolu_1" },
          { id: "toolu_2" },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", is_error: true },
          { type: "tool_result", tool_use_id: "toolu_2", cache_control: { type: "ephemeral" } },
        ],
      },
    ],
  })
})

test.each([
  [
    "a cut answer",
    { text: "I", calls: [{ id: "t", name: "read_file", arguments: '{"path": "a' }], finish: "max_tokens" },
    { calls: [{ malformed: {} }] },
  ],
  ["no arguments", { calls: [{ id: "t", name: "read_file", arguments: "" }] }, { calls: [{ input: {} }] }],
])("%s is read by the same rules", async (_, reply, turn) => {
  server.reply(reply)
  expect(await runTurn(model(), question)).toMatchObject(turn)
})

test("an overloaded server and a cut stream are tried again; a wrong key is told", async () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
  server.reply(
    { raw: [overloaded] },
    { status: 529, body: overloaded },
    { text: "Hello there.", after: 3, then: "cut" },
    { text: "Hi." },
  )
  expect(await runTurn(model(), question, { wait: noWait })).toMatchObject({ text: "Hi.", retries: 3 })
  server.reply({
    status: 401,
    body: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
  })
  await expect(runTurn(model(), question)).rejects.toMatchObject({ code: "wrong_key" })
})
