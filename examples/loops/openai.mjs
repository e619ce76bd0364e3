// The OpenAI SDK: chat completions in a loop of your own.
import OpenAI from "openai"
import { governedTools, runToolCalls } from "quartermaster/openai"
import { app, finish, question, server } from "./story.mjs"

const client = new OpenAI({ baseURL: server.openai, apiKey: "none" })
const tools = governedTools(app, "clara")
const messages = [{ role: "user", content: question }]

let pieces
do {
  pieces = []
  const stream = client.chat.completions.stream({ model: "test", messages, tools })
  stream.on("content", (piece) => pieces.push(piece))
  const message = await stream.finalMessage()
  messages.push(message, ...(await runToolCalls(app, "clara", message, { sessionId: "chat-1" })))
} while (messages.at(-1).role === "tool")
await finish(pieces)
