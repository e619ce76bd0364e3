// AI SDK 7: streamText with governed tools.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { stepCountIs, streamText } from "ai"
import { governedTools } from "quartermaster/ai-sdk"
import { app, finish, question, server } from "./story.mjs"

const { steps, fullStream } = streamText({
  model: createOpenAICompatible({ name: "local", baseURL: server.openai })("test"),
  tools: governedTools(app, "clara", { sessionId: "chat-1" }),
  stopWhen: stepCountIs(10),
  prompt: question,
})

let pieces = []
for await (const part of fullStream) {
  if (part.type === "start-step") pieces = []
  if (part.type === "text-delta") pieces.push(part.text)
  if (part.type === "tool-result") console.log(part.toolName, part.output)
  if (part.type === "tool-error" || part.type === "error") throw part.error
}
console.log(`${(await steps).length} steps`)
await finish(pieces)
