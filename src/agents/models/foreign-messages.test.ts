import { afterAll, beforeAll, expect, test } from "vitest"
import { startModelServer, type ModelServer } from "../testing/model-server.ts"
import { modelOf, question } from "../testing/use-models.ts"
import type { ModelMessage } from "./port.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { runTurn } from "./run-turn.ts"

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const calls = [
  { id: "functions.look:0", name: "multi_tool_use.parallel" },
  { id: "functions_look_0", name: "" },
  { id: "functions:look.0", name: "look ".repeat(30) },
]
const history: ModelMessage[] = [
  ...question.messages,
  { role: "assistant", content: calls.map((call) => ({ type: "tool-call", ...call, input: {} })) },
  { role: "tool", content: calls.map((call) => ({ type: "tool-result", ...call, output: "There is no such tool." })) },
]

async function sentTo(provider: "openai-compatible" | "anthropic" | "google"): Promise<string> {
  const baseUrl = server[provider === "openai-compatible" ? "openai" : provider]
  server.requests.length = 0
  server.reply({ text: "Done." })
  await runTurn(modelOf({ provider, baseUrl, apiKey: "${KEY}" }), { messages: history })
  return JSON.stringify(server.requests[0]!.body)
}

const allOf = (body: string, pattern: RegExp) => [...body.matchAll(pattern)].map(([, found = ""]) => found)
const names = ["multi_tool_use_parallel", "_", "look_".repeat(30).slice(0, 64)]

test("names that models invented go back to OpenAI's servers in characters that are allowed, with the ids as they came", async () => {
  const body = await sentTo("openai-compatible")
  expect(allOf(body, /"function":\{"name":"([^"]*)"/g)).toEqual(names)
  expect(allOf(body, /"tool_call_id":"([^"]*)"/g)).toEqual(calls.map(({ id }) => id))
})

test("ids of other providers go to Anthropic in characters that are allowed, and stay different", async () => {
  const body = await sentTo("anthropic")
  expect(allOf(body, /"name":"([^"]*)"/g)).toEqual(names)
  const ids = allOf(body, /"tool_use","id":"([^"]*)"/g)
  expect(ids).toEqual([expect.stringMatching(/^[\w-]+$/), "functions_look_0", expect.stringMatching(/^[\w-]+$/)])
  expect(new Set(ids).size).toBe(3)
  expect(allOf(body, /"tool_use_id":"([^"]*)"/g)).toEqual(ids)
})

test.each(["functionCall", "functionResponse"])("the names of Google's %s are the same", async (part) => {
  const body = await sentTo("google")
  expect(allOf(body, new RegExp(`"${part}":\\{(?:"id":"[^"]*",)?"name":"([^"]*)"`, "g"))).toEqual(names)
})

test.each([
  ["a thought without an answer", { reasoning: "Hm.", finish: "length" }],
  ["an answer of spaces", { text: " \n", reasoning: "Hm." }],
])("%s goes to Anthropic as a message with a text", async (_, reply) => {
  const app = await openTestApp()
  const other = modelOf({ provider: "openai-compatible", baseUrl: server.openai })
  const claude = modelOf({ provider: "anthropic", baseUrl: server.anthropic, apiKey: "${KEY}" })
  server.requests.length = 0
  server.reply(reply, { text: "Done." })
  const { id } = app.chain("operator", { model: other, durable: true })
  await app.chain("operator", { id, model: other }).run("Hello?")
  await app.chain("operator", { id, model: claude }).run("And now?")
  expect(server.requests[1]?.body).toMatchObject({
    messages: [{}, { role: "assistant", content: [{ type: "text", text: "(no answer)" }] }, {}],
  })
})
