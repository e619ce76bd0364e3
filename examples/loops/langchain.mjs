// LangChain: createAgent with governed tools.
import assert from "node:assert/strict"
import { ChatOpenAI } from "@langchain/openai"
import { createAgent, tool, ToolMessage } from "langchain"
import { governedTools } from "quartermaster/langchain"
import { app, finish, question, server } from "./story.mjs"

const agent = createAgent({
  model: new ChatOpenAI({ model: "test", apiKey: "none", configuration: { baseURL: server.openai } }),
  tools: governedTools(app, "clara", { tool, ToolMessage, sessionId: "chat-1" }),
})

let pieces = []
const stream = await agent.stream({ messages: [{ role: "user", content: question }] }, { streamMode: "messages" })
for await (const [message] of stream) {
  if (message.type === "tool") {
    console.log(message.name, message.status, message.content)
    assert.equal(message.status === "error", message.content.startsWith("NOT EXECUTED"))
    pieces = []
  } else if (message.text !== "") pieces.push(message.text)
}
await finish(pieces)
