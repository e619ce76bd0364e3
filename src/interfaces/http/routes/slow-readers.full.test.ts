import { request, type IncomingMessage } from "node:http"
import { expect, onTestFinished, test } from "vitest"
import type { LanguageModel } from "../../../agents/models/port.ts"
import { deferred, until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"
import type { AnswerPieceJson } from "./chain-schemas.ts"

/** Opens the event stream. Nothing is read while `response` is paused. */
async function open(port: number, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path: "/v1/events", headers }, resolve)
    outgoing.on("error", reject).end()
    onTestFinished(() => void outgoing.destroy())
  })
  response.on("error", () => {})
  let rest = ""
  let text = ""
  const pieces: AnswerPieceJson[] = []
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const blocks = (rest + chunk).split("\n\n")
    rest = blocks.pop()!
    for (const block of blocks) {
      if (!block.startsWith("event: answer")) continue
      const piece = JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as AnswerPieceJson
      expect(piece.offset).toBeLessThanOrEqual(text.length)
      pieces.push(piece)
      text = text.slice(0, piece.offset) + piece.text
    }
  })
  return { response, pieces, text: () => text }
}

test("a reader that stands still holds up nobody, and is given what it missed in few long pieces", async () => {
  const long = 2_000_000
  const end = deferred()
  const model: LanguageModel = {
    name: "played",
    provider: "played",
    modelId: "played",
    async *stream() {
      for (let written = 0; written < long; written += 200) {
        yield { type: "text", block: "1", text: "0123456789".repeat(20) }
        if (written % 20_000 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await end.promise
      yield { type: "finish", reason: "stop" }
    },
  }
  const org = { people: [{ id: "ada", scopes: ["read", "call"] }] }
  const { app, served } = await serveAppForTest({ org } as never, {}, { models: { played: model } })
  const headers = await sessionHeaders(app, "ada")
  const [quick, slow] = [await open(served.port, headers), await open(served.port, headers)]
  slow.response.pause()
  const running = app.chain("operator", { durable: true, userId: "ada" }).run("Write.")
  await until(() => quick.text().length === long, "the quick reader has all of it")
  expect(slow.text().length).toBeLessThan(long)
  slow.response.resume()
  await until(() => slow.text().length === long, "the slow reader has all of it")
  expect(slow.text()).toBe(quick.text())
  expect(slow.pieces.length).toBeLessThan(long / 200 / 10)
  expect(Math.max(...slow.pieces.map(({ text }) => text.length))).toBeLessThanOrEqual(16_000)
  end.resolve()
  expect((await running).content).toHaveLength(long)
})
