// The Anthropic SDK: its own loop, toolRunner, with governed tools.
import assert from "node:assert/strict"
import Anthropic from "@anthropic-ai/sdk"
import { runnableTools } from "quartermaster/anthropic"
import { app, finish, question, server } from "./story.mjs"

const client = new Anthropic({ baseURL: server.anthropic, apiKey: "none" })
const runner = client.beta.messages.toolRunner({
  model: "test",
  max_tokens: 1000,
  messages: [{ role: "user", content: question }],
  tools: runnableTools(app, "clara", { sessionId: "chat-1" }),
  stream: true,
  // The server of this example holds no conversations: every request has all messages.
  thread: false,
})

let pieces
for await (const stream of runner) {
  pieces = []
  stream.on("text", (piece) => pieces.push(piece))
  await stream.finalMessage()
}

// The model is told which calls were refused.
const results = server.requests.at(-1).body.messages.flatMap(({ content }) => content)
const errors = results.filter(({ is_error }) => is_error === true)
assert.deepEqual(
  errors.map(({ tool_use_id }) => tool_use_id),
  ["call_3"],
)
await finish(pieces)
