import { afterAll, beforeAll, expect, test } from "vitest"
import { startModelServer, type ModelServer } from "../testing/model-server.ts"
import { modelOf, noWait, question } from "../testing/use-models.ts"
import { runTurn } from "./run-turn.ts"

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const model = (streamTools = true) =>
  modelOf({ provider: "google", model: "gemini-3-pro", baseUrl: server.google, apiKey: "${KEY}", streamTools })

test.each([true, false])(
  "calls without ids are read, and their signatures go back, streaming: %s",
  async (streaming) => {
    server.requests.length = 0
    const calls = ["1", "2"].map((path) => ({ name: "read_file", arguments: { path } }))
    server.reply(
      { reasoning: "Hm.", text: "I look.", calls, usage: { input: 30, output: 7, cached: 20 } },
      { text: "Done." },
    )
    const { content, ...turn } = await runTurn(model(streaming), question)
    expect(turn).toMatchObject({
      text: "I look.",
      reasoning: "Hm.",
      calls: [{ input: { path: "1" } }, { input: { path: "2" } }],
      usage: { inputTokens: 30, outputTokens: 7, cachedTokens: 20 },
    })
    expect(turn.calls[0]?.id).not.toBe(turn.calls[1]?.id)
    const results = turn.calls.map(({ id, name }) => ({ type: "tool-result" as const, id, name, output: "no" }))
    const messages = [
      ...question.messages,
      { role: "assistant" as const, content },
      { role: "tool" as const, content: results },
    ]
    await runTurn(model(streaming), { ...question, messages })
    expect(server.requests[1]).toMatchObject({
      headers: { "x-goog-api-key": "sk-secret-1234" },
      body: {
        contents: [
          { role: "user" },
          {
            role: "model",
            parts: [
              {},
              { text: "I look." },
              { functionCall: { name: "read_file" }, thoughtSignature: "c2lnbmVk" },
              { functionCall: {} },
            ],
          },
          { parts: [{ functionResponse: { name: "read_file" } }, { functionResponse: {} }] },
        ],
      },
    })
  },
)

test("a wrong key is told", async () => {
  server.reply({
    status: 403,
    body: { error: { code: 403, message: "API key not valid.", status: "PERMISSION_DENIED" } },
  })
  await expect(runTurn(model(), question)).rejects.toMatchObject({ code: "wrong_key" })
})

const twoCalls = { text: "I look.", calls: ["1", "2"].map((path) => ({ name: "read_file", arguments: { path } })) }

test.each([0, 1, 2])(
  "a stream that ends early, after %i of 3 chunks, is made again and its calls do not count",
  async (after) => {
    server.reply({ ...twoCalls, after }, { text: "Done." })
    expect(await runTurn(model(), question, { wait: noWait })).toMatchObject({ text: "Done.", calls: [], retries: 1 })
    server.reply({ ...twoCalls, after })
    await expect(runTurn(model(), question, { retries: 0 })).rejects.toMatchObject({ code: "cut_stream" })
  },
)

const malformed = { text: "I call.", finish: "MALFORMED_FUNCTION_CALL" }

test.each([true, false])(
  "a call that Google could not read is asked for once more, streaming: %s",
  async (streaming) => {
    server.reply(malformed, { text: "Done." })
    const turn = runTurn(model(streaming), question, { wait: noWait })
    expect(await turn).toMatchObject({ text: "Done.", retries: 1 })
    server.requests.length = 0
    server.reply(malformed, malformed)
    await expect(runTurn(model(streaming), question, { wait: noWait })).rejects.toMatchObject({
      code: "malformed_call",
      message: expect.stringContaining("could not read") as string,
    })
    expect(server.requests).toHaveLength(2)
  },
)
