// The OpenAI Agents SDK: an agent with governed tools.
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled } from "@openai/agents"
import OpenAI from "openai"
import { governedTools } from "quartermaster/openai-agents"
import { app, finish, question, server } from "./story.mjs"

setTracingDisabled(true)
const client = new OpenAI({ baseURL: server.openai, apiKey: "none" })
const agent = new Agent({
  name: "Clara",
  instructions: "You work in an office.",
  model: new OpenAIChatCompletionsModel(client, "test"),
  tools: governedTools(app, "clara", { sessionId: "chat-1" }),
})

const result = await run(agent, question, { stream: true })
let pieces = []
for await (const event of result) {
  if (event.type === "run_item_stream_event" && event.name === "tool_output") {
    console.log(event.item.output)
    pieces = []
  }
  if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") pieces.push(event.data.delta)
}
await result.completed
await finish(pieces)
