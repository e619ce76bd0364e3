import { expect, onTestFinished, test } from "vitest"
import { startModelServer, type Reply } from "../testing/model-server.ts"
import { modelOf, question } from "../testing/use-models.ts"
import { runTurn } from "./run-turn.ts"

test.each<[string, Reply, RegExp]>([
  ["of text", { raw: [{ choices: [{ delta: { content: "x".repeat(100_000) } }] }], flood: 100e6 }, /more than 8 MB/],
  ["in one line", { raw: [`data: ${"x".repeat(1_000_000)}`], flood: 100e6 }, /more than 64 MB/],
  ["of comments", { raw: [`: ${"x".repeat(1_000_000)}\n\n`], flood: 100e6 }, /more than 64 MB/],
])("a model that streams 100 MB %s is stopped and its connection closed", async (_, reply, sentence) => {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  server.reply(reply)
  await expect(
    runTurn(modelOf({ provider: "openai-compatible", baseUrl: server.openai }), question),
  ).rejects.toMatchObject({ code: "too_large", message: expect.stringMatching(sentence) as string })
  await server.requests[0]!.closed
})
