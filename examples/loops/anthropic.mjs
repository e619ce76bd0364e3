// The Anthropic SDK: messages in a loop of your own.
import Anthropic from "@anthropic-ai/sdk"
import { governedTools, runToolCalls } from "quartermaster/anthropic"
import { app, finish, question, server } from "./story.mjs"

const client = new Anthropic({ baseURL: server.anthropic, apiKey: "none" })
const tools = governedTools(app, "clara")
const messages = [{ role: "user", content: question }]

let pieces
do {
  pieces = []
  const stream = client.messages.stream({ model: "test", max_tokens: 1000, messages, tools })
  stream.on("text", (piece) => pieces.push(piece))
  const message = await stream.finalMessage()
  messages.push({ role: "assistant", content: message.content })
  messages.push(...(await runToolCalls(app, "clara", message, { sessionId: "chat-1" })))
} while (messages.at(-1).role === "user")
await finish(pieces)
